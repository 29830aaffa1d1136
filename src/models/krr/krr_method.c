/* Kernel ridge regression as a method: its settings, and what is reported of a fit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/krr.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "models/common/example_weights.h"
#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"
#include "models/common/tune.h"
#include "models/krr/krr_outputs.h"
#include "solvers/nystroem/nystroem_impl.h"

#define BEGIN_LEAST 500 /* examples by which a ridge is chosen where a search begins */

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

static void report_column(dkm_report *report, const char *name, const dkm_path_info *path, field of)
{
    double column[DKM_PATH_MOST];

    for (dkm_idx g = 0; g < path->count; g++)
        column[g] = of(&path->points[g]);
    dkm_report_add_reals(report, name, path->count, column);
}

/* Every line begins with `path`; the error rate is that of labels. */
static void report_table(dkm_report *report, const dkm_path_info *path, int labels)
{
    char line[120];

    dkm_report_add_line(report, "path",
                        labels ? "gamma        loo          gcv          loo_zero_one"
                               : "gamma        loo          gcv");
    for (dkm_idx g = 0; g < path->count; g++) {
        const dkm_path_point *p = &path->points[g];
        if (labels)
            snprintf(line, sizeof line, "%-12.6g %-12.6g %-12.6g %.6g", p->gamma, p->loo, p->gcv,
                     p->wrong);
        else
            snprintf(line, sizeof line, "%-12.6g %-12.6g %.6g", p->gamma, p->loo, p->gcv);
        dkm_report_add_line(report, "path", line);
    }
    report_column(report, "path.gamma", path, gamma_of);
    report_column(report, "path.loo", path, loo_of);
    report_column(report, "path.gcv", path, gcv_of);
    if (labels)
        report_column(report, "path.loo_zero_one", path, wrong_of);
}

static void report_path(dkm_report *report, const dkm_path_info *path)
{
    const dkm_path_point *best = path->points ? &path->points[path->best] : NULL;
    int labels = best && !isnan(best->wrong);

    if (!best)
        return;
    if (path->count > 1)
        report_table(report, path, labels);
    dkm_report_add_real(report, "loo", best->loo);
    dkm_report_add_real(report, "gcv", best->gcv);
    if (labels)
        dkm_report_add_real(report, "loo_zero_one", best->wrong);
    if (best->level > 0 && labels)
        dkm_report_add_real(report, "loo_nll", best->level_score);
    if (best->level > 0 && !labels) {
        dkm_report_add_real(report, "threshold_share", best->level);
        dkm_report_add_real(report, "loo_f1_examples", best->level_score);
    }
}

static void krr_report(dkm_report *report, const dkm_kernel *kx, const dkm_krr_settings *settings,
                       const dkm_krr_info *info)
{
    dkm_report_add_int(report, "m", info->m);
    dkm_report_add_int(report, "outputs", info->outputs);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    dkm_report_add_text(report, "form", info->form);
    dkm_report_add_grid(report, info->P, info->Q);
    dkm_report_add_int(report, "block", info->block);
    dkm_report_add_text(report, "solver", info->path.solver);
    if (info->landmarks > 0) {
        dkm_report_add_int(report, "landmarks", info->landmarks);
        dkm_report_add_text(report, "landmark_choice",
                            dkm_landmark_name(settings->nystroem.choice));
        dkm_report_add_int(report, "dimensions", info->dimensions);
    }
    if (*info->reason)
        dkm_report_add_text(report, "chosen", info->reason);
    report_path(report, &info->path);
    dkm_report_add_real(report, "gamma", info->gamma);
    if (strcmp(info->path.solver, "pcg") == 0)
        dkm_report_nystroem(report, &info->nystroem);
    else
        dkm_report_ridge(report, &info->path.ridge);
}

/* The settings, and the list of gammas that they point to. */
static void krr_read(const dkm_settings *s, double gammas[DKM_PATH_MOST], dkm_krr_settings *krr)
{
    static const dkm_path_solver solvers[] = {DKM_PATH_AUTO, DKM_PATH_CHOLESKY, DKM_PATH_EIGEN,
                                              DKM_PATH_PCG, DKM_PATH_BAND};
    static const dkm_penalty penalties[] = {DKM_PENALTY_WEIGHTS, DKM_PENALTY_COEFFICIENTS};
    static const dkm_path_select criteria[] = {DKM_SELECT_LOO, DKM_SELECT_GCV};
    const dkm_value *v;

    *krr = dkm_krr_settings_default();
    krr->center = dkm_settings_flag(s, "center");
    krr->keep_factor = dkm_settings_flag(s, "keep-factor");
    krr->layout = dkm_settings_layout(s);
    krr->ridge.precision = dkm_read_precision(s);
    krr->loo = dkm_settings_flag(s, "loo");
    krr->select = criteria[dkm_settings_choice(s, "criterion")];
    krr->solver = solvers[dkm_settings_choice(s, "solver")];
    krr->penalty = penalties[dkm_settings_choice(s, "regularizer")];
    krr->primal = dkm_settings_choice(s, "primal") == 0;
    krr->gammas = gammas;
    for (; (v = dkm_settings_value(s, "gamma", krr->count)); krr->count++)
        gammas[krr->count] = v->real;
    dkm_read_nystroem(s, &krr->nystroem);
    krr->reduce = dkm_settings_int(s, "nystroem");
    krr->seconds = dkm_settings_real(s, "time");
    if (dkm_settings_count(s, "rates") == 3)
        krr->rates = (dkm_krr_rates){dkm_settings_value(s, "rates", 0)->real,
                                     dkm_settings_value(s, "rates", 1)->real,
                                     dkm_settings_value(s, "rates", 2)->real};
}

static dkm_local krr_check(dkm_ctx *ctx, const dkm_settings *s)
{
    dkm_idx count = dkm_settings_count(s, "gamma");

    if (count > DKM_PATH_MOST)
        return dkm_fail(ctx, DKM_ERR_ARG, "%sgamma takes at most %d values, not %lld", s->prefix,
                        DKM_PATH_MOST, (long long)count);
    return DKM_LOCAL_OK;
}

/* The kernel that is set, or one for objects of a type; resolved where there are such. */
static dkm_status krr_kernel(dkm_ctx *ctx, const dkm_settings *s, dkm_type type,
                             const dkm_data *training, dkm_kernel **kx)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_settings_kernel(ctx, s, "kx", training, kx));
    if (*kx)
        goto out;
    DKM_TRY(dkm_kernel_parse(ctx, dkm_kernel_default_text(type), kx));
    if (training)
        DKM_TRY(dkm_kernel_resolve(*kx, training));
out:
    return status;
}

/* Gammas 10^from to 10^to, a decade apart. */
static void fill_decades(int from, int to, double gammas[DKM_PATH_MOST], dkm_krr_settings *krr)
{
    krr->count = 0;
    for (int e = from; e <= to; e++)
        gammas[krr->count++] = pow(10.0, e);
}

/* Where no gamma is given: the one with the least leave-one-out error of decades from 1e-8 to 1e2,
 * and of GROWTH more beyond the end at which the best lies, twice at most. */
static dkm_status krr_fit_any(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                              const dkm_kernel *kx, double gammas[DKM_PATH_MOST],
                              dkm_krr_settings *krr, dkm_model **model, dkm_krr_info *info)
{
    enum { GROWTH = 4, TRIES = 3 };
    dkm_status status = DKM_OK;
    int from = -8, to = 2;

    if (krr->count > 0)
        return dkm_krr_fit(ctx, X, Y, kx, krr, model, info);
    krr->grows = 1;
    for (int tries = 0;; tries++) {
        dkm_idx best;
        dkm_model_destroy(model);
        dkm_krr_info_free(info);
        fill_decades(from, to, gammas, krr);
        DKM_TRY(dkm_krr_fit(ctx, X, Y, kx, krr, model, info));
        best = info->path.points ? info->path.best : 1;
        if (best > 0 && best < krr->count - 1)
            break;
        if (tries == TRIES - 1) {
            dkm_log(ctx, DKM_INFO,
                    "the best gamma, %g, is the %s tried: outputs seem %s, or the kernel does not "
                    "suit the inputs",
                    info->gamma, best == 0 ? "least" : "largest",
                    best == 0 ? "free of noise" : "not to depend on the inputs");
            break;
        }
        from -= best == 0 ? GROWTH : 0;
        to += best == 0 ? 0 : GROWTH;
    }
out:
    return status;
}

static dkm_local krr_check_tune(dkm_ctx *ctx, const dkm_data *X, const dkm_krr_settings *krr)
{
    if (!X || krr->solver == DKM_PATH_PCG || krr->reduce > 0 ||
        krr->penalty == DKM_PENALTY_COEFFICIENTS || krr->weights)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "tuning follows the leave-one-out error of the exact fit, with inputs in "
                        "memory and the penalty on the norm of f: leave out landmarks, --solver "
                        "pcg, --nystroem, --regularizer l2-coef and weights of examples");
    return DKM_LOCAL_OK;
}

/* gammas[0] becomes the one with the least error, by the examples that the search begins with, or some more. */
static dkm_status krr_tune_begin(const dkm_tune_settings *tune, const dkm_data *X,
                                 const dkm_data *Y, const dkm_kernel *kx,
                                 double gammas[DKM_PATH_MOST], dkm_krr_settings *krr)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_data *some_X = NULL, *some_Y = NULL;
    dkm_krr_info info = {0};
    dkm_model *model = NULL;
    dkm_idx count = dkm_idx_max(tune->subset, BEGIN_LEAST);

    if (tune->subset > 0 && count < dkm_data_rows(X)) {
        DKM_TRY(dkm_tune_select(X, count, &some_X));
        DKM_TRY(dkm_tune_select(Y, count, &some_Y));
    }
    DKM_TRY(
        krr_fit_any(ctx, some_X ? some_X : X, some_Y ? some_Y : Y, kx, gammas, krr, &model, &info));
    gammas[0] = info.gamma;
out:
    dkm_model_destroy(&model);
    dkm_krr_info_free(&info);
    dkm_data_destroy(&some_Y);
    dkm_data_destroy(&some_X);
    return status;
}

/* Follow the gradient from the gamma given, or from the one with the least error of several. The
 * kernel becomes the tuned one, and the settings are for a fit with that and with its gamma. */
static dkm_status krr_tune(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                           const dkm_data *Y, double gammas[DKM_PATH_MOST], dkm_krr_settings *krr,
                           dkm_kernel *kx, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_tune_settings tune;
    dkm_krr_outputs outputs = {0};
    dkm_loo_targets targets = {.center = krr->center};
    dkm_tune_info tuned;
    char *text = NULL;
    double *rows = NULL, start;

    DKM_AGREE(ctx, krr_check_tune(ctx, X, krr));
    tune = dkm_tune_read(s, X);
    DKM_AGREE(ctx, dkm_strdup(ctx, dkm_kernel_text(kx), &text));
    if (krr->count != 1)
        DKM_TRY(krr_tune_begin(&tune, X, Y, kx, gammas, krr));
    start = gammas[0];
    DKM_TRY(dkm_krr_outputs_rows(&outputs, Y, krr->center, NULL, &rows));
    targets.T = dkm_multivec_view(ctx, dkm_data_rows(Y), outputs.encoder.cols, rows);
    DKM_TRY(dkm_kernel_tune(X, &targets, &tune, kx, &gammas[0], &tuned));
    krr->count = 1;
    krr->loo = 1;
    dkm_tune_report(report, text, start, 1.0, &tuned);
out:
    DKM_FREE(rows);
    DKM_FREE(text);
    dkm_krr_outputs_clear(&outputs);
    return status;
}

/* Inputs are in memory, or read anew for every pass. */
static dkm_status fit_inputs(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                             dkm_source *source, const dkm_data *Y, dkm_model **model,
                             dkm_report *report)
{
    dkm_status status = DKM_OK;
    double gammas[DKM_PATH_MOST];
    dkm_krr_settings settings;
    dkm_krr_info info = {0};
    dkm_data *weights = NULL;
    dkm_kernel *kx = NULL;

    krr_read(s, gammas, &settings);
    DKM_REQUIRE(ctx, X || (dkm_settings_count(s, "kx") > 0 && settings.count > 0), DKM_ERR_ARG,
                "streamed inputs need %skx and %sgamma: they are chosen from inputs in "
                "memory",
                s->prefix, s->prefix);
    DKM_TRY(X && dkm_data_type(X) == DKM_GRAPH
                ? dkm_read_vertex_weights(ctx, s, Y, dkm_data_rows(Y), &weights)
                : dkm_read_weights(ctx, s, Y, dkm_data_rows(Y), &weights));
    settings.weights = weights;
    DKM_TRY(krr_kernel(ctx, s, X ? dkm_data_type(X) : DKM_DENSE, X, &kx));
    if (X && report)
        DKM_TRY(dkm_kernel_check_spread(kx, X, report));
    if (dkm_settings_flag(s, "tune"))
        DKM_TRY(krr_tune(ctx, s, X, Y, gammas, &settings, kx, report));
    DKM_TRY(X ? krr_fit_any(ctx, X, Y, kx, gammas, &settings, model, &info)
              : dkm_krr_fit_stream(ctx, source, Y, kx, &settings, model, &info));
    krr_report(report, kx, &settings, &info);
out:
    dkm_krr_info_free(&info);
    dkm_data_destroy(&weights);
    dkm_kernel_destroy(&kx);
    return status;
}

static dkm_status krr_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_model **model, dkm_report *report)
{
    return fit_inputs(ctx, s, X, NULL, Y, model, report);
}

static dkm_status krr_fit_stream(dkm_ctx *ctx, const dkm_settings *s, dkm_source *X,
                                 const dkm_data *Y, dkm_model **model, dkm_report *report)
{
    return fit_inputs(ctx, s, NULL, X, Y, model, report);
}

static int krr_names_classes(const dkm_settings *s)
{
    (void)s;
    return 1;
}

#define DECADES 11 /* gammas that are tried where none is given */

/* Dense rows of fewer columns than there are of them, by the linear kernel. */
static int krr_plans_primal(const dkm_krr_settings *krr, const dkm_kernel *kx,
                            const dkm_workload *work)
{
    return krr->primal && !krr->keep_factor && krr->penalty == DKM_PENALTY_WEIGHTS &&
           krr->ridge.precision != DKM_RIDGE_MIXED && krr->ridge.precision != DKM_RIDGE_SINGLE &&
           kx && dkm_kernel_is_linear(kx) && work->x_cols > 0 && work->x_cols < work->m;
}

/* Conjugate gradients, and for few inputs the exact fit that they are compared with. */
static void krr_estimate_pcg(const dkm_nystroem_settings *nystroem, dkm_cost_terms *terms,
                             double data, dkm_cost *cost)
{
    int rough = !nystroem->all_centers || nystroem->tolerance >= 1e-6;

    terms->landmarks = dkm_nystroem_count(nystroem, terms->work.m);
    terms->all_centers = nystroem->all_centers;
    terms->values_recomputed = nystroem->keep == DKM_RECOMPUTE;
    terms->single = dkm_cost_single_values(nystroem->precision, terms->work.m) &&
                    (rough || nystroem->precision != DKM_RIDGE_AUTO);
    dkm_cost_add_pcg(cost, terms, data);
    if (terms->work.m > nystroem->compare)
        return;
    if (!nystroem->all_centers) /* in blocks of the landmarks' matrices */
        terms->work.block = dkm_shape_block(terms->work.P, terms->work.Q, terms->landmarks);
    dkm_cost_add_comparison(cost, terms, data);
}

static void krr_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                         const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double gammas[DKM_PATH_MOST];
    dkm_krr_settings krr;
    double data = dkm_cost_data(&terms) +
                  dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols) +
                  dkm_example_weights_estimate(s, work->m, 1.0, cost);

    krr_read(s, gammas, &krr);
    terms.outputs = dkm_estimate_outputs(work, cost);
    terms.gammas = krr.count > 0 ? krr.count : DECADES;
    terms.errors = krr.loo || terms.gammas > 1;
    terms.solver = krr.solver;
    terms.choice = krr.nystroem.choice;
    terms.mixed = dkm_estimate_mixed(krr.ridge.precision, work->m) && krr.count == 1 && !krr.loo &&
                  (!krr.keep_factor || krr.ridge.precision != DKM_RIDGE_AUTO);
    if (krr.reduce > 0) {
        terms.landmarks = krr.reduce < work->m ? krr.reduce : work->m;
        dkm_cost_add_nystroem(cost, &terms, data);
    } else if (krr.solver == DKM_PATH_PCG) {
        krr_estimate_pcg(&krr.nystroem, &terms, data, cost);
    } else if (krr_plans_primal(&krr, kx, work)) {
        dkm_cost_add_primal(cost, &terms, (double)work->x_cols, data);
    } else {
        terms.recomputed = dkm_cost_recomputes(&terms) || (terms.mixed && krr.keep_factor);
        dkm_cost_add_gram(cost, &terms, "gram", data, work->x_bytes, (double)work->x_cols);
        dkm_cost_add_ridge(cost, &terms, data);
    }
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX_OR("; when not given rbf(sigma=median) for rows of numbers, of which dense ones are "
                  "standardized, normalize(spectrum(p=3)) for strings"),
    {.name = "gamma",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_LIST | DKM_SETTING_POSITIVE,
     .metavar = "G[,G...]",
     .aliases = "ridge|alpha|",
     .help = "ridge > 0 that is added to the diagonal of the kernel matrix; of a list the one "
             "with the least error is taken, and all errors are reported; when not given decades "
             "from 1e-8 to 1e2 are tried, and more where the best lies at an end"},
    {.name = "criterion",
     .kind = DKM_SETTING_CHOICE,
     .metavar = "WORD",
     .choices = "loo|gcv|",
     .default_text = "loo",
     .old_names = "select|",
     .not_in_cv = "is for fit: in cv the losses of --loss decide",
     .help = "the error that decides between gammas, leave-one-out or generalized "
             "cross-validation"},
    {.name = "loo",
     .kind = DKM_SETTING_FLAG,
     .not_in_cv = "is for fit: cv reports the losses of examples that are held out",
     .help = "report both errors of a single gamma too"},
    {.name = "center",
     .kind = DKM_SETTING_FLAG,
     .help = "take the mean of the outputs off first: an intercept"},
    DKM_ROW_WEIGHTS,
    DKM_ROW_CLASS_WEIGHTS,
    DKM_ROW_REGULARIZER(
        "what gamma weighs: the norm of f, or that of its coefficients, which makes "
        "B = (K'K + gamma I)^-1 K (Y - b)"),
    {.name = "solver",
     .kind = DKM_SETTING_CHOICE,
     .metavar = "WORD",
     .choices = "auto|cholesky|eigen|pcg|band|",
     .default_text = "auto",
     .help = "a Cholesky factor for each gamma, one eigendecomposition or one reduction to a band "
             "for all, or conjugate "
             "gradients with landmarks, for inputs too many for a kernel matrix; auto takes what "
             "is fastest of the exact ones where they fit memory and time, else pcg"},
    {.name = "primal",
     .kind = DKM_SETTING_CHOICE,
     .metavar = "WORD",
     .choices = "auto|no|",
     .default_text = "auto",
     .help = "solve for the weights of the linear kernel where inputs have fewer columns than "
             "rows: the same predictions, and a model without training inputs"},
    DKM_ROW_PRECISION(NULL),
    {.name = "keep-factor",
     .kind = DKM_SETTING_FLAG,
     .not_in_cv = "is for fit: cv keeps no models",
     .help = "keep the factor and the outputs in the model, m^2 / 2 numbers: for predict --std "
             "and --coverage without computing it anew, and for append and forget. The factor is "
             "double, unless --precision mixed or single is given: then it takes a quarter of the "
             "memory, gives deviations to about six digits, and is not for append and forget"},
    DKM_ROWS_TUNE,
    {.name = "nystroem",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .metavar = "N",
     .old_names = "reduce|",
     .help = "the exact fit under the Nystroem kernel of so many of the inputs, chosen as "
             "--landmark-choice says: for lists of gammas and their errors, where --solver pcg "
             "iterates for one"},
    DKM_ROWS_PCG("solver=pcg|solver=auto|", "solver=pcg|solver=auto|nystroem|",
                 "solver=pcg|solver=auto|"),
    {.name = "time",
     .kind = DKM_SETTING_TIME,
     .flags = DKM_SETTING_POSITIVE,
     .metavar = "T",
     .not_in_cv = "is for fit: cv takes the exact fit or what --solver says",
     .help = "the time that solver auto may take, such as 90s, 30m or 2h: with it, or where the "
             "kernel matrix does not fit the memory, auto may take pcg and choose landmarks"},
    {.name = "rates",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_LIST | DKM_SETTING_HIDDEN,
     .help = "seconds per kernel value and column, per kernel value, and per operation of a factor "
             "in single precision, for solver auto to reckon with"},
    {0}};

const dkm_method dkm_method_krr = {
    .name = "krr",
    .summary = "kernel ridge regression, of one or many outputs at once",
    .about = "Finds f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - b), where K is the kernel "
             "matrix of the training inputs X. Labels become one column per class, and the largest "
             "column of a prediction names its class; strings are names of classes. Label sets "
             "become one column per label, and those above 1/2 are predicted.\n"
             "Given several gammas, the error that each would make on unseen examples is reported "
             "without refits: leave-one-out (loo) and generalized cross-validation (gcv), the "
             "mean square over all outputs, and for labels the share of wrong ones.",
    .references = "Saunders, Gammerman, Vovk (1998), Ridge regression learning algorithm in dual "
                  "variables, ICML",
    .example = "--x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
               "      --gamma 1e-6,1e-5,1e-4,1e-3,1e-2",
    .inputs = "training inputs",
    .outputs = "training outputs, as many rows: numbers, or class labels",
    .settings = settings,
    .check = krr_check,
    .fit = krr_fit,
    .fit_stream = krr_fit_stream,
    .names_classes = krr_names_classes,
    .estimate = krr_estimate,
    .classes = {&dkm_class_krr, &dkm_class_krr_primal},
};
