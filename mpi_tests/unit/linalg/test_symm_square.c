/* A W A against sums element by element: several panels, blocks that do not fit, any grid, ranks without a part. */
#include <math.h>

#include <dkmap/random.h>

#include "linalg/linalg.h"
#include "linalg/symm/symm_square.h"
#include "matrix/dmat_impl.h"
#include "support/check.h"

static double element(void *user, dkm_idx i, dkm_idx j)
{
    (void)user;
    return dkm_random_normal(7, 0, (uint64_t)(i > j ? i : j), (uint64_t)(i > j ? j : i));
}

/* A sum of n products of three numbers of size 1, in another order. */
static void compare(dkm_ctx *ctx, int P, int Q, dkm_idx n, dkm_idx nb)
{
    dkm_dmat *A = NULL, *C = NULL;
    dkm_grid *grid = NULL;
    double w[600];

    for (dkm_idx k = 0; k < n; k++)
        w[k] = dkm_random_normal(8, 0, (uint64_t)k, 0);
    CHECK_OK(ctx, dkm_grid_create(ctx, P, Q, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &C));
    dkm_dmat_fill(A, element, NULL);
    CHECK_OK(ctx, dkm_la_symm_square(A, w, C));
    for (dkm_idx jl = 0; jl < C->n_loc; jl++)
        for (dkm_idx il = 0; il < C->m_loc; il += 1 + n / 50) {
            dkm_idx i = dkm_dmat_global_row(C, il), j = dkm_dmat_global_col(C, jl);
            double sum = 0;
            for (dkm_idx k = 0; i >= j && k < n; k++)
                sum += element(NULL, i, k) * w[k] * element(NULL, k, j);
            if (i >= j)
                CHECK(fabs(dkm_dmat_at(C, il, jl) - sum) < 1e-13 * (double)n);
        }
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void it_is_the_sum_over_all_columns(dkm_ctx *ctx)
{
    int size = dkm_ctx_size(ctx);

    for (int P = 1; P <= size; P++) {
        if (size % P != 0)
            continue;
        compare(ctx, P, size / P, 1, 4);
        compare(ctx, P, size / P, 37, 5);
        compare(ctx, P, size / P, 37, 64);
        compare(ctx, P, size / P, 300, 7);
        compare(ctx, P, size / P, 530, 64);
    }
}

/* The inverse from a factor, on one rank and on several, times what it is the inverse of. */
static void an_inverse_is_one(dkm_ctx *ctx)
{
    enum { N = 90 };
    dkm_dmat *A = NULL, *K = NULL, *I = NULL;
    dkm_grid *grid = NULL;
    dkm_idx info = 1;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 8, 8, DKM_F64, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 8, 8, DKM_F64, &K));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 8, 8, DKM_F64, &I));
    dkm_dmat_fill(A, element, NULL);
    dkm_dmat_shift_diagonal(A, 5.0 * sqrt(N));
    dkm_dmat_fill(K, element, NULL);
    dkm_dmat_shift_diagonal(K, 5.0 * sqrt(N));
    CHECK_OK(ctx, dkm_la_potrf(A, &info));
    CHECK(info == 0);
    dkm_la_potri(A);
    dkm_la_symm('L', 1.0, A, K, 0.0, I);
    dkm_dmat_shift_diagonal(I, -1.0);
    CHECK(dkm_dmat_norm(I) < 1e-11);
    dkm_dmat_destroy(&I);
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_dmat *A = NULL, *C = NULL;
    dkm_grid *grid = NULL;
    const double w[20] = {1.0};

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 20, 20, 4, 4, DKM_F64, &A));
    DKM_TRY(dkm_dmat_create(grid, 20, 20, 4, 4, DKM_F64, &C));
    dkm_dmat_fill(A, element, NULL);
    DKM_TRY(dkm_la_symm_square(A, w, C));
out:
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    return status;
}

static void any_allocation_may_fail(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {
    CASE(it_is_the_sum_over_all_columns),
    CASE(an_inverse_is_one),
    CASE(any_allocation_may_fail),
};

CHECK_MAIN(cases)
