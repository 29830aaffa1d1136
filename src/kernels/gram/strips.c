#include "kernels/gram/strips.h"

#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/evaluation/tile_parallel.h"
#include "linalg/backend/blas.h"

#define STRIP_BYTES 4194304.0 /* so that a strip is still in cache when it is used */
#define ROWS_LEAST  32
#define ROWS_MOST   512
#define WIDE        512
#define GROUP_BYTES 16777216.0 /* of objects of C on a rank while strips are stored */
#define GROUP_LEAST 16

static dkm_idx strips_element_size(dkm_precision precision)
{
    return precision == DKM_F64 ? 8 : 4;
}

static void strips_plan(dkm_strips *s)
{
    double rows =
        STRIP_BYTES / (double)strips_element_size(s->precision) / (double)(s->n > 0 ? s->n : 1);

    s->rows = rows < ROWS_LEAST ? ROWS_LEAST : rows > ROWS_MOST ? ROWS_MOST : (dkm_idx)rows;
    s->wide = s->n < WIDE ? s->n : WIDE;
    rows = GROUP_BYTES / fmax(s->C->bytes[DKM_COLS], 1.0);
    s->group = rows >= (double)s->wide ? s->wide : rows < GROUP_LEAST ? GROUP_LEAST : (dkm_idx)rows;
}

dkm_strips dkm_strips_of(const dkm_prepared *C, dkm_precision precision)
{
    dkm_strips s = {.C = C, .precision = precision, .n = C->X->m};

    strips_plan(&s);
    return s;
}

double dkm_strips_bytes(const dkm_strips *s, dkm_idx rows)
{
    return (double)strips_element_size(s->precision) * (double)rows * (double)s->n;
}

double dkm_strips_column_bytes(const dkm_strips *s, int stored)
{
    return (double)(stored ? s->group : s->n) * s->C->bytes[DKM_COLS];
}

/* A panel for @p columns objects of C, and what evaluating it takes. */
static dkm_local open_columns(dkm_strips *s, dkm_idx columns)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *root = s->C->kernel->node;
    size_t bytes = (size_t)strips_element_size(s->precision);

    DKM_STEP(dkm_panel_open(&s->cols, s->C, root, DKM_COLS, s->precision, columns));
    DKM_STEP(dkm_alloc_at(s->C->ctx, __FILE__, __LINE__, s->rows * s->wide * dkm_node_scratch(root),
                          bytes, &s->scratch));
out:
    return local;
}

/* Objects [first, first + count) of C to every rank. */
static dkm_status fill_columns(dkm_strips *s, dkm_idx first, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->C->ctx;
    dkm_idx *indices = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, count, &indices));
    for (dkm_idx j = 0; j < count; j++)
        indices[j] = first + j;
    DKM_TRY(dkm_panel_fill(&s->cols, count, indices));
out:
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_strips_open(dkm_strips *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->C->ctx;

    DKM_AGREE(ctx, open_columns(s, s->n));
    DKM_AGREE(ctx, dkm_alloc_at(ctx, __FILE__, __LINE__, s->rows * s->n,
                                (size_t)strips_element_size(s->precision), &s->strip));
    DKM_TRY(fill_columns(s, 0, s->n));
out:
    return status;
}

void dkm_strips_close(dkm_strips *s)
{
    dkm_panel_close(&s->cols);
    DKM_FREE(s->strip);
    DKM_FREE(s->scratch);
    DKM_FREE(s->stored);
}

/* Columns from place c0 of the panel on of the current strip, evaluated a few at a time. */
static dkm_local strips_evaluate(dkm_strips *s, const dkm_panel *rows, dkm_idx c0,
                                 const dkm_tile *K)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx j = 0; j < K->nb; j += s->wide) {
        dkm_idx width = j + s->wide < K->nb ? s->wide : K->nb - j;
        dkm_tile_task task = {.A = rows, .B = &s->cols, .b = c0 + j, .scratch = s->scratch};
        dkm_tile part = {K->precision, K->na, width, K->ld, dkm_tile_at(K, 0, j)};
        DKM_STEP(dkm_node_tile_parallel(s->C->kernel->node, &task, &part));
    }
out:
    return local;
}

/* k_ij <- s_i k_ij for the rows from @p first of the slab on. */
static void strips_scale(const dkm_strips *s, dkm_idx first, const dkm_tile *K)
{
    for (dkm_idx j = 0; s->scale && j < K->nb; j++)
        for (dkm_idx i = 0; i < K->na; i++)
            dkm_tile_put(K, i, j, s->scale[first + i] * dkm_tile_get(K, i, j));
}

/* Where columns from c0 on of the strip from row il on are, or are to be put. */
static dkm_tile strips_place(const dkm_strips *s, dkm_idx il, dkm_idx count, dkm_idx c0, dkm_idx c1)
{
    dkm_tile strip = {s->precision, count, s->n, count, s->strip};

    if (s->stored)
        strip.c = (char *)s->stored + il * s->n * strips_element_size(s->precision);
    else
        c1 -= c0, c0 = 0;
    return (dkm_tile){s->precision, count, c1 - c0, count, dkm_tile_at(&strip, 0, c0)};
}

/* Columns [c0, c1) of the stored strips, whose objects are in the panel. */
static dkm_local store_columns(dkm_strips *s, const dkm_prepared *X, dkm_panel *rows, dkm_idx c0,
                               dkm_idx c1)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = X->X->mine.n;

    dkm_blas_use_threads(X->ctx);
    for (dkm_idx il = 0; il < m; il += s->rows) {
        dkm_idx count = il + s->rows < m ? s->rows : m - il;
        dkm_tile K = strips_place(s, il, count, c0, c1);
        dkm_panel_view(rows, il, count);
        DKM_STEP(strips_evaluate(s, rows, 0, &K));
        strips_scale(s, il, &K);
    }
out:
    return local;
}

static dkm_local open_stored(dkm_strips *s, const dkm_prepared *X, dkm_panel *rows)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_prepared_match(X, s->C));
    DKM_STEP(dkm_alloc_at(s->C->ctx, __FILE__, __LINE__, X->X->mine.n * s->n,
                          (size_t)strips_element_size(s->precision), &s->stored));
    DKM_STEP(open_columns(s, s->group));
    DKM_STEP(dkm_panel_open(rows, X, X->kernel->node, DKM_ROWS, s->precision, s->rows));
out:
    return local;
}

dkm_status dkm_strips_store(dkm_strips *s, const dkm_prepared *X)
{
    dkm_status status = DKM_OK;
    dkm_panel rows = {0};

    DKM_AGREE(s->C->ctx, open_stored(s, X, &rows));
    for (dkm_idx c0 = 0; c0 < s->n; c0 += s->group) {
        dkm_idx c1 = c0 + s->group < s->n ? c0 + s->group : s->n;
        DKM_TRY(fill_columns(s, c0, c1 - c0));
        DKM_AGREE(s->C->ctx, store_columns(s, X, &rows, c0, c1));
    }
out:
    dkm_panel_close(&rows);
    dkm_panel_close(&s->cols);
    DKM_FREE(s->scratch);
    return status;
}

static void show_stored(const dkm_strips *s, dkm_idx m, dkm_idx first, dkm_idx c0, dkm_idx c1,
                        dkm_strip_visitor *visitor)
{
    for (dkm_idx il = 0; il < m; il += s->rows) {
        dkm_tile K = strips_place(s, il, il + s->rows < m ? s->rows : m - il, c0, c1);
        visitor->visit(visitor, first + il, &K);
    }
}

dkm_local dkm_strips_run(dkm_strips *s, const dkm_prepared *X, dkm_idx first, dkm_idx c0,
                         dkm_idx c1, dkm_strip_visitor *visitor)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = X->X->mine.n;
    dkm_panel rows = {0};

    dkm_blas_use_threads(X->ctx);
    if (s->stored) {
        show_stored(s, m, first, c0, c1, visitor);
        return local;
    }
    DKM_STEP(dkm_prepared_match(X, s->C));
    DKM_STEP(dkm_panel_open(&rows, X, X->kernel->node, DKM_ROWS, s->precision, s->rows));
    for (dkm_idx il = 0; il < m; il += s->rows) {
        dkm_tile K = strips_place(s, il, il + s->rows < m ? s->rows : m - il, c0, c1);
        dkm_panel_view(&rows, il, K.na);
        DKM_STEP(strips_evaluate(s, &rows, c0, &K));
        strips_scale(s, first + il, &K);
        visitor->visit(visitor, first + il, &K);
    }
out:
    dkm_panel_close(&rows);
    return local;
}
