/* Products with K_mn and K_nm in single precision, for a preconditioner of a system with a coarse
 * tolerance: products and short sums are single, all other sums double
 * (linalg/kernels/symm_tile_f32.h). Columns are stored one after the other. Cost per rank: 2 m n
 * p / ranks flops and, for K_nm, an allreduce of n p words. */
#include <string.h>

#include "core/alloc.h"
#include "linalg/kernels/parallel_products.h"
#include "solvers/nystroem/nystroem_impl.h"

typedef struct work {
    dkm_strip_visitor visitor;
    dkm_nystroem_pass *pass;
    int threads;
    dkm_idx n, rows; /* of K_mn across, and of a strip at the most */
    float *in;       /* V, or a strip of T */
    double *out;     /* W, or a strip of F */
} work;

/* With a strip, forth or back as the caller fills in. */
static dkm_fused_tile products_f32_tile(const work *w, const dkm_tile *K)
{
    return (dkm_fused_tile){.na = K->na,
                            .nb = K->nb,
                            .ld = K->ld,
                            .T = K->c,
                            .p = w->pass->p,
                            .rows_ld = w->rows,
                            .cols_ld = w->n};
}

/* F = K_mn V */
static void products_f32_n(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    work *w = (work *)self;
    dkm_idx p = w->pass->p;
    dkm_fused_tile t = products_f32_tile(w, K);

    t.V_cols = w->in;
    t.W_rows = w->out;
    memset(w->out, 0, (size_t)(w->rows * p) * sizeof *w->out);
    dkm_tile_gemm_fused(w->threads, &t);
    for (dkm_idx i = 0; i < K->na; i++)
        for (dkm_idx k = 0; k < p; k++)
            w->pass->F[(il + i) * p + k] = w->out[i + k * w->rows];
}

/* W = K_nm T */
static void products_f32_t(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    work *w = (work *)self;
    dkm_idx p = w->pass->p;
    dkm_fused_tile t = products_f32_tile(w, K);

    t.V_rows = w->in;
    t.W_cols = w->out;
    for (dkm_idx i = 0; i < K->na; i++)
        for (dkm_idx k = 0; k < p; k++)
            w->in[i + k * w->rows] = (float)w->pass->T[(il + i) * p + k];
    dkm_tile_gemm_fused(w->threads, &t);
}

/* V from row-major numbers on every rank. */
static dkm_status products_f32_load(const dkm_nystroem *s, work *w)
{
    dkm_status status = DKM_OK;
    dkm_idx p = w->pass->p;
    double *all = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, s->n * p, &all));
    DKM_TRY(dkm_multivec_allgather(w->pass->V, s->n, all));
    for (dkm_idx i = 0; i < s->n; i++)
        for (dkm_idx k = 0; k < p; k++)
            w->in[i + k * s->n] = (float)all[i * p + k];
out:
    DKM_FREE(all);
    return status;
}

/* W, added up over the ranks. */
static dkm_status products_f32_add_up(const dkm_nystroem *s, const work *w)
{
    dkm_status status = DKM_OK;
    dkm_idx p = w->pass->p;
    double *all = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, s->n * p, &all));
    for (dkm_idx i = 0; i < s->n; i++)
        for (dkm_idx k = 0; k < p; k++)
            all[i * p + k] = w->out[i + k * s->n];
    w->pass->W->cols = p;
    DKM_TRY(dkm_multivec_reduce_scatter(all, s->n, w->pass->W));
out:
    DKM_FREE(all);
    return status;
}

dkm_status dkm_nystroem_products_f32(dkm_nystroem *s, dkm_nystroem_pass *pass)
{
    dkm_status status = DKM_OK;
    work w = {.visitor = {pass->V ? products_f32_n : products_f32_t},
              .pass = pass,
              .threads = dkm_ctx_threads(s->ctx),
              .n = s->n,
              .rows = s->strips.rows};
    dkm_idx p = pass->p, in = pass->V ? s->n : w.rows, out = pass->V ? w.rows : s->n;

    if (s->strips.precision == DKM_F64)
        return dkm_nystroem_products(s, pass);
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, in * p, &w.in));
    DKM_AGREE(s->ctx, dkm_calloc(s->ctx, out * p, &w.out));
    if (pass->V)
        DKM_TRY(products_f32_load(s, &w));
    DKM_TRY(dkm_nystroem_for_each_panel(s, 0, s->n, &w.visitor));
    if (pass->W)
        DKM_TRY(products_f32_add_up(s, &w));
out:
    DKM_FREE(w.in);
    DKM_FREE(w.out);
    return status;
}
