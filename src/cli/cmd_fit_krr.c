#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/krr.h>
#include <dkmap/store.h>

#include "commands.h"
#include "pair.h"
#include "rows.h"
#include "run.h"

static void tell_ridge(run *r, const dkm_ridge_info *ridge)
{
    run_tell_text(r, "precision", ridge->precision);
    run_tell_real(r, "residual", ridge->residual);
    run_tell_real(r, "condition", ridge->condition);
    if (ridge->steps > 0)
        run_tell_int(r, "refinement_steps", ridge->steps);
    if (ridge->shift > 0)
        run_tell_real(r, "shift", ridge->shift);
    if (ridge->jitter_steps > 0) {
        run_tell_real(r, "jitter", ridge->jitter);
        run_tell_int(r, "jitter_steps", ridge->jitter_steps);
    }
}

static dkm_ridge_precision precision_of(const char *word)
{
    return strcmp(word, "double") == 0   ? DKM_RIDGE_DOUBLE
           : strcmp(word, "mixed") == 0  ? DKM_RIDGE_MIXED
           : strcmp(word, "single") == 0 ? DKM_RIDGE_SINGLE
                                         : DKM_RIDGE_AUTO;
}

static void tell(run *r, const dkm_kernel *kernel, const dkm_krr_info *info)
{
    run_tell_int(r, "m", info->m);
    run_tell_int(r, "outputs", info->outputs);
    run_tell_text(r, "kernel", dkm_kernel_text(kernel));
    run_tell_grid(r, info->P, info->Q);
    run_tell_int(r, "block", info->block);
    tell_ridge(r, &info->ridge);
    run_tell_seconds(r);
    run_tell_text(r, "model", args_text(r->args, "output"));
}

static const file_options inputs = {"x", "x-type", DKM_INPUTS};
static const file_options outputs = {"y", "y-type", DKM_OUTPUTS};

static dkm_status fit_krr(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_krr_settings settings = dkm_krr_settings_default();
    dkm_krr_info info;
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;

    settings.center = args_flag(r->args, "center");
    settings.layout = run_layout(r);
    settings.ridge.precision = precision_of(args_text(r->args, "precision"));
    DKM_TRY(run_positive(r, "gamma", &settings.ridge.gamma));
    DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "kx"), &kernel));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(pair_read(r, inputs, outputs, &X, &Y));
    DKM_TRY(dkm_krr_fit(r->ctx, &X, Y, kernel, &settings, &model, &info));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    tell(r, kernel, &info);
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static const option options[] = {
    ROW_X("training inputs"),
    ROW_Y("training outputs, as many rows: numbers, or labels to be told apart"),
    ROW_KX,
    {.name = "gamma",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED,
     .hint = "G",
     .help = "ridge > 0 that is added to the diagonal of the kernel matrix"},
    {.name = "center",
     .kind = OPT_FLAG,
     .help = "take the mean of the outputs off first: an intercept"},
    {.name = "precision",
     .kind = OPT_WORD,
     .hint = "HOW",
     .words = "auto|double|mixed|single|",
     .preset = "auto",
     .help = "of the factor: mixed refines a single one to double accuracy, in half the time"},
    ROW_X_TYPE,
    ROW_Y_TYPE,
    ROW_OUTPUT("model file to write, .h5"),
    {0}};

const command command_fit_krr = {
    .name = "fit krr",
    .summary = "kernel ridge regression, of one or many outputs at once",
    .about = "Finds f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - b), where K is the kernel "
             "matrix of the training inputs X. Labels become one column a class, and the largest "
             "column of a prediction names its class.",
    .example = "mpirun -np 4 dkmap fit krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
               "      --gamma 1e-3 -o model.h5",
    .tables = {options, compute_options, report_options},
    .run = fit_krr,
};
