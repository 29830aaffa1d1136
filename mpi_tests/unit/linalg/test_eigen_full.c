#include <math.h>

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

static void small_pairs_satisfy_their_equation(dkm_ctx *ctx)
{
    double a[] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, values[3];

    CHECK(dkm_syevd_local(ctx, 3, a, values).code == DKM_OK);
    CHECK_CLOSE(values[0], 2 - sqrt(2), 1e-14);
    CHECK_CLOSE(values[1], 2, 1e-14);
    CHECK_CLOSE(values[2], 2 + sqrt(2), 1e-14);
    CHECK_CLOSE(fabs(a[7]), 1 / sqrt(2), 1e-14);
}

static dkm_status decompose(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *Z = NULL;
    double values[N];
    int kind = 0;
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;

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

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, 0, decompose);
}

static const check_case cases[] = {
    CASE(scalapack_pairs_satisfy_their_equation),
    CASE(elpa_pairs_satisfy_their_equation),
    CASE(small_pairs_satisfy_their_equation),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
