#include <stdlib.h>
#include <unistd.h>

#include <dkmap/grid.h>

#include "linalg/linalg.h"
#include "solvers/ridge/factor_rows.h"
#include "support/check.h"
#include "support/fixture_matrices.h"
#include "support/scratch.h"

#define SHIFT 3 /* bytes before the rows in the file */

/* A lower triangle that is well conditioned; what lies above it is not to be read. */
static double triangle(void *user, dkm_idx i, dkm_idx j)
{
    double noise = matrix_noise(user, i, j);

    return i > j ? 0.3 * noise : i == j ? 1.5 + noise : 1e3;
}

static double lower(void *user, dkm_idx i, dkm_idx j)
{
    return i >= j ? triangle(user, i, j) : 0.0;
}

/* The rows of a triangle from row h on. */
static double tail(void *user, dkm_idx i, dkm_idx j)
{
    dkm_idx h = *(dkm_idx *)user;

    return triangle(NULL, h + i, j);
}

/* Rows of which number i begins at column i times the step. */
static double staircase(void *user, dkm_idx i, dkm_idx j)
{
    return j >= i * *(dkm_idx *)user ? matrix_noise(NULL, 100 + i, j) : 0.0;
}

typedef struct shape {
    dkm_idx n, h, k, nb;
    int file; /* the first h rows are in a file */
} shape;

static void write_rows(dkm_ctx *ctx, const char *path, dkm_idx h)
{
    size_t length = SHIFT + sizeof(double) * (size_t)(h * (h + 1) / 2), at = SHIFT;
    char *bytes = calloc(length + 1, 1);

    for (dkm_idx i = 0; i < h; i++)
        for (dkm_idx j = 0; j <= i; j++, at += sizeof(double)) {
            double value = triangle(NULL, i, j);
            memcpy(bytes + at, &value, sizeof value);
        }
    scratch_bytes(ctx, path, bytes, length);
    free(bytes);
}

typedef struct pieces {
    char path[SCRATCH_LENGTH];
    dkm_matrix_entry entry;
    dkm_dmat *head, *rest;
    dkm_factor_rows L;
} pieces;

static dkm_status open_pieces(dkm_grid *grid, shape z, pieces *s)
{
    dkm_status status = DKM_OK;

    *s = (pieces){.head = NULL};
    scratch_path(dkm_grid_ctx(grid), "rows", s->path);
    s->entry = (dkm_matrix_entry){
        .m = z.h, .n = z.h, .precision = DKM_F64, .lower = 1, .path = s->path, .offset = SHIFT};
    if (z.file)
        write_rows(dkm_grid_ctx(grid), s->path, z.h);
    else
        DKM_TRY(dkm_dmat_create(grid, z.h, z.h, z.nb, z.nb, DKM_F64, &s->head));
    if (s->head)
        dkm_dmat_fill(s->head, triangle, NULL);
    if (z.h < z.n) {
        DKM_TRY(dkm_dmat_create(grid, z.n - z.h, z.n, z.nb, z.nb, DKM_F64, &s->rest));
        dkm_dmat_fill(s->rest, tail, &z.h);
    }
    s->L = (dkm_factor_rows){.grid = grid,
                             .n = z.n,
                             .h = z.h,
                             .nb = z.nb,
                             .file = z.file ? &s->entry : NULL,
                             .head = s->head,
                             .tail = s->rest};
out:
    return status;
}

static void close_pieces(dkm_ctx *ctx, pieces *s)
{
    if (s->L.file)
        scratch_remove(ctx, s->path);
    dkm_dmat_destroy(&s->rest);
    dkm_dmat_destroy(&s->head);
}

/* B L^-T, at once or by the first h rows of L and then by the others. */
static dkm_status solve(const dkm_factor_rows *L, const dkm_idx *first, int twice, dkm_dmat *B)
{
    dkm_status status = DKM_OK;
    dkm_factor_rows head = *L;

    head.n = L->h;
    head.tail = NULL;
    if (twice)
        DKM_TRY(dkm_factor_rows_solve(&head, 0, first, B));
    DKM_TRY(dkm_factor_rows_solve(L, twice ? L->h : 0, first, B));
out:
    return status;
}

/* Largest gaps: of B L' solved for, of B L solved for, and of the copy. */
static dkm_status compare(dkm_ctx *ctx, shape z, int stairs, double gap[3])
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *T = NULL, *B = NULL, *X = NULL, *C = NULL;
    dkm_idx first[64], step = z.n > 64 * z.k ? 64 : 5;
    pieces s = {.head = NULL};

    gap[0] = gap[1] = gap[2] = 1;
    for (dkm_idx i = 0; i < z.k; i++)
        first[i] = step * i;
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(open_pieces(grid, z, &s));
    DKM_TRY(dkm_dmat_create(grid, z.n, z.n, z.nb, z.nb, DKM_F64, &A));
    DKM_TRY(dkm_dmat_create(grid, z.n, z.n, z.nb, z.nb, DKM_F64, &T));
    DKM_TRY(dkm_dmat_create(grid, z.n, z.n, z.nb, z.nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_create(grid, z.k, z.n, z.nb, z.nb, DKM_F64, &X));
    DKM_TRY(dkm_dmat_create(grid, z.k, z.n, z.nb, z.nb, DKM_F64, &B));
    dkm_dmat_fill(A, lower, NULL);
    dkm_dmat_fill(X, stairs ? staircase : matrix_noise, stairs ? &step : NULL);
    dkm_la_transpose(A, T);
    dkm_la_gemm('N', 'N', 1.0, X, T, 0.0, B);
    DKM_TRY(solve(&s.L, stairs ? first : NULL, !stairs && z.h > 0 && z.h < z.n, B));
    gap[0] = matrix_gap(X, B, 0);
    dkm_la_gemm('N', 'N', 1.0, X, A, 0.0, B);
    DKM_TRY(dkm_factor_rows_solve_back(&s.L, B));
    gap[1] = matrix_gap(X, B, 0);
    DKM_TRY(dkm_factor_rows_copy(&s.L, C));
    gap[2] = matrix_gap(A, C, 1);
out:
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&X);
    dkm_dmat_destroy(&T);
    dkm_dmat_destroy(&A);
    close_pieces(ctx, &s);
    dkm_grid_destroy(&grid);
    return status;
}

/* Panels of 256 rows, pieces that end within blocks, blocks that end within pieces, runs that are read one
 * by one (nb = 500 on two columns of ranks and more), rows that are read whole, and right-hand sides that begin
 * far behind others. */
static const shape shapes[] = {{1, 1, 1, 4, 0},      {53, 53, 6, 8, 0},       {53, 20, 6, 8, 0},
                               {53, 20, 6, 8, 1},    {53, 53, 6, 5, 1},       {600, 333, 20, 16, 1},
                               {700, 700, 9, 64, 1}, {1100, 1030, 3, 500, 1}, {40, 0, 4, 8, 0},
                               {61, 60, 8, 1, 0},    {1500, 1500, 20, 32, 1}};

/* Rounding: about n eps times the condition of the triangle, which is below 100. */
static void solves_undo_products_whatever_the_pieces(dkm_ctx *ctx)
{
    for (size_t t = 0; t < sizeof shapes / sizeof *shapes; t++)
        for (int stairs = 0; stairs < 2; stairs++) {
            double gap[3];
            CHECK_OK(ctx, compare(ctx, shapes[t], stairs, gap));
            CHECK_CLOSE(gap[0], 0.0, 1e-11);
            CHECK_CLOSE(gap[1], 0.0, 1e-11);
            CHECK_CLOSE(gap[2], 0.0, 0.0);
        }
}

/* All ranks are told of the one that read past the end. */
static void a_file_that_ends_too_early_fails_on_every_rank(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *B = NULL;
    pieces s = {.head = NULL};

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, open_pieces(grid, (shape){40, 40, 3, 8, 1}, &s));
    CHECK_OK(ctx, dkm_dmat_create(grid, 3, 40, 8, 8, DKM_F64, &B));
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(truncate(s.path, 4000) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    CHECK(dkm_factor_rows_solve(&s.L, 0, NULL, B) == DKM_ERR_IO);
    CHECK(dkm_factor_rows_solve_back(&s.L, B) == DKM_ERR_IO);
    dkm_dmat_destroy(&B);
    close_pieces(ctx, &s);
    dkm_grid_destroy(&grid);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    double gap[3];

    return compare(ctx, (shape){20, 11, 3, 4, 1}, 1, gap);
}

static void every_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {CASE(solves_undo_products_whatever_the_pieces),
                                   CASE(a_file_that_ends_too_early_fails_on_every_rank),
                                   CASE(every_failed_allocation_is_survived)};

CHECK_MAIN(cases)
