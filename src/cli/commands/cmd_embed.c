#include <dkmap/lle.h>
#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"

static void cmd_embed_report(run *r, const dkm_lle_info *info)
{
    report_int(r, "m", info->m);
    report_grid(r, info->P, info->Q);
    report_int(r, "block", info->block);
    report_int(r, "components", info->components);
    report_real(r, "smallest", info->smallest);
    report_real(r, "largest", info->largest);
    report_real(r, "reconstruction_error", info->error);
    report_int(r, "rounds", info->rounds);
    report_real(r, "residual", info->residual);
    if (info->shift > 0)
        report_real(r, "shift", info->shift);
    report_int(r, "steps", info->steps);
    report_real(r, "unresolved", info->unresolved);
    report_seconds(r);
    report_text(r, "model", args_text(r->args, "output"));
}

/* The option @p name is a file to write, or not given. */
static dkm_status check_path(run *r, const char *name)
{
    return args_text(r->args, name) ? dkm_file_check_writable(r->ctx, args_text(r->args, name))
                                    : DKM_OK;
}

static dkm_status embed_lle(run *r)
{
    const args *a = r->args;
    dkm_status status = DKM_OK;
    dkm_lle_settings settings = dkm_lle_settings_default();
    dkm_lle_info info = {0};
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;

    settings.neighbors = args_int(a, "neighbors");
    settings.components = args_int(a, "components");
    settings.gram = args_text(a, "gram") != NULL;
    settings.layout = run_layout(r);
    DKM_TRY(run_positive(r, "ridge", &settings.ridge));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(check_path(r, "gram"));
    DKM_TRY(check_path(r, "embedding"));
    DKM_TRY(dkm_data_read(r->ctx, args_text(a, "x"), DKM_INPUTS, args_text(a, "x-type"), &X));
    DKM_TRY(run_error_context(r, args_text(a, "x"),
                              dkm_lle_fit(r->ctx, X, &settings, &model, &Y, &info)));
    if (settings.gram)
        DKM_TRY(dkm_data_write(info.gram, args_text(a, "gram")));
    if (args_text(a, "embedding"))
        DKM_TRY(dkm_data_write(Y, args_text(a, "embedding")));
    DKM_TRY(dkm_model_save(model, args_text(a, "output"), a->line));
    cmd_embed_report(r, &info);
out:
    dkm_data_destroy(&info.gram);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
    return status;
}

static const option options[] = {
    ROW_X("points: dense rows"),
    {.name = "neighbors",
     .aliases = "neighbours|",
     .kind = OPT_INT,
     .flags = OPT_REQUIRED,
     .min = 1,
     .metavar = "K",
     .help = "how many others each point is made of"},
    {.name = "components",
     .kind = OPT_INT,
     .flags = OPT_REQUIRED,
     .min = 1,
     .metavar = "P",
     .help = "how many coordinates"},
    {.name = "ridge",
     .kind = OPT_REAL,
     .metavar = "R",
     .default_text = "1e-3",
     .help = "> 0, added to the diagonal of a point's local matrix, a part of its trace"},
    {.name = "embedding",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "coordinates of the points themselves to write: .npy .csv .tsv .h5"},
    {.name = "gram",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "kernel matrix of the embedding to write: .npy .csv .tsv .h5"},
    ROW_X_TYPE,
    ROW_OUTPUT("model file to write, .h5"),
    {0}};

const command command_embed_lle = {
    .name = "embed lle",
    .summary = "locally linear embedding: keep how points are made of their neighbors",
    .about = "Finds for each point the weights that make it of its nearest others, and the few "
             "coordinates that those weights make best. `dkmap encode` places new points.",
    .example = "mpirun -np 4 dkmap embed lle --x roll.npy --neighbors 10 --components 2 -o lle.h5",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = embed_lle,
};

static const command *const methods[] = {&command_embed_lle, 0};

const command command_embed = {
    .name = "embed",
    .summary = "few coordinates of points that lie on a curved surface",
    .example = "mpirun -np 4 dkmap embed lle --x roll.npy --neighbors 10 --components 2 -o lle.h5",
    .methods = methods,
};
