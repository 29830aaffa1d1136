#include <dkmap/extend.h>
#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/options/batch_stream.h"
#include "cli/options/common_options.h"
#include "cli/options/gram_file.h"

static dkm_local cmd_extend_apply_check_inputs(run *r)
{
    if (!args_text(r->args, "features") == !args_text(r->args, "x"))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "give the new objects as --features (rows of features) or as --x (objects "
                        "that the map of the model takes), one of the two");
    return DKM_LOCAL_OK;
}

/* The option that names the new objects. */
static const char *cmd_extend_apply_given(const run *r)
{
    return args_text(r->args, "features") ? "features" : "x";
}

static dkm_status apply_among(run *r)
{
    const char *where = args_text(r->args, cmd_extend_apply_given(r));
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Z = NULL;

    DKM_TRY(dkm_file_check_writable(r->ctx, args_text(r->args, "output")));
    DKM_TRY(dkm_model_load(r->ctx, r->args->positionals[0], &layout, &model));
    DKM_TRY(run_follow_model(r, model));
    DKM_TRY(dkm_data_read(r->ctx, where, DKM_INPUTS, args_text(r->args, "x-type"), &X));
    DKM_TRY(run_error_context(r, where, dkm_extend_coordinates(model, X, &Z)));
    DKM_TRY(gram_file_write_products(r, Z));
out:
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
    return status;
}

static dkm_status extend_apply(run *r)
{
    dkm_status status = DKM_OK;
    streaming through = {.only = "extend",
                         .from = cmd_extend_apply_given(r),
                         .apply = dkm_model_predict,
                         .type = dkm_model_output_type,
                         .cols = dkm_model_output_cols};

    DKM_AGREE(r->ctx, cmd_extend_apply_check_inputs(r));
    DKM_TRY(args_flag(r->args, "among") ? apply_among(r) : stream_through_model(r, &through));
out:
    return status;
}

static const option options[] = {
    {.name = "features",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "features of new objects, one dense row each"},
    {.name = "x",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "new objects, where the model makes features of them itself"},
    ROW_X_TYPE,
    ROW_KERNEL_DIR,
    {.name = "among",
     .kind = OPT_FLAG,
     .help = "write the kernel values among the new objects, not those to the objects of the fit"},
    ROW_OUTPUT("kernel values to write, one row an object: .npy .csv .tsv .h5"),
    {0}};

const command command_extend_apply = {
    .name = "extend apply",
    .summary = "kernel values of new objects by a kernel that was extended",
    .about = "Writes k(new, object of the fit), which `--x-type gram` takes as new objects of a "
             "model fitted to the kernel matrix; with --among k(new, new).",
    .example = "mpirun -np 4 dkmap extend apply q.h5 --features phi_new.npy -o rows.npy",
    .positionals = "MODEL",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = extend_apply,
};
