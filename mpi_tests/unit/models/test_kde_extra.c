/* Outputs without inputs, and shrinking of coordinates by their variance. */
#include <math.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/kde.h>
#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "support/check.h"

enum { M = 23, EXTRA = 10, NEW = 7, D = 4 };

/* Rows of noise whose columns differ in width, less @p mean. */
static dkm_status noise(dkm_ctx *ctx, uint64_t stream, dkm_idx m, const double *mean, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, D, X);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*X); i++)
        for (dkm_idx j = 0; j < D; j++)
            dkm_data_values(*X)[i * D + j] =
                dkm_random_normal(8, stream, (uint64_t)(dkm_data_local_first(*X) + i),
                                  (uint64_t)j) *
                    (double)(j + 1) -
                mean[j];
    return status;
}

static const double none[D] = {0};

static dkm_status fit(dkm_ctx *ctx, dkm_kde_settings *s, int with_extra, dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_data *X = NULL, *Y = NULL, *extra = NULL;

    *model = NULL;
    s->ridge.gamma = 0.1;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=4)", &kx));
    DKM_TRY(dkm_kernel_parse(ctx, "linear", &ky));
    DKM_TRY(noise(ctx, 0, M, none, &X));
    DKM_TRY(noise(ctx, 1, M, none, &Y));
    if (with_extra)
        DKM_TRY(noise(ctx, 2, EXTRA, none, &extra));
    s->extra = extra;
    DKM_TRY(dkm_kde_fit(ctx, X, Y, kx, ky, s, model, NULL));
out:
    s->extra = NULL;
    dkm_data_destroy(&extra);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

static dkm_kde_settings settings_of(dkm_idx components, double shrink)
{
    dkm_kde_settings s = dkm_kde_settings_default();

    s.eigen.components = components;
    s.shrink = shrink;
    return s;
}

/* Mean and scatter of all outputs, with the extra ones, by hand on every rank. */
static void moments(double *mean, double C[D][D])
{
    double rows[M + EXTRA][D];

    memset(mean, 0, D * sizeof *mean);
    for (int i = 0; i < M + EXTRA; i++)
        for (int j = 0; j < D; j++) {
            rows[i][j] =
                dkm_random_normal(8, i < M ? 1 : 2, (uint64_t)(i < M ? i : i - M), (uint64_t)j) *
                (j + 1);
            mean[j] += rows[i][j] / (M + EXTRA);
        }
    for (int j = 0; j < D; j++)
        for (int k = 0; k < D; k++) {
            C[j][k] = 0;
            for (int i = 0; i < M + EXTRA; i++)
                C[j][k] += (rows[i][j] - mean[j]) * (rows[i][k] - mean[k]);
        }
}

/* The leading eigenvector, by powers. */
static void leading(double C[D][D], double *v)
{
    for (int j = 0; j < D; j++)
        v[j] = 1.0;
    for (int round = 0; round < 2000; round++) {
        double w[D] = {0}, norm = 0;
        for (int j = 0; j < D; j++) {
            for (int k = 0; k < D; k++)
                w[j] += C[j][k] * v[k];
            norm += w[j] * w[j];
        }
        for (int j = 0; j < D; j++)
            v[j] = w[j] / sqrt(norm);
    }
}

/* Ridge regression, without an intercept, on the outputs of the pairs less the mean of all. */
static dkm_status ridge(dkm_ctx *ctx, const double *mean, const dkm_data *Q, dkm_data **F)
{
    dkm_status status = DKM_OK;
    dkm_krr_settings s = dkm_krr_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;

    s.ridge.gamma = 0.1;
    s.center = 0;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=4)", &kernel));
    DKM_TRY(noise(ctx, 0, M, none, &X));
    DKM_TRY(noise(ctx, 1, M, mean, &Y));
    DKM_TRY(dkm_krr_fit(ctx, X, Y, kernel, &s, &model, NULL));
    DKM_TRY(dkm_model_predict(model, Q, F));
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* mean + v v' f(x), the part along v scaled by l / (l + S l); or mean + f(x) for all directions. */
static void check_against_ridge(dkm_ctx *ctx, dkm_idx components, double shrink)
{
    dkm_kde_settings s = settings_of(components, shrink);
    double mean[D], C[D][D], v[D];
    dkm_data *Q = NULL, *F = NULL, *P = NULL;
    dkm_model *model = NULL;

    moments(mean, C);
    leading(C, v);
    CHECK_OK(ctx, noise(ctx, 3, NEW, none, &Q));
    CHECK_OK(ctx, fit(ctx, &s, 1, &model));
    CHECK_OK(ctx, dkm_model_predict(model, Q, &P));
    CHECK_OK(ctx, ridge(ctx, mean, Q, &F));
    for (dkm_idx i = 0; i < dkm_data_local_rows(P); i++) {
        const double *f = dkm_data_values_const(F) + i * D, *p = dkm_data_values_const(P) + i * D;
        double along = 0;
        for (int j = 0; j < D; j++)
            along += v[j] * f[j] / (1.0 + shrink);
        for (int j = 0; j < D; j++)
            CHECK_CLOSE(p[j], mean[j] + (components == 1 ? v[j] * along : f[j]), 1e-9);
    }
    dkm_data_destroy(&F);
    dkm_data_destroy(&P);
    dkm_data_destroy(&Q);
    dkm_model_destroy(&model);
}

static void extra_outputs_move_the_mean_and_the_directions(dkm_ctx *ctx)
{
    check_against_ridge(ctx, D, 0.0);
    check_against_ridge(ctx, 1, 0.0);
    check_against_ridge(ctx, 1, 1.5);
}

static dkm_data *coordinates(dkm_ctx *ctx, dkm_kde_settings *s)
{
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_NONE};
    dkm_data *Q = NULL, *Z = NULL;
    dkm_model *model = NULL;

    CHECK_OK(ctx, noise(ctx, 3, NEW, none, &Q));
    CHECK_OK(ctx, fit(ctx, s, 1, &model));
    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    CHECK_OK(ctx, dkm_model_predict(model, Q, &Z));
    dkm_data_destroy(&Q);
    dkm_model_destroy(&model);
    return Z;
}

/* From r = l / (l + S mean), l / mean = S r / (1 - r): these add up to D, and their squares to
 * those of the entries of the scatter matrix over its mean eigenvalue. */
static void check_shrinking(dkm_ctx *ctx, dkm_kde_learner learner)
{
    /* machines are found to their tolerance, and ratios of small coordinates lose some of it */
    const double S = 0.7, close = learner == DKM_LEARN_SVR ? 1e-5 : 1e-8;
    dkm_kde_settings s = settings_of(D, 0.0);
    double mean[D], C[D][D], trace = 0, squares = 0;
    dkm_data *plain, *shrunk;

    s.learner = learner;
    s.margin.C = 10.0;
    s.margin.tube = 0.01;
    s.margin.tolerance = 1e-9;
    moments(mean, C);
    for (int j = 0; j < D; j++) {
        trace += C[j][j];
        for (int k = 0; k < D; k++)
            squares += C[j][k] * C[j][k];
    }
    plain = coordinates(ctx, &s);
    s.shrink = S;
    shrunk = coordinates(ctx, &s);
    for (dkm_idx i = 0; i < dkm_data_local_rows(plain); i++) {
        double sum = 0, sum_squares = 0;
        for (dkm_idx k = i * D; k < (i + 1) * D; k++) {
            double r = dkm_data_values_const(shrunk)[k] / dkm_data_values_const(plain)[k];
            double l = S * r / (1.0 - r);
            sum += l;
            sum_squares += l * l;
        }
        CHECK_CLOSE(sum, (double)D, close);
        CHECK_CLOSE(sum_squares, squares / (trace / D) / (trace / D), close);
    }
    dkm_data_destroy(&plain);
    dkm_data_destroy(&shrunk);
}

static void coordinates_shrink_by_their_variance(dkm_ctx *ctx)
{
    check_shrinking(ctx, DKM_LEARN_RIDGE);
    check_shrinking(ctx, DKM_LEARN_SVR);
}

/* What a fit says to extra outputs of @p m rows and @p d columns, or to labels (d = 0). */
static dkm_status try_extra(dkm_ctx *ctx, dkm_idx m, dkm_idx d, dkm_kde_settings s)
{
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL, *extra = NULL;
    dkm_model *model = NULL;
    dkm_status status;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=4)", &kernel));
    CHECK_OK(ctx, noise(ctx, 0, M, none, &X));
    CHECK_OK(ctx, noise(ctx, 1, M, none, &Y));
    CHECK_OK(ctx, d > 0 ? dkm_data_create_dense(ctx, m, d, &extra)
                        : dkm_data_create_labels(ctx, m, &extra));
    s.extra = extra;
    s.ridge.gamma = 0.1;
    status = dkm_kde_fit(ctx, X, Y, kernel, kernel, &s, &model, NULL);
    CHECK((status == DKM_OK) == (model != NULL));
    dkm_model_destroy(&model);
    dkm_data_destroy(&extra);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static void wrong_uses_are_refused(dkm_ctx *ctx)
{
    dkm_kde_settings s = settings_of(2, 0.0);

    CHECK_OK(ctx, try_extra(ctx, 1, D, s));
    CHECK(try_extra(ctx, 0, D, s) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "no extra outputs") != NULL);
    CHECK(try_extra(ctx, 5, D + 1, s) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "5 columns") != NULL);
    CHECK(try_extra(ctx, 5, 0, s) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "labels") != NULL);
    s.landmarks = 1;
    CHECK(try_extra(ctx, 5, D, s) == DKM_ERR_UNSUPPORTED);
    s = settings_of(2, -1.0);
    CHECK(try_extra(ctx, 5, D, s) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "shrink") != NULL);
}

/* Strings travel whole, in order, to whichever rank they fall to. */
static void strings_are_joined_in_order(dkm_ctx *ctx)
{
    dkm_data *parts[2] = {NULL, NULL}, *all = NULL;
    const dkm_idx counts[2] = {5, 9};

    for (int k = 0; k < 2; k++) {
        dkm_idx lengths[9], length;
        int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
        for (dkm_idx i = 0; i < dkm_slab_count(counts[k], rank, size); i++)
            lengths[i] = (dkm_slab_first(counts[k], rank, size) + i) % 4;
        CHECK_OK(ctx, dkm_data_create_strings(ctx, counts[k], lengths, &parts[k]));
        for (dkm_idx i = 0; i < dkm_data_local_rows(parts[k]); i++) {
            char *text = dkm_data_string(parts[k], i, &length);
            memset(text, (int)('a' + 10 * k + dkm_data_local_first(parts[k]) + i), (size_t)length);
        }
    }
    CHECK_OK(ctx, dkm_data_join(parts[0], parts[1], &all));
    CHECK(dkm_data_rows(all) == 14 && dkm_data_type(all) == DKM_STRINGS);
    for (dkm_idx i = 0; i < dkm_data_local_rows(all); i++) {
        dkm_idx ig = dkm_data_local_first(all) + i, at = ig < 5 ? ig : ig - 5, length;
        const char *text = dkm_data_string_const(all, i, &length);
        CHECK(length == at % 4);
        for (dkm_idx c = 0; c < length; c++)
            CHECK(text[c] == 'a' + (ig < 5 ? 0 : 10) + at);
    }
    dkm_data_destroy(&all);
    dkm_data_destroy(&parts[1]);
    dkm_data_destroy(&parts[0]);
}

static dkm_status fit_with_extra(dkm_ctx *ctx)
{
    dkm_kde_settings s = settings_of(2, 1.0);
    dkm_model *model = NULL;
    dkm_status status = fit(ctx, &s, 1, &model);

    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_with_extra);
}

static const check_case cases[] = {
    CASE(extra_outputs_move_the_mean_and_the_directions),
    CASE(coordinates_shrink_by_their_variance),
    CASE(wrong_uses_are_refused),
    CASE(strings_are_joined_in_order),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
