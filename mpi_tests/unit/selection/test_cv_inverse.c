/* So many folds that an inverse of the whole matrix serves them, where ranks work alone. Losses
 * beside those of refits, reference_cv.c. */
#include <math.h>

#include <dkmap/cv.h>

#include "reference/reference_cv.h"
#include "support/check.h"

enum { MANY = 5, COMPONENTS = 3 };

static void krr_equals_refits(dkm_ctx *ctx)
{
    cv_sample s;

    for (int nested = 0; nested < 2; nested++) {
        CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
        s.problem.method = &dkm_cv_krr;
        s.problem.folds = nested ? MANY : CV_FOLDS_MOST;
        s.problem.inner = nested ? MANY : 0;
        s.ridge.center = 1;
        cv_compare(&s, cv_fit_krr);
        cv_sample_close(&s);
    }
}

/* Nested, with some components of outputs of a kind. */
static void compare_kde(dkm_ctx *ctx, cv_output kind, const char *ky)
{
    dkm_eigen_settings eigen = dkm_eigen_settings_default();
    cv_sample s;

    eigen.components = COMPONENTS;
    CHECK_OK(ctx, cv_sample_open(ctx, kind, ky, &s));
    s.problem.method = &dkm_cv_kde;
    s.problem.folds = s.problem.inner = MANY;
    s.ridge.components = 1;
    s.ridge.eigen = &eigen;
    cv_compare(&s, cv_fit_kde);
    cv_sample_close(&s);
}

/* Outputs of a high rank have no base that serves all splits. */
static void strings_equal_refits(dkm_ctx *ctx)
{
    compare_kde(ctx, CV_STRINGS, "normalize(spectrum(p=2))");
}

static void few_columns_equal_refits(dkm_ctx *ctx)
{
    compare_kde(ctx, CV_DENSE, "linear");
}

static void classes_equal_refits(dkm_ctx *ctx)
{
    compare_kde(ctx, CV_LABELS, "class");
}

/* Predictions down to 1e-100, of which no digit is left in a difference of numbers near 1. */
static void faint_predictions_equal_refits(dkm_ctx *ctx)
{
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_LABELS, "class", &s));
    for (int k = 0; k < CV_KERNELS; k++) {
        dkm_kernel_destroy(&s.kx[k]);
        CHECK_OK(ctx, dkm_kernel_parse(ctx, k ? "rbf(sigma=0.1)" : "rbf(sigma=0.04)", &s.kx[k]));
    }
    s.problem.method = &dkm_cv_krr;
    s.problem.folds = s.problem.inner = MANY;
    cv_compare(&s, cv_fit_krr);
    cv_sample_close(&s);
}

/* A ridge too small for an inverse to be trusted: factors are taken, and jitter is added. */
static void a_tiny_ridge_does_without_the_inverse(dkm_ctx *ctx)
{
    static const double tiny[CV_GAMMAS] = {1e-14, 0.5};
    dkm_cv_result apart, together;
    cv_sample s;

    CHECK_OK(ctx, cv_sample_open(ctx, CV_DENSE, "linear", &s));
    s.problem.method = &dkm_cv_krr;
    s.problem.folds = CV_FOLDS_MOST;
    s.problem.groups = dkm_ctx_size(ctx);
    s.ridge.gamma = tiny;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &apart));
    s.problem.groups = 1;
    CHECK_OK(ctx, dkm_cross_validate(ctx, &s.problem, &together));
    for (dkm_idx p = 0; p < CV_KERNELS * CV_GAMMAS && apart.table && together.table; p++) {
        CHECK(isfinite(apart.table[p].mean));
        if (p % CV_GAMMAS == 1)
            CHECK_CLOSE(apart.table[p].mean, together.table[p].mean, 1e-10);
    }
    dkm_cv_result_free(&together);
    dkm_cv_result_free(&apart);
    cv_sample_close(&s);
}

static const check_case cases[] = {CASE(krr_equals_refits),
                                   CASE(strings_equal_refits),
                                   CASE(few_columns_equal_refits),
                                   CASE(classes_equal_refits),
                                   CASE(faint_predictions_equal_refits),
                                   CASE(a_tiny_ridge_does_without_the_inverse)};
CHECK_MAIN(cases)
