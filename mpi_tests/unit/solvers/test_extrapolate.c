#include <math.h>
#include <string.h>

#include <dkmap/extrapolate.h>
#include <dkmap/random.h>

#include "reference/reference_linalg.h"
#include "support/check.h"

enum { M = 24, N = 6, TRIES = 12 };

/* Kernel matrices: well conditioned, of low rank, indefinite. */
enum { FULL, LOW, INDEFINITE };
/* Features: random, with repeated columns, columns of the matrix, square, zero. */
enum { RANDOM, REPEATED, COLUMNS, SQUARE, NOTHING };

static double normal(int stream, int i, int j)
{
    return dkm_random_normal(12, (uint64_t)stream, (uint64_t)i, (uint64_t)j);
}

/* A A' / M + I / 10 for M columns of A, A A' for N of them. */
static double kernel(int kind, int i, int j)
{
    int columns = kind == LOW ? N : M;
    double sum = 0;

    for (int k = 0; k < columns; k++)
        sum += normal(1, i, k) * normal(1, j, k);
    if (kind == LOW)
        return sum;
    return sum / M + (i == j ? (kind == FULL ? 0.1 : -0.5) : 0.0);
}

static double feature(int matrix, int kind, int i, int j)
{
    switch (kind) {
    case REPEATED:
        return normal(2, i, j % 4);
    case COLUMNS:
        return kernel(matrix, i, j);
    case NOTHING:
        return 0.0;
    default:
        return normal(2, i, j);
    }
}

static double lower(void *user, dkm_idx ig, dkm_idx jg)
{
    return ig >= jg ? kernel(*(int *)user, (int)ig, (int)jg) : 1e10;
}

static dkm_status features(dkm_ctx *ctx, int matrix, int kind, int rows, dkm_data **F)
{
    int n = kind == SQUARE ? M : N;
    dkm_status status = dkm_data_create_dense(ctx, rows, n, F);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*F); i++)
        for (int j = 0; j < n; j++)
            dkm_data_values(*F)[i * n + j] =
                feature(matrix, kind, (int)(dkm_data_local_first(*F) + i), j);
    return status;
}

/* Fit, and Q = root root' column-major. */
static dkm_status fit(dkm_ctx *ctx, int matrix, int kind, int shear, double *q,
                      dkm_extrapolate_info *info)
{
    dkm_status status = DKM_OK;
    dkm_extrapolate_settings settings = {.shear = shear};
    int n = kind == SQUARE ? M : N;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_data *F = NULL;
    double *root = NULL;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, M, M, 5, 5, DKM_F64, &K));
    dkm_dmat_fill(K, lower, &matrix);
    DKM_TRY(features(ctx, matrix, kind, M, &F));
    DKM_TRY(dkm_extrapolate(K, F, &settings, &root, info));
    for (int ij = 0; ij < n * n; ij++) {
        q[ij] = 0;
        for (int k = 0; k < info->dimensions; k++)
            q[ij] += root[ij % n * info->dimensions + k] * root[ij / n * info->dimensions + k];
    }
out:
    dkm_extrapolate_free(&root);
    dkm_data_destroy(&F);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static void whole_kernel(int kind, double *k)
{
    for (int ij = 0; ij < M * M; ij++)
        k[ij] = kernel(kind, ij % M, ij / M);
}

/* c = a b, a of m x k, b of k x n. */
static void multiply(int m, int n, int k, const double *a, const double *b, double *c)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            c[i + j * m] = 0;
            for (int l = 0; l < k; l++)
                c[i + j * m] += a[i + l * m] * b[l + j * k];
        }
}

static void transpose(int m, int n, const double *a, double *t)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            t[j + i * n] = a[i + j * m];
}

/* A symmetric matrix to a power, eigenvalues below @p least left out. */
static void power(int n, const double *a, double exponent, double least, double *p)
{
    static double copy[M * M], v[M * M], l[M];

    memcpy(copy, a, (size_t)(n * n) * sizeof *a);
    reference_eigen(n, copy, l, v);
    memset(p, 0, (size_t)(n * n) * sizeof *p);
    for (int k = 0; k < n; k++)
        for (int ij = 0; ij < n * n && l[k] > least; ij++)
            p[ij] += pow(l[k], exponent) * v[ij % n + k * n] * v[ij / n + k * n];
}

/* S - S V2 (V2'S V2)^+ V2'S by the projector R on what is orthogonal to the features. */
static void remove_projection(const double *R, double *S)
{
    static double a[M * M], b[M * M], c[M * M];

    multiply(M, M, M, R, S, a);
    multiply(M, M, M, a, R, b);
    power(M, b, -1.0, 1e-10, c);
    multiply(M, M, M, S, c, a);
    multiply(M, M, M, a, S, b);
    for (int ij = 0; ij < M * M; ij++)
        S[ij] -= b[ij];
}

/* Lemma 1 as it is written, with the singular vectors of F from F'F. */
static void reference_q(int matrix, int kind, int shear, double *q)
{
    static double F[M * M], T[M * M], G[M * M], pinv[M * M], R[M * M], S[M * M], a[M * M];
    int n = kind == SQUARE ? M : N;

    for (int ij = 0; ij < M * n; ij++)
        F[ij] = feature(matrix, kind, ij % M, ij / M);
    transpose(M, n, F, T);
    multiply(n, n, M, T, F, G);
    power(n, G, -1.0, 1e-10, a);
    multiply(n, M, n, a, T, pinv);
    multiply(M, M, n, F, pinv, R);
    for (int ij = 0; ij < M * M; ij++)
        R[ij] = (ij % M == ij / M) - R[ij];
    whole_kernel(matrix, S);
    if (shear)
        remove_projection(R, S);
    multiply(n, M, M, pinv, S, a);
    transpose(n, M, pinv, T);
    multiply(n, n, M, a, T, q);
}

static double largest(int count, const double *a)
{
    double most = 0;

    for (int k = 0; k < count; k++)
        most = fmax(most, fabs(a[k]));
    return most;
}

static void check_against_oracle(dkm_ctx *ctx, int matrix, int kind, int shear, double tolerance)
{
    static double q[M * M], want[M * M];
    dkm_extrapolate_info info;
    int n = kind == SQUARE ? M : N;

    CHECK_OK(ctx, fit(ctx, matrix, kind, shear, q, &info));
    reference_q(matrix, kind, shear, want);
    for (int ij = 0; ij < n * n; ij++)
        CHECK_CLOSE(q[ij], want[ij], tolerance * largest(n * n, want));
}

static void q_is_that_of_the_lemma(dkm_ctx *ctx)
{
    for (int shear = 0; shear < 2; shear++) {
        check_against_oracle(ctx, FULL, RANDOM, shear, 1e-11);
        check_against_oracle(ctx, FULL, REPEATED, shear, 1e-11);
        check_against_oracle(ctx, FULL, COLUMNS, shear, 1e-10);
        check_against_oracle(ctx, FULL, SQUARE, shear, 1e-8); /* the oracle squares the features */
    }
    check_against_oracle(ctx, LOW, RANDOM, 0, 1e-11);
}

/* d = K - F Q F' */
static void difference(int matrix, int kind, const double *q, double *d)
{
    static double F[M * M], T[M * M], a[M * M];
    int n = kind == SQUARE ? M : N;

    for (int ij = 0; ij < M * n; ij++)
        F[ij] = feature(matrix, kind, ij % M, ij / M);
    transpose(M, n, F, T);
    multiply(M, n, n, F, q, a);
    multiply(M, M, n, a, T, d);
    for (int ij = 0; ij < M * M; ij++)
        d[ij] = kernel(matrix, ij % M, ij / M) - d[ij];
}

/* Eigenvalues of K - K_Q, and its Schatten norms for p = 1, 2 and infinity. */
static void spectrum(int matrix, int kind, const double *q, double *values, double norms[3])
{
    static double d[M * M];
    double squares = 0;

    difference(matrix, kind, q, d);
    reference_eigen(M, d, values, NULL);
    norms[0] = norms[2] = 0;
    for (int k = 0; k < M; k++) {
        norms[0] += fabs(values[k]);
        squares += values[k] * values[k];
        norms[2] = fmax(norms[2], fabs(values[k]));
    }
    norms[1] = sqrt(squares);
}

/* The largest c such that K - c F G F' >= 0: 1 / the largest eigenvalue of K^-1/2 F G F' K^-1/2. */
static void scale_to_feasible(double *G)
{
    static double K[M * M], root[M * M], F[M * N], T[M * N], a[M * M], b[M * M], l[M];

    whole_kernel(FULL, K);
    power(M, K, -0.5, 1e-10, root);
    for (int ij = 0; ij < M * N; ij++)
        F[ij] = feature(FULL, RANDOM, ij % M, ij / M);
    multiply(M, N, M, root, F, a);
    transpose(M, N, a, T);
    multiply(M, N, N, a, G, b);
    multiply(M, M, N, b, T, a);
    reference_eigen(M, a, l, NULL);
    for (int ij = 0; ij < N * N; ij++)
        G[ij] /= l[0];
}

/* A random alternative: a positive semidefinite matrix of rank 1 to N, made as large as can be. */
static void alternative(int trial, double *G)
{
    for (int ij = 0; ij < N * N; ij++) {
        G[ij] = 0;
        for (int k = 0; k <= trial % N; k++)
            G[ij] += normal(10 + trial, ij % N, k) * normal(10 + trial, ij / N, k);
    }
    scale_to_feasible(G);
}

static void nothing_feasible_is_nearer(dkm_ctx *ctx)
{
    static double q[M * M], all[M * M], G[N * N], values[M];
    double best[3], norms[3], squares = 0;
    dkm_extrapolate_info info;

    CHECK_OK(ctx, fit(ctx, FULL, RANDOM, 1, q, &info));
    spectrum(FULL, RANDOM, q, values, best);
    CHECK(values[M - 1] > -1e-12 * values[0]);
    for (int trial = 0; trial < TRIES; trial++) {
        alternative(trial, G);
        for (int ij = 0; ij < N * N && trial >= TRIES / 2; ij++)
            G[ij] = 0.02 * G[ij] + 0.98 * q[ij]; /* near the best, and feasible still */
        spectrum(FULL, RANDOM, G, values, norms);
        CHECK(values[M - 1] > -1e-12 * values[0]);
        for (int p = 0; p < 3; p++)
            CHECK(norms[p] > best[p] - 1e-12 * best[p]);
    }
    /* without the constraint the Frobenius norm is smaller, and the difference indefinite */
    CHECK_OK(ctx, fit(ctx, FULL, RANDOM, 0, q, &info));
    spectrum(FULL, RANDOM, q, values, norms);
    CHECK(norms[1] < best[1] && values[M - 1] < 0);
    whole_kernel(FULL, all);
    for (int ij = 0; ij < M * M; ij++)
        squares += all[ij] * all[ij];
    CHECK_CLOSE(info.residual, norms[1] / sqrt(squares), 1e-12);
}

static void as_many_features_as_objects_give_the_matrix_back(dkm_ctx *ctx)
{
    static double q[M * M], values[M];
    double norms[3];
    dkm_extrapolate_info info;

    for (int shear = 0; shear < 2; shear++) {
        CHECK_OK(ctx, fit(ctx, FULL, SQUARE, shear, q, &info));
        spectrum(FULL, SQUARE, q, values, norms);
        CHECK(norms[2] < 1e-11);
        CHECK(info.residual < 1e-12 && info.rank == M && info.dimensions == M);
        CHECK_CLOSE(info.explained, 1.0, 1e-12);
    }
}

/* Q of features that are columns of K is the inverse of their block. */
static void columns_of_the_matrix_give_the_inverse_of_their_block(dkm_ctx *ctx)
{
    static double q[M * M];
    double block[N * N], inverse[N * N];
    dkm_extrapolate_info info;

    for (int matrix = FULL; matrix <= LOW; matrix++) {
        CHECK_OK(ctx, fit(ctx, matrix, COLUMNS, 1, q, &info));
        for (int ij = 0; ij < N * N; ij++) {
            block[ij] = kernel(matrix, ij % N, ij / N);
            inverse[ij] = ij % N == ij / N;
        }
        reference_solve(N, N, block, inverse);
        for (int ij = 0; ij < N * N; ij++)
            CHECK_CLOSE(q[ij], inverse[ij], 1e-10 * largest(N * N, inverse));
    }
}

/* K of rank 6 on 24 objects, and 6 features: nothing of them lies in its range. */
static void no_feature_in_the_range_gives_zero(dkm_ctx *ctx)
{
    static double q[M * M];
    dkm_extrapolate_info info;

    CHECK_OK(ctx, fit(ctx, LOW, RANDOM, 1, q, &info));
    CHECK(info.dimensions == 0 && info.rank == N && info.shift > 0);
    CHECK(info.shift < 1e-12 * info.largest);
    CHECK_CLOSE(info.residual, 1.0, 1e-15);
    CHECK_OK(ctx, fit(ctx, FULL, NOTHING, 1, q, &info));
    CHECK(info.dimensions == 0 && info.rank == 0);
    CHECK_OK(ctx, fit(ctx, FULL, NOTHING, 0, q, &info));
    CHECK(info.dimensions == 0 && info.explained == 0);
}

static void repeated_features_are_told(dkm_ctx *ctx)
{
    static double q[M * M];
    dkm_extrapolate_info info;

    CHECK_OK(ctx, fit(ctx, FULL, REPEATED, 1, q, &info));
    CHECK(info.rank == 4 && info.n == N && info.dimensions == 4 && info.shift == 0);
}

static void an_indefinite_matrix_is_refused(dkm_ctx *ctx)
{
    static double q[M * M];
    dkm_extrapolate_info info;

    for (int shear = 0; shear < 2; shear++) {
        CHECK(fit(ctx, INDEFINITE, RANDOM, shear, q, &info) == DKM_ERR_NUMERIC);
        CHECK(strstr(dkm_ctx_message(ctx), "-0.5") && strstr(dkm_ctx_message(ctx), "--clip"));
    }
}

static void features_of_other_objects_are_refused(dkm_ctx *ctx)
{
    dkm_extrapolate_settings settings = dkm_extrapolate_settings_default();
    int matrix = FULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_data *F = NULL;
    double *root = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, 5, 5, DKM_F64, &K));
    dkm_dmat_fill(K, lower, &matrix);
    CHECK_OK(ctx, features(ctx, FULL, RANDOM, M - 1, &F));
    CHECK(dkm_extrapolate(K, F, &settings, &root, NULL) == DKM_ERR_ARG && !root);
    CHECK(strstr(dkm_ctx_message(ctx), "23 objects") != NULL);
    dkm_data_destroy(&F);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

/* Few objects: what counts is the number of allocations. */
static dkm_status fit_few(dkm_ctx *ctx, int matrix, int shear)
{
    dkm_status status = DKM_OK;
    dkm_extrapolate_settings settings = {.shear = shear};
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_data *F = NULL;
    double *root = NULL;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 7, 7, 4, 4, DKM_F64, &K));
    dkm_dmat_fill(K, lower, &matrix);
    DKM_TRY(features(ctx, matrix, REPEATED, 7, &F));
    DKM_TRY(dkm_extrapolate(K, F, &settings, &root, NULL));
out:
    dkm_extrapolate_free(&root);
    dkm_data_destroy(&F);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static dkm_status fit_shear(dkm_ctx *ctx)
{
    return fit_few(ctx, LOW, 1);
}

static dkm_status fit_free(dkm_ctx *ctx)
{
    return fit_few(ctx, FULL, 0);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_shear);
    check_every_allocation(ctx, 0, fit_free);
}

static const check_case cases[] = {
    CASE(q_is_that_of_the_lemma),
    CASE(nothing_feasible_is_nearer),
    CASE(as_many_features_as_objects_give_the_matrix_back),
    CASE(columns_of_the_matrix_give_the_inverse_of_their_block),
    CASE(no_feature_in_the_range_gives_zero),
    CASE(repeated_features_are_told),
    CASE(an_indefinite_matrix_is_refused),
    CASE(features_of_other_objects_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
