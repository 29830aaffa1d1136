#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/core/calibration.h"
#include "cli/methods/method.h"
#include "cli/options/common_options.h"
#include "cli/options/landmark_options.h"
#include "cli/options/ridge_options.h"

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
    dkm_runlog_reals(r->record, name, path->count, column);
}

/* Every line begins with `path`; the error rate is that of labels. */
static void method_krr_report_table(run *r, const dkm_path_info *path, int labels)
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
        method_krr_report_table(r, path, labels);
    report_real(r, "loo", best->loo);
    report_real(r, "gcv", best->gcv);
    if (labels)
        report_real(r, "loo_zero_one", best->wrong);
}

static void method_krr_report(run *r, const method_settings *s, const method_info *found)
{
    const dkm_krr_info *info = &found->krr;

    report_int(r, "m", info->m);
    report_int(r, "outputs", info->outputs);
    report_text(r, "kernel", dkm_kernel_text(s->kx));
    report_text(r, "form", info->form);
    report_grid(r, info->P, info->Q);
    report_int(r, "block", info->block);
    report_text(r, "solver", info->path.solver);
    if (info->landmarks > 0) {
        report_int(r, "landmarks", info->landmarks);
        report_text(r, "landmark_choice", dkm_landmark_name(s->krr.nystroem.choice));
        report_int(r, "dimensions", info->dimensions);
    }
    if (*info->reason)
        report_text(r, "chosen", info->reason);
    tell_path(r, &info->path);
    report_real(r, "gamma", info->gamma);
    if (strcmp(info->path.solver, "pcg") == 0)
        landmark_tell(r, &info->nystroem);
    else
        ridge_tell(r, &info->path.ridge);
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

/* What a calibration of this machine tells for as many ranks. */
static dkm_krr_rates known_rates(const run *r)
{
    calibration c;

    if (!calibration_find(dkm_ctx_size(r->ctx), &c) || (int)c.ranks != dkm_ctx_size(r->ctx))
        return (dkm_krr_rates){0};
    return (dkm_krr_rates){c.gram_column, c.gram_element, c.single_cube};
}

static dkm_status method_krr_settings(run *r, method_settings *s)
{
    dkm_krr_settings *krr = &s->krr;
    dkm_status status = DKM_OK;

    *krr = dkm_krr_settings_default();
    krr->center = args_flag(r->args, "center");
    krr->layout = run_layout(r);
    krr->ridge.precision = ridge_precision(r);
    krr->loo = args_flag(r->args, "loo");
    krr->select = (dkm_path_select)args_whole(r->args, "select");
    krr->solver = (dkm_path_solver)args_whole(r->args, "solver");
    krr->penalty = (dkm_penalty)args_whole(r->args, "penalty");
    krr->primal = strcmp(args_text(r->args, "primal"), "auto") == 0;
    krr->gammas = s->gammas;
    DKM_AGREE(r->ctx, read_gammas(r, s->gammas, &krr->count));
    DKM_TRY(landmark_settings(r, &krr->nystroem));
    krr->reduce = args_text(r->args, "reduce") ? args_whole(r->args, "reduce") : 0;
    DKM_TRY(landmark_seconds(r, &krr->seconds));
    krr->rates = known_rates(r);
out:
    return status;
}

static dkm_status method_krr_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                 dkm_model **model, method_info *info)
{
    return dkm_krr_fit(r->ctx, X, *Y, s->kx, &s->krr, model, &info->krr);
}

static dkm_status fit_stream(run *r, const method_settings *s, dkm_source *X, dkm_data **Y,
                             dkm_model **model, method_info *info)
{
    return dkm_krr_fit_stream(r->ctx, X, *Y, s->kx, &s->krr, model, &info->krr);
}

static const option options[] = {
    ROW_X("training inputs"),
    ROW_Y("training outputs, as many rows: numbers, or labels to be told apart"),
    ROW_KX,
    {.name = "gamma",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED | OPT_LIST,
     .metavar = "G[,G...]",
     .help = "ridge > 0 that is added to the diagonal of the kernel matrix; of a list the one "
             "with the least error is taken, and all errors are told"},
    {.name = "select",
     .kind = OPT_WORD,
     .metavar = "WORD",
     .choices = "loo|gcv|",
     .default_text = "loo",
     .help = "the error that decides between gammas, leave-one-out or generalised "
             "cross-validation"},
    {.name = "loo", .kind = OPT_FLAG, .help = "tell both errors of a single gamma too"},
    {.name = "center",
     .kind = OPT_FLAG,
     .help = "take the mean of the outputs off first: an intercept"},
    ROW_PENALTY("what gamma weighs; coefficients makes B = (K'K + gamma I)^-1 K (Y - b)"),
    {.name = "solver",
     .kind = OPT_WORD,
     .metavar = "WORD",
     .choices = "auto|cholesky|eigen|pcg|band|",
     .default_text = "auto",
     .help = "a Cholesky factor for each gamma, one eigendecomposition or one reduction to a band "
             "for all, or conjugate "
             "gradients with landmarks, for inputs too many for a kernel matrix; auto takes what "
             "is fastest of the exact ones where they fit memory and time, else pcg"},
    {.name = "primal",
     .kind = OPT_WORD,
     .metavar = "WORD",
     .choices = "auto|no|",
     .default_text = "auto",
     .help = "solve for the weights of the linear kernel where inputs have fewer columns than "
             "rows: the same predictions, and a model without training inputs"},
    ROW_PRECISION,
    ROW_REDUCE("the exact fit under the Nystroem kernel of so many of the inputs, chosen as "
               "--landmark-choice says: for lists of gammas and their errors, where --solver pcg "
               "iterates for one"),
    ROWS_LANDMARKS,
    {.name = "time",
     .kind = OPT_TEXT,
     .metavar = "T",
     .help = "the time that solver auto may take, such as 90s, 30m or 2h: with it, or where the "
             "kernel matrix does not fit the memory, auto may take pcg and choose landmarks"},
    ROW_X_TYPE,
    ROW_Y_TYPE,
    {0}};

/* Where no kernel matrix is wanted, fits do without one in cross-validation too. */
static int method_krr_ridge_point_of(const method_settings *s, ridge_point *point)
{
    int primal = s->krr.primal && strcmp(dkm_kernel_text(s->kx), "linear") == 0;

    *point = (ridge_point){.gamma = s->gammas[0], .center = s->krr.center};
    return s->krr.penalty == DKM_PENALTY_WEIGHTS && s->krr.solver != DKM_PATH_PCG &&
           s->krr.ridge.precision != DKM_RIDGE_SINGLE && s->krr.reduce == 0 && !primal;
}

static dkm_local method_krr_check_cv(run *r)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(run_reject_option(r, "loo",
                               "is for fit: cv tells the losses of examples that are held out"));
    DKM_STEP(run_reject_option(r, "select", "is for fit: in cv the losses of --loss decide"));
    DKM_STEP(
        run_reject_option(r, "time", "is for fit: cv takes the exact fit or what --solver says"));
    DKM_STEP(landmark_check_cv(r, 0));
out:
    return local;
}

static const char *const lists[] = {"gamma", NULL};

const method method_krr = {
    .name = "krr",
    .summary = "kernel ridge regression, of one or many outputs at once",
    .about = "Finds f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - b), where K is the kernel "
             "matrix of the training inputs X. Labels become one column a class, and the largest "
             "column of a prediction names its class.\n"
             "Given several gammas, the error that each would make on unseen examples is told "
             "without refits: leave-one-out (loo) and generalised cross-validation (gcv), the "
             "mean square over all outputs, and for labels the share of wrong ones.",
    .arguments = "--x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
                 "      --gamma 1e-6,1e-5,1e-4,1e-3,1e-2",
    .options = options,
    .settings = method_krr_settings,
    .fit = method_krr_fit,
    .fit_stream = fit_stream,
    .tell = method_krr_report,
    .lists = lists,
    .check_cv = method_krr_check_cv,
    .cv = &dkm_cv_krr,
    .ridge_point = method_krr_ridge_point_of,
};
