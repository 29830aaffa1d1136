#include <dkmap/kpca.h>
#include <dkmap/store.h>

#include "commands.h"
#include "components.h"
#include "rows.h"
#include "run.h"

static void tell(run *r, const dkm_kernel *kernel, const dkm_kpca_info *info)
{
    run_tell_int(r, "m", info->m);
    run_tell_text(r, "kernel", dkm_kernel_text(kernel));
    run_tell_grid(r, info->P, info->Q);
    run_tell_int(r, "block", info->block);
    components_tell(r, &info->eigen);
    run_tell_seconds(r);
    run_tell_text(r, "model", args_text(r->args, "output"));
}

static dkm_status read_inputs(run *r, dkm_data **X)
{
    dkm_status status;

    dkm_phase_begin(r->ctx, "read");
    status =
        dkm_data_read(r->ctx, args_text(r->args, "x"), DKM_INPUTS, args_text(r->args, "x-type"), X);
    dkm_phase_end(r->ctx);
    return status;
}

static dkm_status fit_kpca(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_kpca_settings settings = dkm_kpca_settings_default();
    dkm_kpca_info info;
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL;
    dkm_model *model = NULL;

    settings.layout = run_layout(r);
    DKM_TRY(components_settings(r, &settings.eigen));
    DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "kx"), &kernel));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(read_inputs(r, &X));
    DKM_TRY(run_blame(r, args_text(r->args, "x"),
                      dkm_kpca_fit(r->ctx, &X, kernel, &settings, &model, &info)));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    tell(r, kernel, &info);
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static const option options[] = {ROW_X("training objects"),
                                 ROW_KX,
                                 ROW_COMPONENTS,
                                 ROW_EIGENSOLVER,
                                 ROW_X_TYPE,
                                 ROW_OUTPUT("model file to write, .h5"),
                                 {0}};

const command command_fit_kpca = {
    .name = "fit kpca",
    .summary = "kernel principal components: directions of largest variance in feature space",
    .about = "Centres the kernel matrix of the training objects and finds its leading eigenpairs. "
             "`dkmap encode` then gives the coordinates of any objects along them.",
    .example = "mpirun -np 4 dkmap fit kpca --x x.npy --kx 'rbf(sigma=2)' --components 64 \\\n"
               "      -o components.h5",
    .tables = {options, compute_options, report_options},
    .run = fit_kpca,
};
