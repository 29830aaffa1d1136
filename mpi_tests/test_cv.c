/* Losses of cross-validation beside those of a slow twin: deal the same folds, select the examples,
 * fit and predict with the model itself, one setting and one fold after the other. */
#include <math.h>
#include <string.h>

#include <dkmap/cv.h>
#include <dkmap/folds.h>
#include <dkmap/kde.h>
#include <dkmap/knn.h>
#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "check.h"

enum { M = 41, D = 2, FOLDS = 3, INNER = 2, KERNELS = 2, GAMMAS = 2, SETTINGS_MOST = 24 };

#define OUTER_STREAM 0x666f6c6473u

static const double gammas[GAMMAS] = {0.01, 0.5};

typedef enum output { DENSE, LABELS, STRINGS } output;

/* One problem with all it points to. */
typedef struct sample {
    dkm_data *X, *Y;
    dkm_kernel *kx[KERNELS], *ky[KERNELS];
    dkm_cv_ridge ridge;
    dkm_cv_problem problem;
} sample;

static double input(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(1, 0, (uint64_t)i, (uint64_t)j);
}

static dkm_status make_strings(dkm_ctx *ctx, dkm_data **Y)
{
    dkm_idx lengths[M], length;
    dkm_status status;

    for (dkm_idx i = 0; i < M; i++)
        lengths[i] = 4;
    status = dkm_data_create_strings(ctx, M, lengths, Y);
    for (dkm_idx il = 0; status == DKM_OK && il < dkm_data_local_rows(*Y); il++) {
        dkm_idx i = dkm_data_local_first(*Y) + il;
        char *text = dkm_data_string(*Y, il, &length);
        for (dkm_idx k = 0; k < length; k++)
            text[k] = input(i, k % D) * (double)(k + 1) > 0.4 ? 'a' : 'b';
    }
    return status;
}

static dkm_status make_outputs(dkm_ctx *ctx, output kind, dkm_data **Y)
{
    dkm_status status = kind == STRINGS  ? make_strings(ctx, Y)
                        : kind == LABELS ? dkm_data_create_labels(ctx, M, Y)
                                         : dkm_data_create_dense(ctx, M, D, Y);

    for (dkm_idx k = 0;
         status == DKM_OK && kind != STRINGS && k < dkm_data_local_rows(*Y) * dkm_data_cols(*Y);
         k++) {
        dkm_idx d = dkm_data_cols(*Y), i = dkm_data_local_first(*Y) + k / d;
        double value = input(i, 0) * input(i, 1) + (double)(k % d) * sin(input(i, 0));
        dkm_data_values(*Y)[k] = kind == LABELS ? floor(value) : value;
    }
    return status;
}

static dkm_status open_sample(dkm_ctx *ctx, output kind, const char *ky, sample *s)
{
    static const char *const kx[KERNELS] = {"rbf(sigma=1)", "rbf(sigma=3)"};
    dkm_status status = DKM_OK;

    memset(s, 0, sizeof *s);
    DKM_TRY(dkm_data_create_dense(ctx, M, D, &s->X));
    for (dkm_idx k = 0; k < D * dkm_data_local_rows(s->X); k++)
        dkm_data_values(s->X)[k] = input(dkm_data_local_first(s->X) + k / D, k % D);
    DKM_TRY(make_outputs(ctx, kind, &s->Y));
    for (int k = 0; k < KERNELS; k++) {
        DKM_TRY(dkm_kernel_parse(ctx, kx[k], &s->kx[k]));
        DKM_TRY(dkm_kernel_parse(ctx, ky, &s->ky[k]));
    }
    s->ridge = (dkm_cv_ridge){.gammas = GAMMAS, .gamma = gammas};
    s->problem = (dkm_cv_problem){.X = s->X,
                                  .Y = s->Y,
                                  .kernels = KERNELS,
                                  .kx = (const dkm_kernel *const *)s->kx,
                                  .ky = (const dkm_kernel *const *)s->ky,
                                  .settings = GAMMAS,
                                  .options = &s->ridge,
                                  .folds = FOLDS,
                                  .loss = kind == DENSE ? DKM_LOSS_MSE : DKM_LOSS_ZERO_ONE};
out:
    return status;
}

static void close_sample(sample *s)
{
    for (int k = 0; k < KERNELS; k++) {
        dkm_kernel_destroy(&s->ky[k]);
        dkm_kernel_destroy(&s->kx[k]);
    }
    dkm_data_destroy(&s->Y);
    dkm_data_destroy(&s->X);
}

/* Fit setting @p k with the model of the method itself. */
typedef dkm_status (*fitter)(sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting, dkm_data **X,
                             dkm_data **Y, dkm_model **model);

static dkm_status fit_krr(sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting, dkm_data **X,
                          dkm_data **Y, dkm_model **model)
{
    dkm_krr_settings settings = dkm_krr_settings_default();

    settings.count = 1;
    settings.gammas = &gammas[setting];
    settings.center = s->ridge.center;
    return dkm_krr_fit(ctx, X, *Y, s->kx[kernel], &settings, model, NULL);
}

static dkm_status fit_kde(sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting, dkm_data **X,
                          dkm_data **Y, dkm_model **model)
{
    dkm_kde_settings settings = dkm_kde_settings_default();

    settings.ridge.gamma = gammas[setting % GAMMAS];
    settings.eigen = s->ridge.eigen[setting / GAMMAS];
    return dkm_kde_fit(ctx, X, Y, s->kx[kernel], s->ky[kernel], &settings, model, NULL);
}

/* Sum of the losses of test examples of one fold. */
static double oracle_fold(sample *s, fitter fit, dkm_idx point, const dkm_idx *fold, dkm_idx a,
                          dkm_idx b, dkm_idx *tested)
{
    dkm_ctx *ctx = dkm_data_ctx(s->X);
    dkm_idx train[M], test[M], n = 0, t = 0, settings = s->problem.settings;
    const dkm_idx *inner = fold + (1 + a) * M;
    dkm_data *X = NULL, *Y = NULL, *new = NULL, *truth = NULL, *pred = NULL;
    dkm_model *model = NULL;
    dkm_score score = {0};

    for (dkm_idx i = 0; i < M; i++) {
        int held = s->problem.train_on_one ? fold[i] != a : fold[i] == a;
        if (held ? b < 0 : b >= 0 && inner[i] == b)
            test[t++] = i;
        else if (!held)
            train[n++] = i;
    }
    CHECK_OK(ctx, dkm_data_select(s->X, n, train, &X));
    CHECK_OK(ctx, dkm_data_select(s->Y, n, train, &Y));
    CHECK_OK(ctx, dkm_data_select(s->X, t, test, &new));
    CHECK_OK(ctx, dkm_data_select(s->Y, t, test, &truth));
    CHECK_OK(ctx, fit(s, ctx, point / settings, point % settings, &X, &Y, &model));
    CHECK_OK(ctx, dkm_model_predict(model, new, &pred));
    CHECK_OK(ctx,
             dkm_score_predictions(truth, pred, s->problem.loss, s->problem.loss_kernel, &score));
    dkm_data_destroy(&pred);
    dkm_model_destroy(&model);
    dkm_data_destroy(&truth);
    dkm_data_destroy(&new);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    *tested += t;
    return score.mean * (double)t;
}

static void deal(sample *s, dkm_idx *fold)
{
    dkm_ctx *ctx = dkm_data_ctx(s->X);
    dkm_idx rows[M], dealt[M];
    double *classes = NULL;

    CHECK_OK(ctx, dkm_folds_classes(s->Y, &classes));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_deal(ctx, OUTER_STREAM, M, NULL, classes, FOLDS, fold)));
    for (dkm_idx a = 0; s->problem.inner && a < FOLDS; a++) {
        dkm_idx n = 0;
        for (dkm_idx i = 0; i < M; i++)
            if ((fold[i] == a) == s->problem.train_on_one)
                rows[n++] = i;
        CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_deal(ctx, OUTER_STREAM + 1 + (uint64_t)a, n, rows,
                                                    classes, s->problem.inner, dealt)));
        for (dkm_idx k = 0; k < n; k++)
            fold[(1 + a) * M + rows[k]] = dealt[k];
    }
    dkm_folds_free(&classes);
}

/* The table, the choice of each outer fold and its loss, by refits. */
static void check_against_refits(sample *s, fitter fit, const dkm_cv_result *result)
{
    dkm_idx fold[(1 + FOLDS) * M], points = KERNELS * s->problem.settings;
    dkm_idx each = s->problem.inner ? s->problem.inner : 1, chosen[FOLDS], tested;
    double inner[FOLDS][KERNELS * SETTINGS_MOST] = {{0}}, outer = 0, sum;

    deal(s, fold);
    CHECK(result->points == points);
    for (dkm_idx p = 0; p < points; p++) {
        sum = 0;
        tested = 0;
        for (dkm_idx a = 0; a < FOLDS; a++)
            for (dkm_idx b = 0; b < each; b++)
                inner[a][p] += oracle_fold(s, fit, p, fold, a, s->problem.inner ? b : -1, &tested);
        for (dkm_idx a = 0; a < FOLDS; a++)
            sum += inner[a][p];
        CHECK_CLOSE(result->table[p].mean, sum / (double)tested, 1e-8); /* condition x eps */
    }
    tested = 0;
    for (dkm_idx a = 0; s->problem.inner && a < FOLDS; a++) {
        chosen[a] = 0;
        for (dkm_idx p = 1; p < points; p++)
            if (inner[a][p] < inner[a][chosen[a]] * (1 - 1e-9))
                chosen[a] = p;
        CHECK(result->chosen[a] == chosen[a]);
        outer += oracle_fold(s, fit, chosen[a], fold, a, -1, &tested);
    }
    if (s->problem.inner)
        CHECK_CLOSE(result->outer.mean, outer / (double)tested, 1e-8);
}

/* Together and in groups: every number on few ranks, one that does not divide them on many. */
static void compare(sample *s, fitter fit)
{
    dkm_ctx *ctx = dkm_data_ctx(s->X);
    dkm_cv_result result, again;

    CHECK_OK(ctx, dkm_cross_validate(ctx, &s->problem, &result));
    check_against_refits(s, fit, &result);
    for (int groups = 1, size = dkm_ctx_size(ctx); groups <= size;
         groups += size > 3 ? size / 2 : 1) {
        s->problem.groups = groups;
        CHECK_OK(ctx, dkm_cross_validate(ctx, &s->problem, &again));
        CHECK(again.groups == groups && again.best == result.best);
        for (dkm_idx p = 0; p < result.points && again.table; p++) {
            CHECK_CLOSE(again.table[p].mean, result.table[p].mean, 1e-10);
            CHECK_CLOSE(again.table[p].stderror, result.table[p].stderror, 1e-8);
        }
        dkm_cv_result_free(&again);
    }
    dkm_cv_result_free(&result);
}

static void krr_equals_refits(dkm_ctx *ctx)
{
    sample s;

    CHECK_OK(ctx, open_sample(ctx, DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.ridge.center = 1;
    compare(&s, fit_krr);
    close_sample(&s);
}

static void training_on_one_fold_equals_refits_nested(dkm_ctx *ctx)
{
    sample s;

    CHECK_OK(ctx, open_sample(ctx, DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.train_on_one = 1;
    s.problem.inner = INNER;
    compare(&s, fit_krr);
    close_sample(&s);
}

static void krr_of_labels_equals_refits_nested(dkm_ctx *ctx)
{
    sample s;

    CHECK_OK(ctx, open_sample(ctx, LABELS, "class", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.inner = INNER;
    compare(&s, fit_krr);
    close_sample(&s);
}

/* Numbers, more than there are, a share and all, in one list. */
static void kde_equals_refits_nested(dkm_ctx *ctx)
{
    enum { COMPONENTS = 4 };
    static const output kinds[] = {DENSE, LABELS, STRINGS, DENSE};
    static const char *const kernels[] = {"linear", "class", "normalize(spectrum(p=2))",
                                          "rbf(sigma=1)"};
    dkm_eigen_settings eigen[COMPONENTS];

    for (int c = 0; c < COMPONENTS; c++)
        eigen[c] = dkm_eigen_settings_default();
    eigen[0].components = 1;
    eigen[1].components = 3;
    eigen[2].components = 0;
    eigen[2].share = 0.9;
    eigen[3].components = INT64_MAX;
    for (int k = 0; k < 4; k++) {
        sample s;
        CHECK_OK(ctx, open_sample(ctx, kinds[k], kernels[k], &s));
        s.problem.method = &dkm_cv_kde;
        s.problem.settings = COMPONENTS * GAMMAS;
        s.problem.inner = k == 1 ? INNER : 0;
        s.ridge.components = COMPONENTS;
        s.ridge.eigen = eigen;
        if (k == 3) {
            s.problem.loss = DKM_LOSS_KERNEL;
            s.problem.loss_kernel = s.ky[0];
        }
        compare(&s, fit_kde);
        close_sample(&s);
    }
}

/* More gammas than a factor each is worth: one eigendecomposition serves them all. */
static void many_gammas_agree_with_few(dkm_ctx *ctx)
{
    enum { MANY = 24 };
    double list[MANY];
    dkm_cv_result few, many;
    sample s;

    for (int g = 0; g < MANY; g++)
        list[g] = g < GAMMAS ? gammas[g] : 1.0 + g;
    CHECK_OK(ctx, open_sample(ctx, DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &few));
    s.ridge.gammas = s.problem.settings = MANY;
    s.ridge.gamma = list;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &many));
    for (int p = 0; p < KERNELS * GAMMAS; p++)
        CHECK_CLOSE(many.table[p / GAMMAS * MANY + p % GAMMAS].mean, few.table[p].mean, 1e-9);
    dkm_cv_result_free(&many);
    dkm_cv_result_free(&few);
    close_sample(&s);
}

/* Memory for two Gram matrices of four: kernels go in batches, and the outer folds one by one. */
static void kernels_in_batches_agree_with_all_at_once(dkm_ctx *ctx)
{
    enum { MANY = 4 };
    static const char *const texts[MANY] = {"rbf(sigma=1)", "rbf(sigma=3)", "laplace(sigma=1)",
                                            "laplace(sigma=3)"};
    const dkm_kernel *kx[MANY] = {NULL};
    dkm_kernel *own[MANY] = {NULL};
    dkm_cv_result all, parts;
    double held, sum = 0;
    sample s;

    CHECK_OK(ctx, open_sample(ctx, DENSE, "linear", &s));
    for (int k = 0; k < MANY; k++) {
        CHECK_OK(ctx, dkm_kernel_parse(ctx, texts[k], &own[k]));
        kx[k] = own[k];
    }
    s.problem.method = &dkm_cv_krr;
    s.problem.kernels = MANY;
    s.problem.kx = kx;
    s.problem.inner = INNER;
    s.problem.groups = 1;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &all));
    CHECK(all.grams == MANY);
    held = (double)dkm_ctx_live_bytes(ctx);
    MPI_Allreduce(&held, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_ctx_set_memory(ctx, sum + 8.3 * 8 * M * M + 3000.0 * dkm_ctx_size(ctx));
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &parts));
    dkm_ctx_set_memory(ctx, 0);
    CHECK(parts.grams > MANY);
    CHECK(parts.best == all.best);
    CHECK_CLOSE(parts.outer.mean, all.outer.mean, 1e-12);
    for (dkm_idx p = 0; parts.table && p < all.points; p++)
        CHECK_CLOSE(parts.table[p].mean, all.table[p].mean, 1e-12);
    dkm_cv_result_free(&parts);
    dkm_cv_result_free(&all);
    for (int k = 0; k < MANY; k++)
        dkm_kernel_destroy(&own[k]);
    close_sample(&s);
}

/* Fits that a caller brings: inputs as they are, or as rows of their Gram matrix. */
typedef struct caller {
    sample *s;
    int gram;
} caller;

static dkm_status fit_knn(sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting, dkm_data **X,
                          dkm_data **Y, dkm_model **model)
{
    dkm_knn_settings settings = {.k = setting + 1};

    return dkm_knn_fit(ctx, X, Y, s->kx[kernel], NULL, &settings, model);
}

static dkm_status callers_fit(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                              dkm_data **X, dkm_data **Y, dkm_model **model)
{
    caller *c = user;
    const char *text = c->gram ? "gram" : dkm_kernel_text(c->s->kx[kernel]);
    dkm_knn_settings settings = {.k = setting + 1};
    dkm_kernel *own = NULL;
    dkm_status status = dkm_kernel_parse(ctx, text, &own);

    if (status == DKM_OK)
        status = dkm_knn_fit(ctx, X, Y, own, NULL, &settings, model);
    dkm_kernel_destroy(&own);
    return status;
}

static void callers_fits_equal_refits(dkm_ctx *ctx)
{
    for (int gram = 0; gram < 2; gram++) {
        sample s;
        caller c = {&s, gram};
        dkm_cv_fits fits = {.user = &c, .gram = gram, .fit = callers_fit};
        CHECK_OK(ctx, open_sample(ctx, LABELS, "class", &s));
        s.problem.method = &dkm_cv_refit;
        s.problem.options = &fits;
        s.problem.settings = 3;
        compare(&s, fit_knn);
        close_sample(&s);
    }
}

static void what_cannot_be_is_refused(dkm_ctx *ctx)
{
    dkm_cv_result result;
    double bad[GAMMAS] = {1, -1};
    sample s;

    CHECK_OK(ctx, open_sample(ctx, DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.folds = M + 1;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "cannot fill") != NULL);
    dkm_cv_result_free(&result);
    s.problem.folds = FOLDS;
    s.problem.inner = M;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    dkm_cv_result_free(&result);
    s.problem.inner = 0;
    s.problem.loss = DKM_LOSS_EDIT;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_UNSUPPORTED);
    dkm_cv_result_free(&result);
    s.problem.loss = DKM_LOSS_KERNEL;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    dkm_cv_result_free(&result);
    s.problem.loss = DKM_LOSS_MSE;
    s.ridge.gamma = bad;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    dkm_cv_result_free(&result);
    s.ridge.gamma = gammas;
    s.problem.groups = dkm_ctx_size(ctx) + 1;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    dkm_cv_result_free(&result);
    close_sample(&s);
}

/* One group fails, and all ranks hear why. */
static dkm_status fail_in_one_cell(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                                   dkm_data **X, dkm_data **Y, dkm_model **model)
{
    if (kernel == KERNELS - 1 && setting == 2)
        return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_NUMERIC, "a cell that fails"));
    return callers_fit(user, ctx, kernel, setting, X, Y, model);
}

static void one_bad_group_fails_them_all(dkm_ctx *ctx)
{
    dkm_cv_result result;
    sample s;
    caller c = {&s, 1};
    dkm_cv_fits fits = {.user = &c, .gram = 1, .fit = fail_in_one_cell};

    CHECK_OK(ctx, open_sample(ctx, LABELS, "class", &s));
    s.problem.method = &dkm_cv_refit;
    s.problem.options = &fits;
    s.problem.settings = 3;
    s.problem.groups = dkm_ctx_size(ctx);
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_NUMERIC);
    CHECK(strstr(dkm_ctx_message(ctx), "a cell that fails") != NULL);
    dkm_cv_result_free(&result);
    close_sample(&s);
}

static dkm_status validate_small(dkm_ctx *ctx, int groups)
{
    dkm_eigen_settings eigen = dkm_eigen_settings_default();
    dkm_cv_result result = {0};
    dkm_status status = DKM_OK;
    sample s;

    eigen.components = 2;
    DKM_TRY(open_sample(ctx, LABELS, "class", &s));
    s.problem.method = &dkm_cv_kde;
    s.problem.kernels = 1;
    s.problem.settings = 1;
    s.ridge.gammas = s.ridge.components = 1;
    s.ridge.eigen = &eigen;
    s.problem.folds = 2;
    s.problem.inner = groups > 1 ? 2 : 0;
    s.problem.groups = groups;
    DKM_TRY(dkm_cross_validate(ctx, &s.problem, &result));
out:
    dkm_cv_result_free(&result);
    close_sample(&s);
    return status;
}

static dkm_status validate_together(dkm_ctx *ctx)
{
    return validate_small(ctx, 1);
}

static dkm_status validate_apart(dkm_ctx *ctx)
{
    return validate_small(ctx, dkm_ctx_size(ctx));
}

static void every_failed_allocation_is_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, validate_together);
    check_every_allocation(ctx, 0, validate_apart);
}

static const check_case cases[] = {CASE(krr_equals_refits),
                                   CASE(krr_of_labels_equals_refits_nested),
                                   CASE(training_on_one_fold_equals_refits_nested),
                                   CASE(kde_equals_refits_nested),
                                   CASE(many_gammas_agree_with_few),
                                   CASE(kernels_in_batches_agree_with_all_at_once),
                                   CASE(callers_fits_equal_refits),
                                   CASE(what_cannot_be_is_refused),
                                   CASE(one_bad_group_fails_them_all),
                                   CASE(every_failed_allocation_is_agreed_on)};
CHECK_MAIN(cases)
