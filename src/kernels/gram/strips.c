#include "kernels/gram/strips.h"

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/evaluation/tile_parallel.h"
#include "linalg/backend/blas.h"

#define STRIP_BYTES 4194304.0 /* so that a strip is still in cache when it is used */
#define ROWS_LEAST  32
#define ROWS_MOST   512
#define WIDE        512

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
}

static dkm_local strips_open_local(dkm_strips *s, dkm_idx **all)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *root = s->C->kernel->node;
    dkm_ctx *ctx = s->C->ctx;
    size_t bytes = (size_t)strips_element_size(s->precision);

    DKM_STEP(dkm_panel_open(&s->cols, s->C, root, DKM_COLS, s->precision, s->n));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, s->rows * s->n, bytes, &s->strip));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, s->rows * s->wide * dkm_node_scratch(root),
                          bytes, &s->scratch));
    DKM_STEP(dkm_alloc(ctx, s->n, all));
    for (dkm_idx j = 0; j < s->n; j++)
        (*all)[j] = j;
out:
    return local;
}

dkm_status dkm_strips_open(dkm_strips *s, const dkm_prepared *C, dkm_precision precision)
{
    dkm_status status = DKM_OK;
    dkm_idx *all = NULL;

    *s = (dkm_strips){.C = C, .precision = precision, .n = C->X->m};
    strips_plan(s);
    DKM_AGREE(C->ctx, strips_open_local(s, &all));
    DKM_TRY(dkm_panel_fill(&s->cols, s->n, all));
out:
    DKM_FREE(all);
    return status;
}

double dkm_strips_bytes(const dkm_strips *s, dkm_idx rows)
{
    return (double)strips_element_size(s->precision) * (double)rows * (double)s->n;
}

dkm_local dkm_strips_cache(dkm_strips *s, dkm_idx rows)
{
    return dkm_alloc_at(s->C->ctx, __FILE__, __LINE__, rows * s->n,
                        (size_t)strips_element_size(s->precision), &s->cache);
}

void dkm_strips_close(dkm_strips *s)
{
    dkm_panel_close(&s->cols);
    DKM_FREE(s->strip);
    DKM_FREE(s->scratch);
    DKM_FREE(s->cache);
}

/* Columns from c0 on of the current strip, evaluated a few at a time. */
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

/* Where columns from c0 on of the strip from row il on are, or are to be put. */
static dkm_tile strips_place(const dkm_strips *s, dkm_idx il, dkm_idx count, dkm_idx c0, dkm_idx c1)
{
    dkm_tile strip = {s->precision, count, s->n, count, s->strip};

    if (s->cache)
        strip.c = (char *)s->cache + il * s->n * strips_element_size(s->precision);
    else
        c1 -= c0, c0 = 0;
    return (dkm_tile){s->precision, count, c1 - c0, count, dkm_tile_at(&strip, 0, c0)};
}

dkm_local dkm_strips_run(dkm_strips *s, const dkm_prepared *X, dkm_idx first, dkm_idx c0,
                         dkm_idx c1, dkm_strip_visitor *visitor)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = X->X->mine.n;
    int known = s->cache && c1 <= s->cached_cols;
    dkm_panel rows = {0};

    DKM_STEP(dkm_prepared_match(X, s->C));
    DKM_STEP(dkm_panel_open(&rows, X, X->kernel->node, DKM_ROWS, s->precision, s->rows));
    dkm_blas_use_threads(X->ctx);
    for (dkm_idx il = 0; il < m; il += s->rows) {
        dkm_idx count = il + s->rows < m ? s->rows : m - il;
        dkm_tile K = strips_place(s, il, count, c0, c1);
        if (!known) {
            dkm_panel_view(&rows, il, count);
            DKM_STEP(strips_evaluate(s, &rows, c0, &K));
        }
        visitor->visit(visitor, first + il, &K);
    }
    if (s->cache && c0 <= s->cached_cols && c1 > s->cached_cols)
        s->cached_cols = c1;
out:
    dkm_panel_close(&rows);
    return local;
}
