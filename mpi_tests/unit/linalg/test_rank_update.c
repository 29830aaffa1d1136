#include <dkmap/grid.h>

#include "linalg/factor/rank_update.h"
#include "linalg/linalg.h"
#include "support/check.h"
#include "support/fixture_matrices.h"

/* A lower triangle with a diagonal above 1; what lies above it is not to be read. */
static double triangle(void *user, dkm_idx i, dkm_idx j)
{
    double noise = matrix_noise(user, i, j);

    return i > j ? noise : i == j ? 1.5 + noise : 1e3;
}

/* Columns of V are zero before row 7 c. */
static double staircase(void *user, dkm_idx i, dkm_idx j)
{
    return i >= 7 * j ? matrix_noise(user, i, 100 + j) : 0.0;
}

static void clear_upper(dkm_dmat *A)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            if (dkm_dmat_global_row(A, il) < dkm_dmat_global_col(A, jl))
                dkm_dmat_put(A, il, jl, 0.0);
}

/* The factor of L L' + V V' worked out anew, and the update, on blocks of @p nb. */
static dkm_status compare(dkm_ctx *ctx, dkm_idx n, dkm_idx k, dkm_idx nb, double *gap)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *L = NULL, *V = NULL, *A = NULL;
    dkm_idx first[16], info = 0;

    *gap = 1;
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &L));
    DKM_TRY(dkm_dmat_create(grid, n, k, nb, 1, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &A));
    dkm_dmat_fill(L, triangle, NULL);
    dkm_dmat_fill(V, staircase, NULL);
    clear_upper(L);
    dkm_la_syrk('N', 1.0, L, 0.0, A);
    dkm_la_syrk('N', 1.0, V, 1.0, A);
    DKM_TRY(dkm_la_potrf(A, &info));
    CHECK(info == 0);
    for (dkm_idx c = 0; c < k; c++)
        first[c] = 7 * c;
    DKM_TRY(dkm_la_rank_update(L, V, first));
    *gap = matrix_gap(A, L, 1);
out:
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&L);
    dkm_grid_destroy(&grid);
    return status;
}

/* Rounding: about n eps of entries of a few units. */
static void an_update_is_the_factor_of_the_sum(dkm_ctx *ctx)
{
    static const dkm_idx sizes[][3] = {{53, 6, 8},  {53, 6, 5}, {8, 1, 8},  {1, 1, 4},
                                       {40, 5, 64}, {61, 8, 1}, {30, 16, 4}};

    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        double gap = 1;
        CHECK_OK(ctx, compare(ctx, sizes[t][0], sizes[t][1], sizes[t][2], &gap));
        CHECK_CLOSE(gap, 0.0, 1e-12);
    }
}

static dkm_status attempt(dkm_ctx *ctx)
{
    double gap;

    return compare(ctx, 20, 3, 4, &gap);
}

static void every_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {CASE(an_update_is_the_factor_of_the_sum),
                                   CASE(every_failed_allocation_is_survived)};

CHECK_MAIN(cases)
