#include <math.h>
#include <string.h>

#include <dkmap/kde.h>
#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "search/topk.h"
#include "support/check.h"

enum { M = 36, NEW = 13 };

static dkm_status noise(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_idx d, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, d, X);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*X); i++)
        for (dkm_idx j = 0; j < d; j++)
            dkm_data_values(*X)[i * d + j] =
                dkm_random_normal(8, stream, (uint64_t)(dkm_data_local_first(*X) + i), (uint64_t)j);
    return status;
}

/* Three classes, as many of each. */
static dkm_status classes(dkm_ctx *ctx, dkm_data **Y)
{
    dkm_status status = dkm_data_create_labels(ctx, M, Y);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = (double)(10 + (dkm_data_local_first(*Y) + i) % 3);
    return status;
}

static dkm_status fit_kde(dkm_ctx *ctx, const dkm_data *Y, const char *output_kernel,
                          dkm_idx components, dkm_model **model, dkm_kde_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kde_settings s = dkm_kde_settings_default();
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_data *X = NULL;

    *model = NULL;
    s.ridge.gamma = 0.1;
    s.eigen.components = components;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kx));
    DKM_TRY(dkm_kernel_parse(ctx, output_kernel, &ky));
    DKM_TRY(noise(ctx, 0, M, 2, &X));
    DKM_TRY(dkm_kde_fit(ctx, X, Y, kx, ky, &s, model, info));
out:
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

static dkm_status fit_krr(dkm_ctx *ctx, const dkm_data *Y, dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_krr_settings s = dkm_krr_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL;

    s.ridge.gamma = 0.1;
    s.center = 1;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kernel));
    DKM_TRY(noise(ctx, 0, M, 2, &X));
    DKM_TRY(dkm_krr_fit(ctx, X, Y, kernel, &s, model, NULL));
out:
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* Largest difference of what two models predict for the same new inputs. */
static double prediction_gap(dkm_ctx *ctx, dkm_model *a, dkm_model *b)
{
    dkm_data *X = NULL, *A = NULL, *B = NULL;
    double gap = 0;

    CHECK_OK(ctx, noise(ctx, 1, NEW, 2, &X));
    CHECK_OK(ctx, dkm_model_predict(a, X, &A));
    CHECK_OK(ctx, dkm_model_predict(b, X, &B));
    CHECK(dkm_data_type(A) == dkm_data_type(B) && dkm_data_cols(A) == dkm_data_cols(B));
    for (dkm_idx k = 0; k < dkm_data_local_rows(A) * dkm_data_cols(A); k++)
        gap = fmax(gap, fabs(dkm_data_values_const(A)[k] - dkm_data_values_const(B)[k]));
    MPI_Allreduce(MPI_IN_PLACE, &gap, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    dkm_data_destroy(&X);
    dkm_data_destroy(&A);
    dkm_data_destroy(&B);
    return gap;
}

/* All components of a linear output kernel: ridge regression with an intercept. */
static void linear_outputs_are_ridge_regression(dkm_ctx *ctx)
{
    dkm_data *Y = NULL;
    dkm_model *kde = NULL, *krr = NULL;
    dkm_kde_info info;

    CHECK_OK(ctx, noise(ctx, 2, M, 4, &Y));
    CHECK_OK(ctx, fit_krr(ctx, Y, &krr));
    CHECK_OK(ctx, fit_kde(ctx, Y, "linear", M, &kde, &info));
    dkm_data_destroy(&Y);
    CHECK(info.eigen.components == 4 && info.m == M);
    CHECK_CLOSE(prediction_gap(ctx, kde, krr), 0.0, 1e-11);
    dkm_model_destroy(&kde);
    dkm_model_destroy(&krr);
}

/* With balanced classes the nearest class is the largest column of one-hot regression. */
static void classes_are_those_of_one_hot_regression(dkm_ctx *ctx)
{
    dkm_data *Y = NULL;
    dkm_model *kde = NULL, *krr = NULL;
    dkm_kde_info info;

    CHECK_OK(ctx, classes(ctx, &Y));
    CHECK_OK(ctx, fit_krr(ctx, Y, &krr));
    CHECK_OK(ctx, fit_kde(ctx, Y, "class", M, &kde, &info));
    dkm_data_destroy(&Y);
    CHECK(info.eigen.components == 2); /* one fewer than classes, after centering */
    CHECK(dkm_model_output_type(kde) == DKM_LABELS);
    CHECK(prediction_gap(ctx, kde, krr) == 0.0);
    dkm_model_destroy(&kde);
    dkm_model_destroy(&krr);
}

/* Without a ridge to speak of the nearest candidate of a training input is its own output. */
static void candidates_given_are_chosen_from(dkm_ctx *ctx)
{
    dkm_data *Y = NULL, *X = NULL, *P = NULL;
    dkm_model *model = NULL;
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_CANDIDATES, .top = 3};

    CHECK_OK(ctx, noise(ctx, 2, M, 4, &Y));
    CHECK_OK(ctx, fit_kde(ctx, Y, "rbf(sigma=2)", M, &model, NULL));
    dkm_data_destroy(&Y);
    CHECK_OK(ctx, noise(ctx, 2, M, 4, &pre.candidates));
    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    dkm_preimage_settings_clear(&pre);
    CHECK(dkm_model_output_cols(model) == 6);
    CHECK_OK(ctx, noise(ctx, 1, NEW, 2, &X));
    CHECK_OK(ctx, dkm_model_predict(model, X, &P));
    for (dkm_idx i = 0; i < dkm_data_local_rows(P); i++) {
        const double *row = dkm_data_values_const(P) + 6 * i;
        CHECK(row[1] <= row[3] && row[3] <= row[5] && row[1] >= 0);
        CHECK(row[0] >= 0 && row[0] < M && row[0] != row[2]);
    }
    dkm_data_destroy(&P);
    /* the training outputs given as a file are as good as the training outputs */
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_CANDIDATES};
    CHECK_OK(ctx, noise(ctx, 2, M, 4, &pre.candidates));
    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    dkm_preimage_settings_clear(&pre);
    CHECK_OK(ctx, noise(ctx, 2, M, 4, &Y));
    dkm_model *plain = NULL;
    CHECK_OK(ctx, fit_kde(ctx, Y, "rbf(sigma=2)", M, &plain, NULL));
    dkm_data_destroy(&Y);
    CHECK(prediction_gap(ctx, model, plain) == 0.0);
    dkm_data_destroy(&X);
    dkm_model_destroy(&plain);
    dkm_model_destroy(&model);
}

static void wrong_pre_images_are_refused(dkm_ctx *ctx)
{
    dkm_data *Y = NULL;
    dkm_model *model = NULL;
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_LINEAR};

    CHECK_OK(ctx, noise(ctx, 2, M, 4, &Y));
    CHECK_OK(ctx, fit_kde(ctx, Y, "rbf(sigma=2)", 5, &model, NULL));
    dkm_data_destroy(&Y);
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_UNSUPPORTED);
    dkm_preimage_settings_clear(&pre);
    CHECK(strstr(dkm_ctx_message(ctx), "use candidates") != NULL);
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_CANDIDATES};
    CHECK_OK(ctx, noise(ctx, 2, M, 3, &pre.candidates));
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_CANDIDATES, .top = M + 1};
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    dkm_model_destroy(&model);
}

static void a_model_predicts_nothing_after_refused_settings(dkm_ctx *ctx)
{
    dkm_data *Y = NULL, *X = NULL, *P = NULL;
    dkm_model *model = NULL;
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_CANDIDATES, .top = M + 1};

    CHECK_OK(ctx, noise(ctx, 2, M, 4, &Y));
    CHECK_OK(ctx, noise(ctx, 1, NEW, 2, &X));
    CHECK_OK(ctx, fit_kde(ctx, Y, "rbf(sigma=2)", 5, &model, NULL));
    dkm_data_destroy(&Y);
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    CHECK(dkm_model_batch_rows(model) == 1);
    CHECK(dkm_model_predict(model, X, &P) == DKM_ERR_ARG && P == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "configure the model again") != NULL);
    CHECK(dkm_model_decode(model, X, &P) == DKM_ERR_ARG && P == NULL);
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_CANDIDATES, .top = 2};
    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    dkm_preimage_settings_clear(&pre);
    CHECK_OK(ctx, dkm_model_predict(model, X, &P));
    dkm_data_destroy(&P);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
}

/* norms of candidates far from their coordinates count: the plain loop agrees, ties included. */
static void the_nearest_are_found_among_all_ranks(dkm_ctx *ctx)
{
    enum { P = 3, C = 50, TOP = 5 };
    dkm_candidates c = {0};
    dkm_data *Q = NULL;
    dkm_idx *index = NULL;
    double *distance = NULL;

    CHECK_OK(ctx, noise(ctx, 5, NEW, P, &Q));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, C, P, &c.Z));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, dkm_data_local_rows(c.Z), &c.norms)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(c.Z); i++) {
        dkm_idx ig = (dkm_data_local_first(c.Z) + i) / 2; /* every candidate twice */
        for (dkm_idx j = 0; j < P; j++)
            dkm_data_values(c.Z)[i * P + j] = dkm_random_normal(6, 0, (uint64_t)ig, (uint64_t)j);
        c.norms[i] = 20.0 + (double)(ig % 4);
    }
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, TOP * dkm_data_local_rows(Q), &index)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, TOP * dkm_data_local_rows(Q), &distance)));
    CHECK_OK(ctx, dkm_topk(Q, &c, TOP, index, distance));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Q); i++) {
        const double *q = dkm_data_values_const(Q) + i * P;
        double best = INFINITY;
        dkm_idx at = -1;
        for (dkm_idx k = 0; k < C; k++) {
            double d = 20.0 + (double)(k / 2 % 4);
            for (dkm_idx j = 0; j < P; j++)
                d += q[j] * (q[j] - 2 * dkm_random_normal(6, 0, (uint64_t)(k / 2), (uint64_t)j));
            at = d < best - 1e-12 ? k : at;
            best = fmin(best, d);
        }
        CHECK(index[i * TOP] == at && index[i * TOP + 1] == at + 1);
        CHECK_CLOSE(distance[i * TOP], best, 1e-12 * best);
    }
    DKM_FREE(index);
    DKM_FREE(distance);
    dkm_candidates_clear(&c);
    dkm_data_destroy(&Q);
}

/* Narrow kernel, two outputs with a smooth function of the inputs. */
static dkm_status fit_svr(dkm_ctx *ctx, double C, double tube, dkm_model **model,
                          dkm_kde_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kde_settings s = dkm_kde_settings_default();
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_data *X = NULL, *Y = NULL;

    *model = NULL;
    s.learner = DKM_LEARN_SVR;
    s.margin.C = C;
    s.margin.tube = tube;
    s.margin.tolerance = 1e-6;
    s.eigen.components = 2;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=0.2)", &kx));
    DKM_TRY(dkm_kernel_parse(ctx, "linear", &ky));
    DKM_TRY(noise(ctx, 0, M, 2, &X));
    DKM_TRY(noise(ctx, 3, M, 2, &Y));
    DKM_TRY(dkm_kde_fit(ctx, X, Y, kx, ky, &s, model, info));
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

/* Coordinates are outputs less their mean, turned: with C large no output is further from its
 * prediction than the tube allows on either axis, and some are as far. */
static void machines_leave_outputs_inside_their_tubes(dkm_ctx *ctx)
{
    const double tube = 0.3;
    dkm_kde_info info;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Y = NULL, *P = NULL;
    double most = 0;

    CHECK_OK(ctx, fit_svr(ctx, 1e4, tube, &model, &info));
    CHECK(info.support > 0 && info.support < 2 * M);
    CHECK_OK(ctx, noise(ctx, 0, M, 2, &X));
    CHECK_OK(ctx, noise(ctx, 3, M, 2, &Y));
    CHECK_OK(ctx, dkm_model_predict(model, X, &P));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        const double *y = dkm_data_values_const(Y) + 2 * i, *p = dkm_data_values_const(P) + 2 * i;
        most = fmax(most, hypot(y[0] - p[0], y[1] - p[1]));
    }
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    CHECK(most < tube * sqrt(2.0) + 1e-3 && most > tube - 1e-3);
    dkm_data_destroy(&P);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
}

static dkm_status fit_machines(dkm_ctx *ctx)
{
    dkm_model *model = NULL;
    dkm_status status = fit_svr(ctx, 1.0, 0.1, &model, NULL);

    dkm_model_destroy(&model);
    return status;
}

static dkm_status fit_and_predict(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_data *Y = NULL, *X = NULL, *P = NULL;
    dkm_model *model = NULL;

    DKM_TRY(classes(ctx, &Y));
    DKM_TRY(fit_kde(ctx, Y, "class", 2, &model, NULL));
    DKM_TRY(noise(ctx, 1, 3, 2, &X));
    DKM_TRY(dkm_model_predict(model, X, &P));
out:
    dkm_data_destroy(&P);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_and_predict);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_machines);
}

static double apart(dkm_idx i, dkm_idx n)
{
    return (double)(n > 2 ? i % 4 : i == 0 ? -9 : 12);
}

/* Numbers 0 to 3, each of its own class, and two far from all of them: of four equal classes the
 * nearest one is told, though all kernel values are below the rounding of 1. */
static void a_point_like_no_other_gets_the_class_it_leans_to(dkm_ctx *ctx)
{
    enum { KNOWN = 8, FAR = 2 };
    dkm_kde_settings s = dkm_kde_settings_default();
    dkm_data *X[2] = {NULL, NULL}, *Y = NULL, *pred = NULL;
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_model *model = NULL;

    s.eigen.components = 3;
    for (int k = 0; k < 2; k++) {
        CHECK_OK(ctx, dkm_data_create_dense(ctx, k ? FAR : KNOWN, 1, &X[k]));
        for (dkm_idx i = 0; X[k] && i < dkm_data_local_rows(X[k]); i++)
            dkm_data_values(X[k])[i] = apart(dkm_data_local_first(X[k]) + i, k ? FAR : KNOWN);
    }
    CHECK_OK(ctx, dkm_data_create_labels(ctx, KNOWN, &Y));
    for (dkm_idx i = 0; Y && i < dkm_data_local_rows(Y); i++)
        dkm_data_values(Y)[i] = (double)((dkm_data_local_first(Y) + i) % 4);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1)", &kx));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "class", &ky));
    CHECK_OK(ctx, dkm_kde_fit(ctx, X[0], Y, kx, ky, &s, &model, NULL));
    if (model && X[1])
        CHECK_OK(ctx, dkm_model_predict(model, X[1], &pred));
    for (dkm_idx i = 0; pred && i < dkm_data_local_rows(pred); i++)
        CHECK(dkm_data_values(pred)[i] == (dkm_data_local_first(pred) + i == 0 ? 0.0 : 3.0));
    dkm_data_destroy(&pred);
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X[1]);
    dkm_data_destroy(&X[0]);
}

static const check_case cases[] = {
    CASE(linear_outputs_are_ridge_regression),
    CASE(classes_are_those_of_one_hot_regression),
    CASE(candidates_given_are_chosen_from),
    CASE(wrong_pre_images_are_refused),
    CASE(a_model_predicts_nothing_after_refused_settings),
    CASE(the_nearest_are_found_among_all_ranks),
    CASE(machines_leave_outputs_inside_their_tubes),
    CASE(failing_allocations_are_agreed_on),
    CASE(a_point_like_no_other_gets_the_class_it_leans_to),
};

CHECK_MAIN(cases)
