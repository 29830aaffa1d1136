#include <math.h>
#include <string.h>

#include <dkmap/kpca.h>
#include <dkmap/random.h>

#include "support/check.h"

enum { M = 30, NEW = 11, D = 3 };

static double coordinate(uint64_t stream, dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(4, stream, (uint64_t)i, (uint64_t)j) * (double)(j + 1) + 5.0;
}

static dkm_status points(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, D, X);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*X); i++)
        for (dkm_idx j = 0; j < D; j++)
            dkm_data_values(*X)[i * D + j] = coordinate(stream, dkm_data_local_first(*X) + i, j);
    return status;
}

static dkm_status fit(dkm_ctx *ctx, const char *expression, dkm_idx components, dkm_model **model,
                      dkm_kpca_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kpca_settings s = dkm_kpca_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL;

    *model = NULL;
    s.eigen.components = components;
    DKM_TRY(dkm_kernel_parse(ctx, expression, &kernel));
    DKM_TRY(points(ctx, 0, M, &X));
    DKM_TRY(dkm_kpca_fit(ctx, X, kernel, &s, model, info));
out:
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* All coordinates on every rank: @p z has rows of p numbers. */
static void encode(dkm_ctx *ctx, dkm_model *model, uint64_t stream, dkm_idx m, double *z)
{
    dkm_data *X = NULL, *Z = NULL;
    dkm_idx p = dkm_model_output_cols(model);

    CHECK_OK(ctx, points(ctx, stream, m, &X));
    CHECK_OK(ctx, dkm_model_predict(model, X, &Z));
    CHECK(dkm_data_rows(Z) == m && dkm_data_cols(Z) == p);
    memset(z, 0, (size_t)(m * p) * sizeof *z);
    memcpy(z + dkm_data_local_first(Z) * p, dkm_data_values_const(Z),
           (size_t)(dkm_data_local_rows(Z) * p) * sizeof *z);
    MPI_Allreduce(MPI_IN_PLACE, z, (int)(m * p), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static double dot(const double *a, const double *b, dkm_idx p)
{
    double sum = 0;

    for (dkm_idx k = 0; k < p; k++)
        sum += a[k] * b[k];
    return sum;
}

/* With a linear kernel inner products of coordinates are those of points less the training mean. */
static void linear_components_are_principal_components(dkm_ctx *ctx)
{
    static double z[M * M], znew[NEW * M];
    double mean[D] = {0}, a[D], b[D];
    dkm_model *model = NULL;
    dkm_kpca_info info;

    CHECK_OK(ctx, fit(ctx, "linear", M, &model, &info));
    CHECK(info.eigen.components == D && info.eigen.wanted == M && info.m == M);
    CHECK_CLOSE(info.eigen.explained, 1.0, 1e-12);
    encode(ctx, model, 0, M, z);
    encode(ctx, model, 1, NEW, znew);
    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx j = 0; j < D; j++)
            mean[j] += coordinate(0, i, j) / M;
    for (dkm_idx i = 0; i < NEW; i++)
        for (dkm_idx k = 0; k < M; k++) {
            for (dkm_idx j = 0; j < D; j++) {
                a[j] = coordinate(1, i, j) - mean[j];
                b[j] = coordinate(0, k, j) - mean[j];
            }
            CHECK_CLOSE(dot(znew + i * D, z + k * D, D), dot(a, b, D), 1e-11);
        }
    dkm_model_destroy(&model);
}

/* Training coordinates have mean zero, no correlation, and fall in variance. */
static void coordinates_are_uncorrelated(dkm_ctx *ctx)
{
    enum { P = 6 };
    static double z[M * P];
    dkm_model *model = NULL;
    double last = INFINITY;

    CHECK_OK(ctx, fit(ctx, "rbf(sigma=3)", P, &model, NULL));
    encode(ctx, model, 0, M, z);
    for (int j = 0; j < P; j++) {
        double sum = 0, square = 0;
        for (int i = 0; i < M; i++) {
            sum += z[i * P + j];
            square += z[i * P + j] * z[i * P + j];
        }
        CHECK_CLOSE(sum, 0.0, 1e-11);
        CHECK(square <= last);
        last = square;
        for (int k = 0; k < j; k++) {
            double cross = 0;
            for (int i = 0; i < M; i++)
                cross += z[i * P + j] * z[i * P + k];
            CHECK_CLOSE(cross, 0.0, 1e-9);
        }
    }
    dkm_model_destroy(&model);
}

static void objects_all_alike_are_refused(dkm_ctx *ctx)
{
    dkm_model *model = NULL;

    CHECK(fit(ctx, "power(scale(linear, by=1e-200), degree=3)", 2, &model, NULL) ==
              DKM_ERR_NUMERIC &&
          !model);
    CHECK(strstr(dkm_ctx_message(ctx), "alike") != NULL);
}

static dkm_status fit_and_encode(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Z = NULL;

    DKM_TRY(fit(ctx, "rbf(sigma=3)", 2, &model, NULL));
    DKM_TRY(points(ctx, 1, 2, &X));
    DKM_TRY(dkm_model_predict(model, X, &Z));
out:
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_and_encode);
}

static const check_case cases[] = {
    CASE(linear_components_are_principal_components),
    CASE(coordinates_are_uncorrelated),
    CASE(objects_all_alike_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
