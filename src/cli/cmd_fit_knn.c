#include <dkmap/knn.h>
#include <dkmap/store.h>

#include "commands.h"
#include "pair.h"
#include "rows.h"
#include "run.h"

static const file_options inputs = {"x", "x-type", DKM_INPUTS};
static const file_options outputs = {"y", "y-type", DKM_OUTPUTS};

static dkm_status fit_knn(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_knn_settings settings = {.k = args_whole(r->args, "k"), .layout = run_layout(r)};
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;
    dkm_idx m;

    DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "kx"), &kernel));
    DKM_TRY(dkm_path_check(r->ctx, path));
    DKM_TRY(pair_read(r, inputs, outputs, &X, &Y));
    m = dkm_data_rows(X);
    DKM_TRY(dkm_knn_fit(r->ctx, &X, &Y, kernel, &settings, &model));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    run_tell_int(r, "m", m);
    run_tell_text(r, "kernel", dkm_kernel_text(kernel));
    run_tell_int(r, "k", settings.k);
    run_tell_seconds(r);
    run_tell_text(r, "model", path);
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static const option options[] = {ROW_X("training inputs, of any type"),
                                 ROW_Y("training outputs, of any type, as many"),
                                 ROW_KX,
                                 {.name = "k",
                                  .kind = OPT_WHOLE,
                                  .least = 1,
                                  .preset = "1",
                                  .hint = "N",
                                  .help = "neighbours: one hands over its output, several are "
                                          "averaged (dense) or vote (labels)"},
                                 ROW_X_TYPE,
                                 ROW_Y_TYPE,
                                 ROW_OUTPUT("model file to write, .h5"),
                                 {0}};

const command command_fit_knn = {
    .name = "fit knn",
    .summary = "nearest neighbours in the feature space of a kernel: the baseline",
    .example = "mpirun -np 4 dkmap fit knn --x x.npy --y y.npy --kx 'rbf(sigma=2)' --k 5 -o knn.h5",
    .tables = {options, compute_options, report_options},
    .run = fit_knn,
};
