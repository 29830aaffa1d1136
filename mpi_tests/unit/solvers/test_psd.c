#include <math.h>
#include <string.h>

#include <dkmap/psd.h>
#include <dkmap/random.h>

#include "reference/reference_linalg.h"
#include "support/check.h"

/* Kinds of matrix: indefinite, positive semidefinite of low rank, negative definite, zero, tiny. */
enum { MIXED, FEATURES, NEGATIVE, ZERO, TINY, KINDS };
enum { MOST = 60 };

static double mixed(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(8, 1, (uint64_t)(i < j ? i : j), (uint64_t)(i < j ? j : i));
}

static double kind_of_matrix(int kind, dkm_idx i, dkm_idx j)
{
    switch (kind) {
    case MIXED:
        return mixed(i, j);
    case FEATURES:
        return 1.0 + cos((double)(i - j));
    case NEGATIVE:
        return -exp(-fabs((double)(i - j)));
    case ZERO:
        return 0.0;
    default:
        return 1e-150 * mixed(i, j);
    }
}

static double lower(void *user, dkm_idx ig, dkm_idx jg)
{
    return ig >= jg ? kind_of_matrix(*(int *)user, ig, jg) : 1e10;
}

/* V max(L, 0) V' of the whole matrix, and what its spectrum looks like. */
static dkm_psd_info reference_clip(int kind, int m, double *clipped)
{
    static double a[MOST * MOST], v[MOST * MOST], values[MOST];
    dkm_psd_info info = {0};
    double below = 0, all = 0;

    for (int k = 0; k < m * m; k++)
        a[k] = kind_of_matrix(kind, k % m, k / m);
    reference_eigen(m, a, values, v);
    memset(clipped, 0, (size_t)(m * m) * sizeof *clipped);
    for (int k = 0; k < m; k++) {
        for (int ij = 0; ij < m * m && values[k] > 0; ij++)
            clipped[ij] += values[k] * v[ij % m + k * m] * v[ij / m + k * m];
        info.negative += values[k] < -1e-10 * fmax(fabs(values[0]), fabs(values[m - 1]));
        below += values[k] < 0 ? -values[k] : 0.0;
        all += fabs(values[k]);
    }
    info.largest = values[0];
    info.smallest = values[m - 1];
    info.share = all > 0 ? below / all : 0.0;
    return info;
}

static void check_clip(dkm_ctx *ctx, dkm_grid *grid, int kind, int m, dkm_idx nb)
{
    static double want[MOST * MOST], got[MOST * MOST];
    dkm_psd_info info, expected = reference_clip(kind, m, want);
    double size = fmax(fabs(expected.smallest), fabs(expected.largest));
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_dmat_create(grid, m, m, nb, nb, DKM_F64, &K));
    dkm_dmat_fill(K, lower, &kind);
    CHECK_OK(ctx, dkm_psd_clip(K, &info));
    reference_gather(K, got);
    for (int j = 0; j < m; j++)
        for (int i = j; i < m; i++)
            CHECK_CLOSE(got[i + j * m], want[i + j * m], 1e-12 * size);
    CHECK(info.negative == expected.negative);
    CHECK_CLOSE(info.smallest, expected.smallest, 1e-12 * size);
    CHECK_CLOSE(info.largest, expected.largest, 1e-12 * size);
    CHECK_CLOSE(info.share, expected.share, 1e-12);
    dkm_dmat_destroy(&K);
}

static void negative_eigenvalues_are_dropped(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P += 2) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (int kind = 0; kind < KINDS; kind++)
            check_clip(ctx, grid, kind, 40, 5);
        check_clip(ctx, grid, MIXED, MOST, 16);
        check_clip(ctx, grid, MIXED, 1, 2);
        check_clip(ctx, grid, NEGATIVE, 1, 2);
        check_clip(ctx, grid, MIXED, 3, 1);
        dkm_grid_destroy(&grid);
    }
}

static void a_matrix_of_no_rows_stays(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_psd_info info;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, 0, 0, 4, 4, DKM_F64, &K));
    CHECK_OK(ctx, dkm_psd_clip(K, &info));
    CHECK(info.negative == 0 && info.share == 0);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static void other_matrices_are_refused(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *R = NULL, *S = NULL, *B = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, 8, 7, 2, 2, DKM_F64, &R));
    CHECK_OK(ctx, dkm_dmat_create(grid, 8, 8, 2, 2, DKM_F32, &S));
    CHECK_OK(ctx, dkm_dmat_create(grid, 8, 8, 2, 3, DKM_F64, &B));
    CHECK(dkm_psd_clip(R, NULL) == DKM_ERR_ARG);
    CHECK(dkm_psd_clip(S, NULL) == DKM_ERR_ARG);
    CHECK(dkm_psd_clip(B, NULL) == DKM_ERR_ARG);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&S);
    dkm_dmat_destroy(&R);
    dkm_grid_destroy(&grid);
}

/* A spectrum that is known: -2, -1, ..., n - 3. */
static double staircase(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig == jg ? (double)ig - 2.0 : 0.0;
}

static void ends_of_a_spectrum_are_found(dkm_ctx *ctx)
{
    double smallest, most;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (int n = 1; n < 90; n += 44) {
        CHECK_OK(ctx, dkm_dmat_create(grid, n, n, 7, 7, DKM_F64, &K));
        dkm_dmat_fill(K, staircase, NULL);
        CHECK_OK(ctx, dkm_extremal_eigenvalues(K, &smallest, &most));
        CHECK_CLOSE(smallest, -2.0, 1e-3 * n); /* from within: few rounds, and no more digits */
        CHECK_CLOSE(most, n - 3.0, 1e-3 * n);
        CHECK(smallest > -2.0 - 1e-10 && most < n - 3.0 + 1e-10);
        CHECK(dkm_psd_check(K, &smallest, &most) == DKM_ERR_NUMERIC);
        dkm_dmat_destroy(&K);
    }
    dkm_grid_destroy(&grid);
}

static dkm_status clip(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    int kind = MIXED;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 9, 9, 2, 2, DKM_F64, &K));
    dkm_dmat_fill(K, lower, &kind);
    DKM_TRY(dkm_psd_clip(K, NULL));
out:
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, clip);
}

static const check_case cases[] = {
    CASE(negative_eigenvalues_are_dropped),  CASE(a_matrix_of_no_rows_stays),
    CASE(ends_of_a_spectrum_are_found),      CASE(other_matrices_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
