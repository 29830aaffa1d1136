#include <math.h>
#include <stdlib.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "reference/reference_linalg.h"
#include "support/check.h"

#define N 41

/* Kinds of matrix: noise, zero, identity with multiplicity, rank one. Lower triangle only. */
static double kind_of_matrix(void *user, dkm_idx ig, dkm_idx jg)
{
    int kind = *(int *)user;

    if (ig < jg)
        return -5.0;
    switch (kind) {
    case 0:
        return dkm_random_normal(1, 1, (uint64_t)ig, (uint64_t)jg);
    case 1:
        return 0.0;
    case 2:
        return ig == jg ? (double)(ig % 3) : 0.0;
    default:
        return cos((double)ig) * cos((double)jg);
    }
}

static void check_pairs(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, int kind,
                        dkm_eigen_library library)
{
    dkm_dmat *A = NULL, *Z = NULL;
    static double a[N * N], z[N * N], want[N], got[N];
    double scale;

    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, nb, nb, DKM_F64, &A));
    dkm_dmat_fill(A, kind_of_matrix, &kind);
    for (int i = 0; i < N * N; i++)
        a[i] = kind_of_matrix(&kind, i % N > i / N ? i % N : i / N, i % N > i / N ? i / N : i % N);
    CHECK_OK(ctx, dkm_la_syevd(A, &library, got, &Z));
    reference_gather(Z, z);
    scale = fmax(fabs(got[0]), fabs(got[N - 1])) + 1e-300;
    for (int k = 0; k < N; k++) { /* A z = lambda z, z'z = 1 */
        double gap = 0, norm = 0;
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += a[i + j * N] * z[j + k * N];
            gap = fmax(gap, fabs(sum - got[k] * z[i + k * N]));
            norm += z[i + k * N] * z[i + k * N];
        }
        CHECK_CLOSE(gap / scale, 0.0, 20.0 * N * 1.2e-16);
        CHECK_CLOSE(norm, 1.0, 20.0 * N * 1.2e-16);
    }
    reference_eigen(N, a, want, NULL);
    for (int k = 0; k < N; k++)
        CHECK_CLOSE(got[N - 1 - k], want[k], 20.0 * N * 1.2e-16 * scale);
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&Z);
}

static void on_every_grid(dkm_ctx *ctx, dkm_eigen_library library)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (int kind = 0; kind < 4; kind++)
            for (dkm_idx nb = 4; nb <= 12; nb += 8)
                check_pairs(ctx, grid, nb, kind, library);
        dkm_grid_destroy(&grid);
    }
}

static void scalapack_pairs_satisfy_their_equation(dkm_ctx *ctx)
{
    on_every_grid(ctx, DKM_EIGEN_SCALAPACK);
}

static void elpa_pairs_satisfy_their_equation(dkm_ctx *ctx)
{
    if (dkm_la_syevd_has(DKM_EIGEN_ELPA))
        on_every_grid(ctx, DKM_EIGEN_ELPA);
}

static void pairs_of_the_own_reduction_satisfy_their_equation(dkm_ctx *ctx)
{
    on_every_grid(ctx, DKM_EIGEN_SYTRD);
}

/* max |A Z - Z L| and |Z'Z - I| of a whole decomposition of order n, without a reference. */
static void check_decomposition(dkm_ctx *ctx, dkm_grid *grid, dkm_idx n, dkm_idx nb,
                                double (*element)(void *, dkm_idx, dkm_idx), int kind)
{
    dkm_eigen_library library = DKM_EIGEN_SYTRD;
    dkm_dmat *A = NULL, *Z = NULL;
    double *z = calloc((size_t)(2 * n * n + n + 1), sizeof *z), *a = z + n * n, *values = a + n * n;
    double residual = 0, skew = 0, scale = 1e-300;

    for (dkm_idx k = 0; k < n * n; k++)
        a[k] = element(&kind, k % n > k / n ? k % n : k / n, k % n > k / n ? k / n : k % n);
    CHECK_OK(ctx, dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &A));
    dkm_dmat_fill(A, element, &kind);
    CHECK_OK(ctx, dkm_la_syevd(A, &library, values, &Z));
    CHECK(library == DKM_EIGEN_SYTRD);
    reference_gather(Z, z);
    for (dkm_idx k = 0; k < n; k++)
        scale = fmax(scale, fabs(values[k]));
    for (dkm_idx k = 0; k < n; k++) {
        CHECK(k == 0 || values[k - 1] <= values[k]);
        for (dkm_idx i = 0; i < n; i++) {
            double sum = -values[k] * z[i + k * n], product = i == k ? -1.0 : 0.0;
            for (dkm_idx j = 0; j < n; j++) {
                sum += a[j + i * n] * z[j + k * n];
                product += z[j + i * n] * z[j + k * n];
            }
            residual = fmax(residual, fabs(sum));
            skew = fmax(skew, fabs(product));
        }
    }
    CHECK_CLOSE(residual / scale, 0.0, 20.0 * (double)n * 1.2e-16);
    CHECK_CLOSE(skew, 0.0, 20.0 * (double)n * 1.2e-16);
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&A);
    free(z);
}

/* Noise, diagonal, of two eigenvalues (a reflection), of clustered ones, tiny and huge. */
static double hard_matrix(void *user, dkm_idx ig, dkm_idx jg)
{
    double noise = dkm_random_normal(2, 1, (uint64_t)ig, (uint64_t)jg);

    switch (*(int *)user) {
    case 0:
        return noise;
    case 1:
        return ig == jg ? noise : 0.0;
    case 2:
        return (ig == jg ? 1.0 : 0.0) - 2.0 / 70.0 * ((ig - jg) % 2 == 0 ? 1.0 : -1.0);
    case 3:
        return (ig == jg ? 1.0 : 0.0) + 1e-13 * noise;
    case 4:
        return 1e-110 * noise;
    default:
        return 1e110 * noise;
    }
}

static void any_order_and_block_size_is_decomposed(dkm_ctx *ctx)
{
    static const dkm_idx orders[] = {0, 1, 2, 5, 33, 70};
    static const dkm_idx blocks[] = {7, 32};

    for (int tall = 0; tall < 2; tall++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, tall ? dkm_ctx_size(ctx) : 0, tall, &grid));
        for (int k = 0; k < 6; k++)
            for (int b = 0; b < 2; b++)
                for (int kind = 0; kind < 6; kind += orders[k] < 70 ? 5 : 1)
                    check_decomposition(ctx, grid, orders[k], blocks[b], hard_matrix, kind);
        dkm_grid_destroy(&grid);
    }
}

/* More reflectors than the back-transformation takes at a time. */
static void several_blocks_of_reflectors_are_applied(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    check_decomposition(ctx, grid, 300, 32, hard_matrix, 0);
    dkm_grid_destroy(&grid);
}

/* Elements whose squares overflow, or that are no numbers, are left to ScaLAPACK. */
static void the_own_reduction_refuses_what_it_cannot_square(dkm_ctx *ctx)
{
    double values[N];
    int kind = 5;
    dkm_eigen_library library = DKM_EIGEN_SYTRD;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *Z = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 8, 8, DKM_F64, &A));
    dkm_dmat_fill(A, hard_matrix, &kind);
    for (dkm_idx k = 0; k < A->ld * A->n_loc; k++)
        A->a.f64[k] *= 1e50;
    CHECK_OK(ctx, dkm_la_syevd(A, &library, values, &Z));
    CHECK(library == DKM_EIGEN_SCALAPACK && values[N - 1] > 1e160);
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void small_pairs_satisfy_their_equation(dkm_ctx *ctx)
{
    double a[] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, values[3];

    CHECK(dkm_syevd_local(ctx, 3, a, values).code == DKM_OK);
    CHECK_CLOSE(values[0], 2 - sqrt(2), 1e-14);
    CHECK_CLOSE(values[1], 2, 1e-14);
    CHECK_CLOSE(values[2], 2 + sqrt(2), 1e-14);
    CHECK_CLOSE(fabs(a[7]), 1 / sqrt(2), 1e-14);
}

static dkm_status decompose_by(dkm_ctx *ctx, dkm_eigen_library library)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *Z = NULL;
    double values[N];
    int kind = 0;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, N, N, 8, 8, DKM_F64, &A));
    dkm_dmat_fill(A, kind_of_matrix, &kind);
    DKM_TRY(dkm_la_syevd(A, &library, values, &Z));
out:
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    return status;
}

static dkm_status decompose(dkm_ctx *ctx)
{
    return decompose_by(ctx, DKM_EIGEN_SCALAPACK);
}

static dkm_status decompose_by_sytrd(dkm_ctx *ctx)
{
    return decompose_by(ctx, DKM_EIGEN_SYTRD);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, 0, decompose);
    check_every_allocation(ctx, 0, decompose_by_sytrd);
}

static const check_case cases[] = {
    CASE(scalapack_pairs_satisfy_their_equation),
    CASE(elpa_pairs_satisfy_their_equation),
    CASE(pairs_of_the_own_reduction_satisfy_their_equation),
    CASE(any_order_and_block_size_is_decomposed),
    CASE(several_blocks_of_reflectors_are_applied),
    CASE(the_own_reduction_refuses_what_it_cannot_square),
    CASE(small_pairs_satisfy_their_equation),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
