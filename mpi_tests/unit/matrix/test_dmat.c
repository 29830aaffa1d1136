#include <math.h>
#include <string.h>

#include <dkmap/dmat.h>

#include "core/alloc.h"
#include "matrix/dmat_impl.h"
#include "support/check.h"

static double entry(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return (double)(ig * 1000 + jg);
}

/* Shapes with blocks that fit, do not fit, and leave ranks empty. */
static const dkm_idx shapes[][4] = {{10, 10, 3, 3}, {7, 13, 2, 5}, {64, 1, 16, 1}, {1, 9, 4, 2},
                                    {0, 5, 2, 2},   {5, 0, 2, 2},  {3, 3, 8, 8},   {33, 40, 1, 7}};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

static void check_rows(dkm_ctx *ctx, dkm_grid *grid, const dkm_idx *s, dkm_precision precision)
{
    dkm_dmat *A = NULL, *B = NULL;
    dkm_idx mine = dkm_slab_count(s[0], dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx first = dkm_slab_first(s[0], dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double *rows = NULL;

    CHECK_OK(ctx, dkm_dmat_create(grid, s[0], s[1], s[2], s[3], precision, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, s[0], s[1], s[2], s[3], precision, &B));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, mine * s[1], &rows)));
    dkm_dmat_fill(A, entry, NULL);
    CHECK_OK(ctx, dkm_dmat_to_rows(A, rows));
    for (dkm_idx i = 0; i < mine; i++)
        for (dkm_idx j = 0; j < s[1]; j++)
            CHECK(rows[i * s[1] + j] == entry(NULL, first + i, j));
    CHECK_OK(ctx, dkm_dmat_from_rows(B, rows));
    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(B); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(B); il++)
            CHECK(dkm_dmat_at(B, il, jl) == dkm_dmat_at(A, il, jl));
    DKM_FREE(rows);
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&B);
}

static void rows_go_there_and_back(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (int k = 0; k < SHAPES; k++) {
            check_rows(ctx, grid, shapes[k], DKM_F64);
            check_rows(ctx, grid, shapes[k], DKM_F32);
        }
        dkm_grid_destroy(&grid);
    }
}

/* 6000 x 600 doubles pass the size of one round of messages. */
static void a_large_matrix_travels_in_rounds(dkm_ctx *ctx)
{
    const dkm_idx shape[] = {6000, 600, 64, 32};
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    check_rows(ctx, grid, shape, DKM_F64);
    dkm_grid_destroy(&grid);
}

static void the_diagonal_can_be_taken_and_put_back(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    double *diagonal = NULL, mean = 0;

    for (dkm_idx i = 0; i < 23; i++)
        mean += entry(NULL, i, i) / 23;
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, 23, 23, 4, 4, DKM_F64, &A));
    dkm_dmat_fill(A, entry, NULL);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, dkm_dmat_local_cols(A), &diagonal)));
    dkm_dmat_get_diagonal(A, diagonal);
    CHECK_CLOSE(dkm_dmat_mean_diagonal(A), mean, 1e-9);
    dkm_dmat_shift_diagonal(A, 5.0);
    CHECK_CLOSE(dkm_dmat_mean_diagonal(A), mean + 5.0, 1e-9);
    dkm_dmat_set_diagonal(A, diagonal);
    CHECK_CLOSE(dkm_dmat_mean_diagonal(A), mean, 1e-9);
    DKM_FREE(diagonal);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void norms_and_means_are_those_of_the_whole(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *S = NULL;
    double means[6], square = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, 11, 6, 2, 4, DKM_F64, &A));
    dkm_dmat_fill(A, entry, NULL);
    for (dkm_idx i = 0; i < 11; i++)
        for (dkm_idx j = 0; j < 6; j++)
            square += entry(NULL, i, j) * entry(NULL, i, j);
    CHECK_CLOSE(dkm_dmat_norm(A), sqrt(square), 1e-9 * sqrt(square));
    CHECK_OK(ctx, dkm_dmat_column_means(A, means));
    for (int j = 0; j < 6; j++)
        CHECK_CLOSE(means[j], 5000.0 + j, 1e-9);
    dkm_dmat_add_row(A, -1.0, means);
    CHECK_OK(ctx, dkm_dmat_column_means(A, means));
    for (int j = 0; j < 6; j++)
        CHECK_CLOSE(means[j], 0.0, 1e-9);
    CHECK_OK(ctx, dkm_dmat_convert(A, DKM_F32, &S));
    CHECK(dkm_dmat_f64(S) == NULL && dkm_dmat_f32(A) == NULL);
    CHECK_CLOSE(dkm_dmat_norm(S), dkm_dmat_norm(A), 1e-6 * dkm_dmat_norm(A));
    dkm_dmat_destroy(&S);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void bad_sizes_are_refused(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK(dkm_dmat_create(grid, -1, 2, 1, 1, DKM_F64, &A) == DKM_ERR_ARG && !A);
    CHECK(dkm_dmat_create(grid, 2, 2, 0, 1, DKM_F64, &A) == DKM_ERR_ARG && !A);
    CHECK(dkm_dmat_create(grid, 400000, 400000, 64, 64, DKM_F32, &A) == DKM_ERR_SIZE && !A);
    CHECK(strstr(dkm_ctx_message(ctx), "use at least 75 ranks") != NULL);
    dkm_grid_destroy(&grid);
}

static dkm_status there_and_back(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    double rows[300];

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 20, 15, 4, 4, DKM_F64, &A));
    DKM_TRY(dkm_dmat_to_rows(A, rows));
    DKM_TRY(dkm_dmat_from_rows(A, rows));
out:
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, there_and_back);
}

static const check_case cases[] = {
    CASE(rows_go_there_and_back),
    CASE(a_large_matrix_travels_in_rounds),
    CASE(the_diagonal_can_be_taken_and_put_back),
    CASE(norms_and_means_are_those_of_the_whole),
    CASE(bad_sizes_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
