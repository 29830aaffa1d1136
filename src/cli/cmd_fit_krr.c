#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/krr.h>
#include <dkmap/store.h>

#include "commands.h"
#include "pair.h"
#include "ridge_options.h"
#include "rows.h"
#include "run.h"

/* One column of the table of gammas, for the record. */
typedef double (*field)(const dkm_path_point *point);

static double gamma_of(const dkm_path_point *point)
{
    return point->gamma;
}

static double loo_of(const dkm_path_point *point)
{
    return point->loo;
}

static double gcv_of(const dkm_path_point *point)
{
    return point->gcv;
}

static double wrong_of(const dkm_path_point *point)
{
    return point->wrong;
}

static void record_column(run *r, const char *name, const dkm_path_info *path, field of)
{
    double column[DKM_PATH_MOST];

    for (dkm_idx g = 0; g < path->count; g++)
        column[g] = of(&path->points[g]);
    dkm_record_reals(r->record, name, path->count, column);
}

/* Every line begins with `path`; the error rate is that of labels. */
static void tell_table(run *r, const dkm_path_info *path, int labels)
{
    char line[120];

    run_show(r, "path",
             labels ? "gamma        loo          gcv          loo_zero_one"
                    : "gamma        loo          gcv");
    for (dkm_idx g = 0; g < path->count; g++) {
        const dkm_path_point *p = &path->points[g];
        if (labels)
            snprintf(line, sizeof line, "%-12.6g %-12.6g %-12.6g %.6g", p->gamma, p->loo, p->gcv,
                     p->wrong);
        else
            snprintf(line, sizeof line, "%-12.6g %-12.6g %.6g", p->gamma, p->loo, p->gcv);
        run_show(r, "path", line);
    }
    if (!r->record)
        return;
    record_column(r, "path.gamma", path, gamma_of);
    record_column(r, "path.loo", path, loo_of);
    record_column(r, "path.gcv", path, gcv_of);
    if (labels)
        record_column(r, "path.loo_zero_one", path, wrong_of);
}

static void tell_path(run *r, const dkm_path_info *path)
{
    const dkm_path_point *best = path->points ? &path->points[path->best] : NULL;
    int labels = best && !isnan(best->wrong);

    if (!best)
        return;
    if (path->count > 1)
        tell_table(r, path, labels);
    run_tell_real(r, "loo", best->loo);
    run_tell_real(r, "gcv", best->gcv);
    if (labels)
        run_tell_real(r, "loo_zero_one", best->wrong);
}

static void tell(run *r, const dkm_kernel *kernel, const dkm_krr_info *info)
{
    run_tell_int(r, "m", info->m);
    run_tell_int(r, "outputs", info->outputs);
    run_tell_text(r, "kernel", dkm_kernel_text(kernel));
    run_tell_text(r, "form", info->form);
    run_tell_grid(r, info->P, info->Q);
    run_tell_int(r, "block", info->block);
    run_tell_text(r, "solver", info->path.solver);
    tell_path(r, &info->path);
    run_tell_real(r, "gamma", info->gamma);
    ridge_tell(r, &info->path.ridge);
    run_tell_seconds(r);
    run_tell_text(r, "model", args_text(r->args, "output"));
}

static dkm_local read_gammas(run *r, double *gammas, dkm_idx *count)
{
    const value *v;

    *count = args_count(r->args, "gamma");
    if (*count > DKM_PATH_MOST)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--gamma takes at most %d values, not %lld",
                        DKM_PATH_MOST, (long long)*count);
    for (int g = 0; (v = args_value(r->args, "gamma", g)); g++) {
        gammas[g] = v->real;
        if (!(v->real > 0))
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--gamma must be > 0, not %s", v->text);
    }
    return DKM_LOCAL_OK;
}

static dkm_krr_settings read_settings(const run *r)
{
    dkm_krr_settings s = dkm_krr_settings_default();

    s.center = args_flag(r->args, "center");
    s.layout = run_layout(r);
    s.ridge.precision = ridge_precision(r);
    s.loo = args_flag(r->args, "loo");
    s.select = (dkm_path_select)args_whole(r->args, "select");
    s.solver = (dkm_path_solver)args_whole(r->args, "solver");
    s.penalty = (dkm_penalty)args_whole(r->args, "penalty");
    s.primal = strcmp(args_text(r->args, "primal"), "auto") == 0;
    return s;
}

static const file_options inputs = {"x", "x-type", DKM_INPUTS};
static const file_options outputs = {"y", "y-type", DKM_OUTPUTS};

static dkm_status fit_krr(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_krr_settings settings = read_settings(r);
    dkm_krr_info info = {0};
    double gammas[DKM_PATH_MOST];
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;

    settings.gammas = gammas;
    DKM_AGREE(r->ctx, read_gammas(r, gammas, &settings.count));
    DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "kx"), &kernel));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(pair_read(r, inputs, outputs, &X, &Y));
    DKM_TRY(dkm_krr_fit(r->ctx, &X, Y, kernel, &settings, &model, &info));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    tell(r, kernel, &info);
out:
    dkm_krr_info_free(&info);
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
     .flags = OPT_REQUIRED | OPT_LIST,
     .hint = "G[,G...]",
     .help = "ridge > 0 that is added to the diagonal of the kernel matrix; of a list the one "
             "with the least error is taken, and all errors are told"},
    {.name = "select",
     .kind = OPT_WORD,
     .hint = "WORD",
     .words = "loo|gcv|",
     .preset = "loo",
     .help = "the error that decides between gammas, leave-one-out or generalised "
             "cross-validation"},
    {.name = "loo", .kind = OPT_FLAG, .help = "tell both errors of a single gamma too"},
    {.name = "center",
     .kind = OPT_FLAG,
     .help = "take the mean of the outputs off first: an intercept"},
    {.name = "penalty",
     .kind = OPT_WORD,
     .hint = "WORD",
     .words = "weights|coefficients|",
     .preset = "weights",
     .help = "what gamma weighs; coefficients makes B = (K'K + gamma I)^-1 K (Y - b)"},
    {.name = "solver",
     .kind = OPT_WORD,
     .hint = "WORD",
     .words = "auto|cholesky|eigen|",
     .preset = "auto",
     .help = "a Cholesky factor for each gamma, or one eigendecomposition for all; auto measures "
             "which is faster"},
    {.name = "primal",
     .kind = OPT_WORD,
     .hint = "WORD",
     .words = "auto|no|",
     .preset = "auto",
     .help = "solve for the weights of the linear kernel where inputs have fewer columns than "
             "rows: the same predictions, and a model without training inputs"},
    ROW_PRECISION,
    ROW_X_TYPE,
    ROW_Y_TYPE,
    ROW_OUTPUT("model file to write, .h5"),
    {0}};

const command command_fit_krr = {
    .name = "fit krr",
    .summary = "kernel ridge regression, of one or many outputs at once",
    .about = "Finds f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - b), where K is the kernel "
             "matrix of the training inputs X. Labels become one column a class, and the largest "
             "column of a prediction names its class.\n"
             "Given several gammas, the error that each would make on unseen examples is told "
             "without refits: leave-one-out (loo) and generalised cross-validation (gcv), the "
             "mean square over all outputs, and for labels the share of wrong ones.",
    .example = "mpirun -np 4 dkmap fit krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
               "      --gamma 1e-6,1e-5,1e-4,1e-3,1e-2 -o model.h5",
    .tables = {options, compute_options, report_options},
    .run = fit_krr,
};
