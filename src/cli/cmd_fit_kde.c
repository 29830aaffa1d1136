#include <dkmap/kde.h>
#include <dkmap/store.h>

#include "commands.h"
#include "components.h"
#include "pair.h"
#include "ridge_options.h"
#include "rows.h"
#include "run.h"

static void tell(run *r, const dkm_kernel *kx, const dkm_kernel *ky, const dkm_kde_info *info)
{
    run_tell_int(r, "m", info->m);
    run_tell_text(r, "kernel", dkm_kernel_text(kx));
    run_tell_text(r, "output_kernel", dkm_kernel_text(ky));
    run_tell_grid(r, info->P, info->Q);
    run_tell_int(r, "block", info->block);
    run_tell_int(r, "components", info->eigen.components);
    run_tell_real(r, "explained", info->eigen.explained);
    run_tell_text(r, "eigensolver", info->eigen.solver);
    ridge_tell(r, &info->ridge);
    run_tell_seconds(r);
    run_tell_text(r, "model", args_text(r->args, "output"));
}

static const file_options inputs = {"x", "x-type", DKM_INPUTS};
static const file_options outputs = {"y", "y-type", DKM_OUTPUTS};

static dkm_status fit_kde(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_kde_settings settings = dkm_kde_settings_default();
    dkm_kde_info info;
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;

    settings.layout = run_layout(r);
    settings.ridge.precision = ridge_precision(r);
    DKM_TRY(run_positive(r, "gamma", &settings.ridge.gamma));
    DKM_TRY(components_settings(r, &settings.eigen));
    DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "kx"), &kx));
    DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "ky"), &ky));
    DKM_TRY(dkm_path_check(r->ctx, path));
    DKM_TRY(pair_read(r, inputs, outputs, &X, &Y));
    DKM_TRY(dkm_kde_fit(r->ctx, &X, &Y, kx, ky, &settings, &model, &info));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    tell(r, kx, ky, &info);
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

static const option options[] = {ROW_X("training inputs, of any type"),
                                 ROW_Y("training outputs, of any type, as many"),
                                 ROW_KX,
                                 {.name = "ky",
                                  .kind = OPT_TEXT,
                                  .flags = OPT_REQUIRED,
                                  .hint = "KERNEL",
                                  .help = "kernel of the outputs: it says which of them are alike"},
                                 ROW_COMPONENTS,
                                 ROW_EIGENSOLVER,
                                 ROW_GAMMA,
                                 ROW_PRECISION,
                                 ROW_X_TYPE,
                                 ROW_Y_TYPE,
                                 ROW_OUTPUT("model file to write, .h5"),
                                 {0}};

const command command_fit_kde = {
    .name = "fit kde",
    .summary = "kernel dependency estimation: from any objects to any objects",
    .about =
        "Finds the leading directions of the outputs in the feature space of their kernel, and "
        "learns the coordinates along them from the inputs by ridge regression. `dkmap predict` "
        "turns predicted coordinates into objects.",
    .example = "mpirun -np 4 dkmap fit kde --x words.txt --y sounds.txt --components 64 \\\n"
               "      --kx 'normalize(ssk(r=3, lambda=0.5))' --ky 'normalize(spectrum(p=2))' \\\n"
               "      --gamma 1e-3 -o model.h5",
    .tables = {options, compute_options, report_options},
    .run = fit_kde,
};
