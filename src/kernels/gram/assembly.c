/* How much comes together at a time. Sizes follow from global ones alone, so that all ranks join in
 * every transfer. */
#include "kernels/gram/assembly.h"

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"

#define COLS_BYTES (32 << 20) /* a panel of columns may always take this much */
#define ROWS_BYTES (4 << 20)  /* and one of rows this much, */
#define ROWS_PART  16         /* or such a part of a matrix that is stored, */
#define ROWS_LARGE (64 << 20) /* up to this */
#define ROWS_MOST  16384
#define ROWS_LEAST 16
#define TALL       2048 /* rows of a tile, so that it is in cache still when it is mapped */
#define WIDE       512  /* columns, about */
#define WIDE_EACH  256  /* and at least, for each thread */
#define NARROW     128  /* of one that crosses the diagonal, above which all work is for nothing */

#define WINDOW_BYTES (16 << 20) /* of the current columns of a panel's objects */
#define WINDOW_MOST  8192       /* columns: more gain nothing */
#define BLOCK_ROWS   1024
#define BLOCK_COLS   2048

static dkm_idx assembly_within(double wanted, dkm_idx floor, dkm_idx ceiling)
{
    return wanted < (double)floor     ? floor
           : wanted > (double)ceiling ? dkm_idx_max(floor, ceiling)
                                      : (dkm_idx)wanted;
}

/* Bytes of a panel of rows. The more rows, the longer the products and the fewer the transfers; beside
 * a large matrix a larger panel counts for little. A tile that is dropped is to stay in cache. */
static double rows_budget(const dkm_assembly *s)
{
    double size = dkm_dmat_precision(s->K) == DKM_F64 ? 8.0 : 4.0;
    double part = size * (double)dkm_dmat_rows(s->K) * (double)dkm_dmat_cols(s->K) /
                  dkm_ctx_size(s->ctx) / ROWS_PART;

    return s->visitor || part < ROWS_BYTES ? ROWS_BYTES : part < ROWS_LARGE ? part : ROWS_LARGE;
}

/* Columns: twice a rank's share of the data, so that on few ranks all of them are one panel. */
static void plan_panels(dkm_assembly *s)
{
    double size_a = s->A->bytes[DKM_ROWS] + 1, size_b = s->B->bytes[DKM_COLS] + 1;
    double share = 2.0 * size_b * (double)s->B->X->m / dkm_ctx_size(s->ctx);
    double budget = share > COLS_BYTES ? share : COLS_BYTES;

    s->cols_each = assembly_within(budget / size_b, 1, INT64_MAX);
    s->rows_each = assembly_within(rows_budget(s) / size_a, ROWS_LEAST, ROWS_MOST);
}

/* Whether to bring rows in windows. For objects that one small panel holds there is no need to, and
 * those that are stored were not cut. */
static int are_wide(const dkm_assembly *s)
{
    return s->cols == &s->own && dkm_column_block_wanted(s->A) && dkm_column_block_wanted(s->B) &&
           s->B->bytes[DKM_COLS] * (double)dkm_assembly_cols(s) > COLS_BYTES;
}

static void assembly_plan(dkm_assembly *s)
{
    dkm_idx nb = dkm_dmat_col_block(s->K);

    if (are_wide(s)) {
        s->columns = dkm_column_block_columns(s->B);
        s->cols_each = BLOCK_COLS;
        s->rows_each = BLOCK_ROWS;
    } else {
        plan_panels(s);
    }
    s->cols_each = dkm_idx_min(s->cols_each, dkm_idx_max(dkm_assembly_cols(s), 1));
    s->rows_each = dkm_idx_min(s->rows_each, dkm_idx_max(dkm_assembly_rows(s), 1));
    s->narrow = dkm_idx_min(nb * dkm_idx_max(1, NARROW / nb), s->cols_each);
    s->wide = dkm_idx_min(
        s->narrow *
            dkm_idx_max(1, dkm_idx_max(WIDE, WIDE_EACH * dkm_ctx_threads(s->ctx)) / s->narrow),
        s->cols_each);
    s->tall = dkm_idx_min(TALL, s->rows_each);
}

/* From now on A and B are what is seen of them through windows. */
static dkm_local open_windows(dkm_assembly *s, dkm_idx bytes)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx objects = dkm_idx_max(s->rows_each, s->cols_each);
    dkm_idx fit = WINDOW_BYTES / ((dkm_idx)sizeof(double) * objects);
    dkm_idx width = dkm_idx_min(dkm_idx_min(fit, WINDOW_MOST), s->columns);

    DKM_STEP(dkm_column_block_open(&s->window_a, s->A, width));
    DKM_STEP(dkm_column_block_open(&s->window_b, s->B, width));
    s->A = &s->window_a.view;
    s->B = &s->window_b.view;
    DKM_STEP(dkm_alloc(s->ctx, s->rows_each * s->cols_each * bytes, (char **)&s->sums));
    DKM_STEP(dkm_alloc(s->ctx, s->tall * s->wide * bytes, (char **)&s->part));
out:
    return local;
}

dkm_local dkm_assembly_open(dkm_assembly *s, const dkm_prepared *A, const dkm_prepared *B,
                            dkm_dmat *K, dkm_visitor *visitor, dkm_panel *cached)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_precision precision = dkm_dmat_precision(K);
    const dkm_grid *grid = dkm_dmat_grid(K);
    dkm_idx bytes = precision == DKM_F64 ? 8 : 4;

    *s = (dkm_assembly){.ctx = A->ctx, .A = A, .B = B, .K = K, .p = dkm_grid_row(grid)};
    s->visitor = visitor;
    s->cols = cached ? cached : &s->own;
    s->P = dkm_grid_rows(grid);
    s->Q = dkm_grid_cols(grid);
    assembly_plan(s);
    if (s->columns > 0)
        DKM_STEP(open_windows(s, bytes));
    DKM_STEP(dkm_panel_open(&s->rows, s->A, A->kernel->node, DKM_ROWS, precision, s->rows_each));
    if (!cached)
        DKM_STEP(dkm_panel_open(&s->own, s->B, B->kernel->node, DKM_COLS, precision, s->cols_each));
    DKM_STEP(dkm_alloc(s->ctx, dkm_idx_max(s->rows_each, s->cols_each), &s->indices));
    DKM_STEP(dkm_alloc(s->ctx, s->wide, &s->first));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__,
                          s->tall * s->wide * dkm_node_scratch(A->kernel->node), (size_t)bytes,
                          &s->scratch));
    if (visitor)
        DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, s->tall * s->wide, (size_t)bytes,
                              &s->dropped));
    dkm_blas_use_threads(s->ctx);
out:
    return local;
}

void dkm_assembly_close(dkm_assembly *s)
{
    DKM_FREE(s->dropped);
    dkm_panel_close(&s->rows);
    dkm_panel_close(&s->own);
    dkm_column_block_close(&s->window_a);
    dkm_column_block_close(&s->window_b);
    DKM_FREE(s->sums);
    DKM_FREE(s->part);
    DKM_FREE(s->indices);
    DKM_FREE(s->first);
    DKM_FREE(s->scratch);
}
