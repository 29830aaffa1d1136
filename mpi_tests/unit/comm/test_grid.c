#include <limits.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/checked.h"
#include "support/check.h"

static void every_item_has_one_cyclic_home(dkm_ctx *ctx)
{
    (void)ctx;
    for (int P = 1; P <= 5; P++)
        for (dkm_idx nb = 1; nb <= 7; nb++)
            for (dkm_idx n = 0; n <= 40; n++) {
                dkm_idx total = 0;
                for (int p = 0; p < P; p++)
                    total += dkm_cyclic_count(n, nb, p, P);
                CHECK(total == n);
                for (dkm_idx ig = 0; ig < n; ig++) {
                    int p = dkm_cyclic_owner(ig, nb, P);
                    dkm_idx il = dkm_cyclic_local(ig, nb, P);
                    CHECK(il < dkm_cyclic_count(n, nb, p, P));
                    CHECK(dkm_cyclic_global(il, nb, p, P) == ig);
                }
            }
}

static void every_row_has_one_slab(dkm_ctx *ctx)
{
    (void)ctx;
    for (int size = 1; size <= 7; size++)
        for (dkm_idx m = 0; m <= 30; m++) {
            CHECK(dkm_slab_first(m, 0, size) == 0 && dkm_slab_first(m, size, size) == m);
            for (dkm_idx ig = 0; ig < m; ig++) {
                int r = dkm_slab_owner(m, ig, size);
                CHECK(dkm_slab_first(m, r, size) <= ig && ig < dkm_slab_first(m, r + 1, size));
                CHECK(dkm_slab_first(m, r + 1, size) - dkm_slab_first(m, r, size) ==
                      dkm_slab_count(m, r, size));
            }
        }
}

static void shapes_are_near_square(dkm_ctx *ctx)
{
    const int wanted[][3] = {{1, 1, 1}, {2, 1, 2}, {3, 1, 3},  {4, 2, 2},  {6, 2, 3}, {7, 2, 3},
                             {8, 2, 4}, {9, 3, 3}, {13, 3, 4}, {16, 4, 4}, {64, 8, 8}};

    (void)ctx;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        int P, Q;
        dkm_grid_shape(wanted[k][0], &P, &Q);
        CHECK(P == wanted[k][1] && Q == wanted[k][2]);
    }
    for (int size = 1; size <= 5000; size++) {
        int P, Q;
        dkm_grid_shape(size, &P, &Q);
        CHECK(P >= 1 && P <= Q && P * Q <= size && P * Q > size / 2);
    }
}

static void ranks_know_their_place(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx), n = 0;

    for (int P = 1; P <= size; P++) {
        int Q = size / P, inside = rank < P * Q;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, Q, &grid));
        CHECK(dkm_grid_rows(grid) == P && dkm_grid_cols(grid) == Q);
        CHECK(dkm_grid_row(grid) == (inside ? rank / Q : -1));
        CHECK(dkm_grid_col(grid) == (inside ? rank % Q : -1));
        if (inside) {
            MPI_Comm_size(dkm_grid_row_comm(grid), &n);
            CHECK(n == Q);
            MPI_Comm_size(dkm_grid_col_comm(grid), &n);
            CHECK(n == P);
        }
        dkm_grid_destroy(&grid);
        CHECK(grid == NULL);
    }
}

static void a_grid_too_large_is_refused(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK(dkm_grid_create(ctx, dkm_ctx_size(ctx), 2, &grid) == DKM_ERR_ARG && grid == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "ranks") != NULL);
    CHECK(dkm_grid_create(ctx, 0, 1, &grid) == DKM_ERR_ARG && grid == NULL);
    CHECK(dkm_grid_create(ctx, -1, 1, &grid) == DKM_ERR_ARG && grid == NULL);
}

static void integers_are_checked(dkm_ctx *ctx)
{
    int i = 0;
    dkm_idx k = 0;

    CHECK(dkm_checked_int(ctx, INT_MAX, "n", &i).code == DKM_OK && i == INT_MAX);
    CHECK(dkm_checked_int(ctx, (dkm_idx)INT_MAX + 1, "lld", &i).code == DKM_ERR_SIZE);
    CHECK(dkm_checked_mul(ctx, 3, 4, "n", &k).code == DKM_OK && k == 12);
    CHECK(dkm_checked_mul(ctx, INT64_MAX / 2, 3, "n", &k).code == DKM_ERR_SIZE);
}

static dkm_status make_a_grid(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_status status = dkm_grid_create(ctx, 0, 0, &grid);

    dkm_grid_destroy(&grid);
    return status;
}

static void a_grid_survives_failing_allocations(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, make_a_grid);
}

static const check_case cases[] = {
    CASE(every_item_has_one_cyclic_home),
    CASE(every_row_has_one_slab),
    CASE(shapes_are_near_square),
    CASE(ranks_know_their_place),
    CASE(a_grid_too_large_is_refused),
    CASE(integers_are_checked),
    CASE(a_grid_survives_failing_allocations),
};

CHECK_MAIN(cases)
