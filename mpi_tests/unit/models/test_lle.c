#include <math.h>
#include <string.h>

#include <dkmap/lle.h>
#include <dkmap/random.h>

#include "reference/reference_linalg.h"
#include "support/check.h"
#include "support/fixture_objects.h"

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

    settings.neighbors = k;
    settings.components = P;
    settings.gram = gram;
    *model = NULL;
    DKM_TRY(points(ctx, 0, m, &X));
    DKM_TRY(dkm_lle_fit(ctx, X, &settings, model, Y, info));
out:
    dkm_data_destroy(&X);
    return status;
}

static double gap(int i, int j)
{
    double sum = 0;

    for (int c = 0; c < 3; c++)
        sum += pow(coordinate(0, i, c) - coordinate(0, j, c), 2);
    return sum;
}

/* Row i of W by full search and elimination. */
static void reference_weights(int i, double *row)
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
    reference_solve(K, 1, G, w);
    for (int a = 0; a < K; a++)
        sum += w[a];
    for (int a = 0; a < K; a++)
        row[near[a]] = w[a] / sum;
}

/* N = (I - W)'(I - W), column-major. */
static void reference_matrix(double *N)
{
    static double W[M][M];

    for (int i = 0; i < M; i++) {
        reference_weights(i, W[i]);
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
    objects_gather(Y, y);
    reference_matrix(N);
    memcpy(copy, N, sizeof copy);
    reference_eigen(M, copy, values, v);
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
    objects_gather(Y, y);
    objects_gather(info.gram, G);
    reference_eigen(M, G, values, v);
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

/* All coordinates on every rank of an embedding of the first m points, or of new ones placed by it.
 */
static void embed(dkm_ctx *ctx, dkm_idx m, double *y, const dkm_data *X, double *z)
{
    dkm_model *model = NULL;
    dkm_data *Y = NULL, *Z = NULL;

    CHECK_OK(ctx, fit(ctx, m, 12, 0, &model, &Y, NULL));
    objects_gather(Y, y);
    if (X) {
        CHECK_OK(ctx, dkm_model_predict(model, X, &Z));
        objects_gather(Z, z);
    }
    dkm_data_destroy(&Z);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
}

/* The affine map of m coordinates that is nearest to @p to, applied to others in their place. */
static void align(int m, const double *from, const double *to, int count, double *others)
{
    double A[9] = {0}, B[3 * P] = {0};

    for (int i = 0; i < m; i++) {
        const double row[3] = {1, from[i * P], from[i * P + 1]};
        for (int ab = 0; ab < 9; ab++)
            A[ab] += row[ab % 3] * row[ab / 3];
        for (int ab = 0; ab < 3 * P; ab++)
            B[ab] += row[ab % 3] * to[i * P + ab / 3];
    }
    reference_solve(3, P, A, B);
    for (int i = 0; i < count; i++) {
        double a = others[i * P], b = others[i * P + 1];
        for (int c = 0; c < P; c++)
            others[i * P + c] = B[c * 3] + B[c * 3 + 1] * a + B[c * 3 + 2] * b;
    }
}

static int nearest(int i, int m)
{
    int best = 0;

    for (int j = 1; j < m; j++)
        best = gap(i, j) < gap(i, best) ? j : best;
    return best;
}

/* Where an embedding of all points has the last ones: they are placed nearer to that by the others
 * than their nearest neighbors are. */
static void held_out_points_are_placed_nearer_than_their_neighbours(dkm_ctx *ctx)
{
    enum { KNOWN = 300, HELD = 100 };
    static double all[(KNOWN + HELD) * P], some[KNOWN * P], placed[HELD * P], near[HELD * P];
    double off_placed = 0, off_near = 0;
    dkm_idx rows[HELD];
    dkm_data *X = NULL, *held = NULL;

    CHECK_OK(ctx, points(ctx, 0, KNOWN + HELD, &X));
    for (int i = 0; i < HELD; i++)
        rows[i] = KNOWN + i;
    CHECK_OK(ctx, dkm_data_select(X, HELD, rows, &held));
    embed(ctx, KNOWN + HELD, all, NULL, NULL);
    embed(ctx, KNOWN, some, held, placed);
    for (int i = 0; i < HELD; i++)
        memcpy(near + i * P, some + nearest(KNOWN + i, KNOWN) * P, P * sizeof *near);
    align(KNOWN, some, all, HELD, placed);
    align(KNOWN, some, all, HELD, near);
    for (int k = 0; k < HELD * P; k++) {
        off_placed += pow(placed[k] - all[KNOWN * P + k], 2);
        off_near += pow(near[k] - all[KNOWN * P + k], 2);
    }
    CHECK(off_placed < 0.9 * off_near);
    dkm_data_destroy(&held);
    dkm_data_destroy(&X);
}

static void impossible_settings_are_refused(dkm_ctx *ctx)
{
    dkm_model *model = NULL;

    CHECK(fit(ctx, 5, 5, 0, &model, NULL, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "5 neighbors of each of 5 points") != NULL);
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
    CASE(held_out_points_are_placed_nearer_than_their_neighbours),
    CASE(impossible_settings_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
