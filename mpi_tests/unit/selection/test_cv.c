/* Losses of cross-validation beside those of a slow reference, reference_cv.c. */
#include <math.h>
#include <string.h>

#include <dkmap/cv.h>
#include <dkmap/knn.h>

#include "reference/reference_cv.h"
#include "support/check.h"

enum { INNER = 2 };

static void krr_equals_refits(dkm_ctx *ctx)
{
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.ridge.center = 1;
    cv_compare(&s, cv_fit_krr);
    cv_sample_close(&s);
}

static void training_on_one_fold_equals_refits_nested(dkm_ctx *ctx)
{
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.train_on_one = 1;
    s.problem.inner = INNER;
    cv_compare(&s, cv_fit_krr);
    cv_sample_close(&s);
}

static void krr_of_labels_equals_refits_nested(dkm_ctx *ctx)
{
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_LABELS, "class", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.inner = INNER;
    cv_compare(&s, cv_fit_krr);
    cv_sample_close(&s);
}

/* Numbers, more than there are, a share and all, in one list. */
static void kde_equals_refits_nested(dkm_ctx *ctx)
{
    enum { COMPONENTS = 4 };
    static const cv_output kinds[] = {CV_DENSE, CV_LABELS, CV_STRINGS, CV_DENSE};
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
        cv_sample s;
        CHECK_OK(ctx, cv_sample_open(ctx, kinds[k], kernels[k], &s));
        s.problem.method = &dkm_cv_kde;
        s.problem.settings = COMPONENTS * CV_GAMMAS;
        s.problem.inner = k == 1 ? INNER : 0;
        s.ridge.components = COMPONENTS;
        s.ridge.eigen = eigen;
        if (k == 3) {
            s.problem.loss = DKM_LOSS_KERNEL;
            s.problem.loss_kernel = s.ky[0];
        }
        cv_compare(&s, cv_fit_kde);
        cv_sample_close(&s);
    }
}

/* More gammas than a factor each is worth: one eigendecomposition serves them all. */
static void many_gammas_agree_with_few(dkm_ctx *ctx)
{
    enum { MANY = 24 };
    double list[MANY];
    dkm_cv_result few, many;
    cv_sample s;

    for (int g = 0; g < MANY; g++)
        list[g] = g < CV_GAMMAS ? cv_gammas[g] : 1.0 + g;
    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &few));
    s.ridge.gammas = s.problem.settings = MANY;
    s.ridge.gamma = list;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &many));
    for (int p = 0; p < CV_KERNELS * CV_GAMMAS; p++)
        CHECK_CLOSE(many.table[p / CV_GAMMAS * MANY + p % CV_GAMMAS].mean, few.table[p].mean, 1e-9);
    dkm_cv_result_free(&many);
    dkm_cv_result_free(&few);
    cv_sample_close(&s);
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
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
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
    dkm_ctx_set_memory(ctx, sum + 8.3 * 8 * CV_M * CV_M + 3000.0 * dkm_ctx_size(ctx));
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
    cv_sample_close(&s);
}

/* Fits that a caller brings: inputs as they are, or as rows of their Gram matrix. */
typedef struct caller {
    cv_sample *s;
    int gram;
} caller;

static dkm_status fit_knn(cv_sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                          const dkm_data *X, const dkm_data *Y, dkm_model **model)
{
    dkm_knn_settings settings = {.k = setting + 1};

    return dkm_knn_fit(ctx, X, Y, s->kx[kernel], NULL, &settings, model);
}

static dkm_status callers_fit(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                              const dkm_cv_examples *examples, dkm_model **model)
{
    caller *c = user;
    const char *text = c->gram ? "gram" : dkm_kernel_text(c->s->kx[kernel]);
    dkm_knn_settings settings = {.k = setting + 1};
    dkm_kernel *own = NULL;
    dkm_status status = dkm_kernel_parse(ctx, text, &own);

    if (status == DKM_OK)
        status = dkm_knn_fit(ctx, examples->X, examples->Y, own, NULL, &settings, model);
    dkm_kernel_destroy(&own);
    return status;
}

static void callers_fits_equal_refits(dkm_ctx *ctx)
{
    for (int gram = 0; gram < 2; gram++) {
        cv_sample s;
        caller c = {&s, gram};
        dkm_cv_fits fits = {.user = &c, .gram = gram, .fit = callers_fit};
        CHECK_OK(ctx, cv_sample_open(ctx, CV_LABELS, "class", &s));
        s.problem.method = &dkm_cv_refit;
        s.problem.options = &fits;
        s.problem.settings = 3;
        cv_compare(&s, fit_knn);
        cv_sample_close(&s);
    }
}

static void what_cannot_be_is_refused(dkm_ctx *ctx)
{
    dkm_cv_result result;
    double bad[CV_GAMMAS] = {1, -1};
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.folds = CV_M + 1;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "cannot fill") != NULL);
    dkm_cv_result_free(&result);
    s.problem.folds = CV_FOLDS;
    s.problem.inner = CV_M;
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
    s.ridge.gamma = cv_gammas;
    s.problem.groups = dkm_ctx_size(ctx) + 1;
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_ARG);
    dkm_cv_result_free(&result);
    cv_sample_close(&s);
}

/* One group fails, and all ranks hear why. */
static dkm_status fail_in_one_cell(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                                   const dkm_cv_examples *examples, dkm_model **model)
{
    if (kernel == CV_KERNELS - 1 && setting == 2)
        return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_NUMERIC, "a cell that fails"));
    return callers_fit(user, ctx, kernel, setting, examples, model);
}

static void one_bad_group_fails_them_all(dkm_ctx *ctx)
{
    dkm_cv_result result;
    cv_sample s;
    caller c = {&s, 1};
    dkm_cv_fits fits = {.user = &c, .gram = 1, .fit = fail_in_one_cell};

    CHECK_OK(ctx, cv_sample_open(ctx, CV_LABELS, "class", &s));
    s.problem.method = &dkm_cv_refit;
    s.problem.options = &fits;
    s.problem.settings = 3;
    s.problem.groups = dkm_ctx_size(ctx);
    CHECK(dkm_cross_validate(ctx, &s.problem, &result) == DKM_ERR_NUMERIC);
    CHECK(strstr(dkm_ctx_message(ctx), "a cell that fails") != NULL);
    dkm_cv_result_free(&result);
    cv_sample_close(&s);
}

/* A smooth function of points on a line. */
static dkm_status make_line(dkm_ctx *ctx, dkm_idx m, dkm_data **X, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(ctx, m, 1, X));
    DKM_TRY(dkm_data_create_dense(ctx, m, 1, Y));
    for (dkm_idx k = 0; k < dkm_data_local_rows(*X); k++) {
        dkm_data_values(*X)[k] = 0.01 * (double)(dkm_data_local_first(*X) + k);
        dkm_data_values(*Y)[k] = sin(dkm_data_values(*X)[k]);
    }
out:
    return status;
}

/* Bytes of the fullest rank in a cross-validation of @p m examples with the first of the kernels. */
static double peak_with_kernels(dkm_ctx *outer, dkm_idx m, dkm_idx kernels)
{
    dkm_ctx *ctx = NULL;
    dkm_cv_result result = {0};
    dkm_data *X = NULL, *Y = NULL;
    double peak = 0;
    cv_sample s;

    CHECK_OK(outer, dkm_ctx_create(dkm_ctx_comm(outer), &ctx));
    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
    CHECK_OK(ctx, make_line(ctx, m, &X, &Y));
    s.problem.method = &dkm_cv_krr;
    s.problem.X = X;
    s.problem.Y = Y;
    s.problem.kernels = kernels;
    s.problem.groups = dkm_ctx_size(ctx) > 1 ? 2 : 1;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &result));
    dkm_cv_result_free(&result);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    cv_sample_close(&s);
    peak = (double)dkm_ctx_peak_bytes(ctx);
    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    dkm_ctx_destroy(&ctx);
    return peak;
}

/* What groups of ranks hold counts for the rank that is in them. */
static void more_kernels_take_no_more_memory(dkm_ctx *ctx)
{
    const dkm_idx m = 800;
    double one = peak_with_kernels(ctx, m, 1), two = peak_with_kernels(ctx, m, CV_KERNELS);

    CHECK(one > 8.0 * (double)(m * m) / (double)dkm_ctx_size(ctx));
    CHECK(two < 1.1 * one);
}

static dkm_status validate_small(dkm_ctx *ctx, int groups)
{
    dkm_eigen_settings eigen = dkm_eigen_settings_default();
    dkm_cv_result result = {0};
    dkm_status status = DKM_OK;
    cv_sample s;

    eigen.components = 2;
    DKM_TRY(cv_sample_open(ctx, CV_LABELS, "class", &s));
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
    cv_sample_close(&s);
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
                                   CASE(more_kernels_take_no_more_memory),
                                   CASE(callers_fits_equal_refits),
                                   CASE(what_cannot_be_is_refused),
                                   CASE(one_bad_group_fails_them_all),
                                   CASE(every_failed_allocation_is_agreed_on)};
CHECK_MAIN(cases)
