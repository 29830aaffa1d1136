/* A'A + beta C against sums element by element: one panel and several, blocks that do not fit, any grid, ranks
 * without a part, and memory that runs out. */
#include <math.h>

#include <dkmap/random.h>

#include "linalg/linalg.h"
#include "linalg/symm/syrk_t.h"
#include "matrix/dmat_impl.h"
#include "support/check.h"

static double element(void *user, dkm_idx i, dkm_idx j)
{
    (void)user;
    return dkm_random_normal(7, 0, (uint64_t)i, (uint64_t)j);
}

static double before(void *user, dkm_idx i, dkm_idx j)
{
    (void)user;
    return dkm_random_normal(8, 0, (uint64_t)i, (uint64_t)j);
}

/* A sum of m products of two numbers of size 1, in another order. */
static void compare(dkm_ctx *ctx, int P, int Q, dkm_idx m, dkm_idx n, dkm_idx nb, double beta)
{
    dkm_dmat *A = NULL, *C = NULL;
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, P, Q, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, m, n, nb, nb, DKM_F64, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &C));
    dkm_dmat_fill(A, element, NULL);
    dkm_dmat_fill(C, before, NULL);
    CHECK_OK(ctx, dkm_la_syrk_t(A, beta, C));
    for (dkm_idx jl = 0; jl < C->n_loc; jl++)
        for (dkm_idx il = 0; il < C->m_loc; il += 1 + n / 40) {
            dkm_idx i = dkm_dmat_global_row(C, il), j = dkm_dmat_global_col(C, jl);
            double sum = beta * before(NULL, i, j);
            for (dkm_idx k = 0; i >= j && k < m; k++)
                sum += element(NULL, k, i) * element(NULL, k, j);
            if (i >= j)
                CHECK(fabs(dkm_dmat_at(C, il, jl) - sum) < 1e-14 * (double)(m + 10));
        }
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void it_is_the_sum_over_all_rows(dkm_ctx *ctx)
{
    int size = dkm_ctx_size(ctx);

    for (int P = 1; P <= size; P++) {
        if (size % P != 0)
            continue;
        compare(ctx, P, size / P, 1, 1, 4, 2.0);
        compare(ctx, P, size / P, 3, 37, 5, 0.5);
        compare(ctx, P, size / P, 90, 37, 64, 0.0);
        compare(ctx, P, size / P, 600, 210, 7, -1.0);
        compare(ctx, P, size / P, 1100, 130, 64, 1.0);
    }
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_dmat *A = NULL, *C = NULL;
    dkm_grid *grid = NULL;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 60, 30, 4, 4, DKM_F64, &A));
    DKM_TRY(dkm_dmat_create(grid, 30, 30, 4, 4, DKM_F64, &C));
    DKM_TRY(dkm_la_syrk_t(A, 1.0, C));
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
    CASE(it_is_the_sum_over_all_rows),
    CASE(any_allocation_may_fail),
};

CHECK_MAIN(cases)
