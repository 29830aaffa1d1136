#include <math.h>

#include "core/alloc.h"
#include "matrix/multivec.h"
#include "matrix/multivec_map.h"
#include "support/check.h"

static double number(dkm_idx i, dkm_idx j)
{
    return 1.0 + (double)i + 1000.0 * (double)j;
}

static void fill(dkm_multivec *V, dkm_idx m, dkm_idx cols)
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(V->ctx), dkm_ctx_size(V->ctx));

    V->cols = cols;
    for (dkm_idx i = 0; i < V->n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            V->a[i * V->ld + j] = number(first + i, j);
}

/* Largest difference from f(i, j) a + b. */
static double off_by(const dkm_multivec *V, dkm_idx m, const double *scale, double shift)
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(V->ctx), dkm_ctx_size(V->ctx));
    double off = 0;

    for (dkm_idx i = 0; i < V->n; i++)
        for (dkm_idx j = 0; j < V->cols; j++)
            off = fmax(off, fabs(V->a[i * V->ld + j] - scale[j] * number(first + i, j) - shift));
    return off;
}

/* Whole numbers, so that nothing is rounded; leading dimensions of two kinds. */
static void columns_are_scaled_and_added(dkm_ctx *ctx)
{
    const dkm_idx m = 13;
    const double one[] = {1, 1, 1}, two[] = {2, 3, 4}, sums[] = {3, 4, 5}, turned[] = {7, 13, 21};
    double dots[3];
    dkm_multivec A = {0}, B = {0};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&A, ctx, m, 3)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&B, ctx, m, 5)));
    fill(&A, m, 3);
    dkm_multivec_copy(&A, &B);
    CHECK(B.cols == 3);
    CHECK_CLOSE(off_by(&B, m, one, 0), 0.0, 0.0);
    dkm_multivec_axpy_columns(1.0, two, &A, &B);
    CHECK_CLOSE(off_by(&B, m, sums, 0), 0.0, 0.0);
    dkm_multivec_xpay_columns(two, &A, &B); /* 1 + scale times what it was */
    CHECK_CLOSE(off_by(&B, m, turned, 0), 0.0, 0.0);
    dkm_multivec_axpy_columns(-1.0, turned, &A, &B);
    dkm_multivec_axpy(2.0, &A, &B);
    dkm_multivec_scale(0.5, &B);
    CHECK_CLOSE(off_by(&B, m, one, 0), 0.0, 0.0);
    dkm_multivec_dots(&A, &B, dots);
    for (dkm_idx j = 0; j < 3; j++) {
        double want = 0;
        for (dkm_idx i = 0; i < m; i++)
            want += number(i, j) * number(i, j);
        CHECK_CLOSE(dots[j], want, 0.0);
    }
    dkm_multivec_free(&B);
    dkm_multivec_free(&A);
}

/* Slabs to homes, to all of a line, summed over it, and back: each number comes back as many times
 * as the line has ranks. */
static void compare_way_there_and_back(dkm_ctx *ctx, const dkm_dmat *shape, char side, dkm_idx p)
{
    dkm_idx m = dkm_dmat_rows(shape);
    dkm_multivec V = {0};
    dkm_multivec_map map = {0};
    double *local = NULL, off = 0, scale[4];

    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&V, ctx, m, p + 1)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_map_init(&map, shape, side, p)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, map.local * p, &local)));
    fill(&V, m, p);
    dkm_multivec_map_to_homes(&map, V.a, V.ld, dkm_multivec_map_home(&map, local));
    dkm_multivec_map_allgather(&map, local);
    for (dkm_idx k = 0; k < map.local * p; k++) {
        dkm_idx ig =
            side == 'R' ? dkm_dmat_global_row(shape, k / p) : dkm_dmat_global_col(shape, k / p);
        off = fmax(off, fabs(local[k] - number(ig, k % p)));
    }
    CHECK_CLOSE(off, 0.0, 0.0);
    dkm_multivec_map_reduce_scatter(&map, local);
    dkm_multivec_map_from_homes(&map, dkm_multivec_map_home(&map, local), 1, V.a, V.ld);
    for (dkm_idx j = 0; j < p; j++)
        scale[j] = 1.0 + map.members;
    CHECK_CLOSE(off_by(&V, m, scale, 0), 0.0, 0.0);
    DKM_FREE(local);
    dkm_multivec_map_free(&map);
    dkm_multivec_free(&V);
}

static void rows_find_their_homes_and_back(dkm_ctx *ctx)
{
    const dkm_idx sizes[] = {0, 1, 5, 40, 97};

    for (int P = 1; P <= dkm_ctx_size(ctx); P++)
        for (int k = 0; k < 5; k++)
            for (dkm_idx nb = 1; nb <= 16; nb += 5) {
                dkm_grid *grid = NULL;
                dkm_dmat *A = NULL;
                CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
                CHECK_OK(ctx, dkm_dmat_create(grid, sizes[k], sizes[k], nb, nb, DKM_F64, &A));
                compare_way_there_and_back(ctx, A, 'R', 1);
                compare_way_there_and_back(ctx, A, 'C', 3);
                dkm_dmat_destroy(&A);
                dkm_grid_destroy(&grid);
            }
}

static const check_case cases[] = {
    CASE(columns_are_scaled_and_added),
    CASE(rows_find_their_homes_and_back),
};

CHECK_MAIN(cases)
