#include <math.h>
#include <string.h>

#include <dkmap/lle.h>
#include <dkmap/random.h>

#include "check.h"
#include "oracle_linalg.h"

enum { M = 60, K = 7, P = 2 };

/* A point of a curved strip: angle and height, in three coordinates. */
static double coordinate(int stream, int i, int j)
{
    double t = 3.0 * dkm_random_uniform(41, (uint64_t)stream, (uint64_t)i, 0);

    return j == 0   ? (1 + t) * cos(t)
           : j == 1 ? (1 + t) * sin(t)
                    : dkm_random_uniform(41, (uint64_t)stream, (uint64_t)i, 1);
}

static dkm_status points(dkm_ctx *ctx, int stream, dkm_idx m, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, 3, X);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*X) * 3; k++)
        dkm_data_values(*X)[k] =
            coordinate(stream, (int)(dkm_data_local_first(*X) + k / 3), (int)(k % 3));
    return status;
}

static dkm_status fit(dkm_ctx *ctx, dkm_idx m, dkm_idx k, int gram, dkm_model **model, dkm_data **Y,
                      dkm_lle_info *info)
{
    dkm_status status = DKM_OK;
    dkm_lle_settings settings = dkm_lle_settings_default();
    dkm_data *X = NULL;

    settings.neighbours = k;
    settings.components = P;
    settings.gram = gram;
    *model = NULL;
    DKM_TRY(points(ctx, 0, m, &X));
    DKM_TRY(dkm_lle_fit(ctx, &X, &settings, model, Y, info));
out:
    dkm_data_destroy(&X);
    return status;
}

static void gather(dkm_ctx *ctx, const dkm_data *X, double *all)
{
    dkm_idx d = dkm_data_cols(X), count = dkm_data_rows(X) * d;

    memset(all, 0, (size_t)count * sizeof *all);
    memcpy(all + dkm_data_local_first(X) * d, dkm_data_values_const(X),
           (size_t)(dkm_data_local_rows(X) * d) * sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)count, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
}

static double gap(int i, int j)
{
    double sum = 0;

    for (int c = 0; c < 3; c++)
        sum += pow(coordinate(0, i, c) - coordinate(0, j, c), 2);
    return sum;
}

/* Row i of W by full search and elimination. */
static void oracle_weights(int i, double *row)
{
    double G[K * K], w[K], trace = 0, sum = 0;
    int near[K];

    memset(row, 0, M * sizeof *row);
    for (int a = 0; a < K; a++) {
        near[a] = -1;
        for (int j = 0; j < M; j++) {
            int taken = j == i;
            for (int b = 0; b < a; b++)
                taken |= near[b] == j;
            if (!taken && (near[a] < 0 || gap(i, j) < gap(i, near[a])))
                near[a] = j;
        }
    }
    for (int ab = 0; ab < K * K; ab++) {
        G[ab] = 0;
        for (int c = 0; c < 3; c++)
            G[ab] += (coordinate(0, near[ab % K], c) - coordinate(0, i, c)) *
                     (coordinate(0, near[ab / K], c) - coordinate(0, i, c));
        trace += ab % K == ab / K ? G[ab] : 0.0;
    }
    for (int a = 0; a < K; a++) {
        G[a + a * K] += 1e-3 * trace;
        w[a] = 1;
    }
    oracle_solve(K, 1, G, w);
    for (int a = 0; a < K; a++)
        sum += w[a];
    for (int a = 0; a < K; a++)
        row[near[a]] = w[a] / sum;
}

/* N = (I - W)'(I - W), column-major. */
static void oracle_matrix(double *N)
{
    static double W[M][M];

    for (int i = 0; i < M; i++) {
        oracle_weights(i, W[i]);
        for (int j = 0; j < M; j++)
            W[i][j] = (i == j) - W[i][j];
    }
    for (int ij = 0; ij < M * M; ij++) {
        N[ij] = 0;
        for (int k = 0; k < M; k++)
            N[ij] += W[k][ij % M] * W[k][ij / M];
    }
}

/* Each coordinate is an eigenvector of N: those above the constant one. */
static void coordinates_are_bottom_eigenvectors(dkm_ctx *ctx)
{
    static double N[M * M], copy[M * M], y[M * P], values[M], v[M * M];
    dkm_model *model = NULL;
    dkm_data *Y = NULL;
    dkm_lle_info info;

    CHECK_OK(ctx, fit(ctx, M, K, 0, &model, &Y, &info));
    gather(ctx, Y, y);
    oracle_matrix(N);
    memcpy(copy, N, sizeof copy);
    oracle_eigen(M, copy, values, v);
    CHECK_CLOSE(info.smallest, values[M - 2], 1e-12);
    CHECK_CLOSE(info.largest, values[M - 1 - P], 1e-12);
    for (int c = 0; c < P; c++) {
        double same = 0, length = 0;
        for (int i = 0; i < M; i++) {
            same += y[i * P + c] * v[i + (M - 2 - c) * M];
            length += y[i * P + c] * y[i * P + c];
        }
        CHECK_CLOSE(fabs(same), 1.0, 1e-9);
        CHECK_CLOSE(length, 1.0, 1e-10);
    }
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
}

/* H (L I - N) H: its leading eigenvectors are the coordinates, and none of its values is negative.
 */
static void the_kernel_leads_with_the_coordinates(dkm_ctx *ctx)
{
    static double G[M * M], y[M * P], values[M], v[M * M];
    dkm_model *model = NULL;
    dkm_data *Y = NULL;
    dkm_lle_info info = {0};

    CHECK_OK(ctx, fit(ctx, M, K, 1, &model, &Y, &info));
    gather(ctx, Y, y);
    gather(ctx, info.gram, G);
    oracle_eigen(M, G, values, v);
    CHECK(values[M - 1] > -1e-10);
    for (int c = 0; c < P; c++) {
        double same = 0;
        for (int i = 0; i < M; i++)
            same += y[i * P + c] * v[i + c * M];
        CHECK_CLOSE(fabs(same), 1.0, 1e-8);
    }
    dkm_data_destroy(&info.gram);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
}

static void impossible_settings_are_refused(dkm_ctx *ctx)
{
    dkm_model *model = NULL;

    CHECK(fit(ctx, 5, 5, 0, &model, NULL, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "5 neighbours of each of 5 points") != NULL);
    CHECK(fit(ctx, 2, 1, 0, &model, NULL, NULL) == DKM_ERR_ARG && !model);
}

static dkm_status fit_and_place(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Z = NULL;

    DKM_TRY(fit(ctx, 12, 3, 0, &model, NULL, NULL));
    DKM_TRY(points(ctx, 1, 3, &X));
    DKM_TRY(dkm_model_predict(model, X, &Z));
out:
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_and_place);
}

static const check_case cases[] = {
    CASE(coordinates_are_bottom_eigenvectors),
    CASE(the_kernel_leads_with_the_coordinates),
    CASE(impossible_settings_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
