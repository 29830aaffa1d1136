#include <dkmap/store.h>
#include <dkmap/update.h>

#include "cli/commands/commands.h"
#include "cli/options/common_options.h"
#include "cli/options/method_options.h"
#include "cli/options/xy_reader.h"

/* The examples, read as new ones of the model are. */
static dkm_status append_read(run *r, const dkm_model *model, dkm_data **X, dkm_data **Y)
{
    const char *y = args_text(r->args, "y"), *type = args_text(r->args, "y-type");
    dkm_status status = DKM_OK;

    dkm_phase_begin(r->ctx, "read");
    status =
        dkm_data_read(r->ctx, args_text(r->args, "x"), DKM_INPUTS, args_text(r->args, "x-type"), X);
    if (status == DKM_OK)
        status = dkm_data_read(r->ctx, y, DKM_OUTPUTS,
                               type ? type : xy_companion_type(y, dkm_model_output_type(model)), Y);
    dkm_phase_end(r->ctx);
    return status;
}

static dkm_status cmd_append(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    dkm_report *report = NULL;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Y = NULL, *W = NULL;

    DKM_TRY(run_check_model_path(r));
    DKM_TRY(dkm_model_load(r->ctx, r->args->positionals[0], &layout, &model));
    DKM_TRY(method_store_factor(r, model));
    DKM_TRY(run_follow_model(r, model));
    dkm_table_use(r->ctx, dkm_model_table(model));
    DKM_TRY(append_read(r, model, &X, &Y));
    DKM_TRY(method_read_weights(r, dkm_data_rows(X), &W));
    DKM_TRY(run_error_context(r, r->args->positionals[0],
                              dkm_model_append_weighted(model, X, Y, W, &report)));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    method_report(r, report);
    report_seconds(r);
    report_text(r, "model", path);
out:
    dkm_table_use(r->ctx, NULL);
    dkm_report_destroy(&report);
    dkm_data_destroy(&W);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
    return status;
}

static const option options[] = {ROW_X("more inputs, of the kind the model was trained on"),
                                 ROW_Y("their outputs"),
                                 ROW_X_TYPE,
                                 ROW_Y_TYPE,
                                 ROW_LABELS,
                                 {.name = "weights",
                                  .kind = OPT_TEXT,
                                  .metavar = "FILE",
                                  .help = "a number > 0 per new example; 1 when not given"},
                                 ROW_KERNEL_DIR,
                                 ROW_FACTOR,
                                 ROW_OUTPUT("model file to write, .h5; may be MODEL itself"),
                                 {0}};

const command command_append = {
    .name = "append",
    .summary = "add examples to a krr model that keeps its factor",
    .about =
        "Extends the Cholesky factor by blocks instead of fitting anew: the model becomes what "
        "a fit with its kernel and gamma to all examples would be, and the residual of the "
        "kernel matrix, computed anew, is reported. Inputs go through the table (--missing, "
        "--standardize) of the model as it is. What --holdout calibrated is dropped. The file "
        "that is written appears complete or not at all.",
    .example =
        "dkmap fit krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' --gamma 1e-3 --keep-factor -o m.h5\n"
        "  mpirun -np 4 dkmap append m.h5 --x more_x.npy --y more_y.npy -o m2.h5",
    .positionals = "MODEL",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_append,
};
