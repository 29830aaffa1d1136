/* Passes over K_mn in single precision, for a preconditioner whose user asks for little: products
 * and sums of a few of them are single, all others double. Columns are kept one after the other. */
#include <string.h>

#include "core/alloc.h"
#include "scalapack/twofold.h"
#include "solve/nystroem.h"

typedef struct work {
    dkm_strip_visitor visitor;
    dkm_nystroem_pass *pass;
    dkm_idx n, rows; /* of K_mn across, and of a strip at the most */
    float *in;       /* V, or a strip of T */
    double *out;     /* W, or a strip of F */
} work;

/* With a strip, forth or back as the caller fills in. */
static dkm_twofold product_of(const work *w, const dkm_tile *K)
{
    return (dkm_twofold){.na = K->na,
                         .nb = K->nb,
                         .ld = K->ld,
                         .T = K->c,
                         .p = w->pass->p,
                         .rows_ld = w->rows,
                         .cols_ld = w->n};
}

/* F = K_mn V */
static void forth(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    work *w = (work *)self;
    dkm_idx p = w->pass->p;
    dkm_twofold t = product_of(w, K);

    t.V_cols = w->in;
    t.W_rows = w->out;
    memset(w->out, 0, (size_t)(w->rows * p) * sizeof *w->out);
    dkm_twofold_add(&t);
    for (dkm_idx i = 0; i < K->na; i++)
        for (dkm_idx k = 0; k < p; k++)
            w->pass->F[(il + i) * p + k] = w->out[i + k * w->rows];
}

/* W = K_nm T */
static void back(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    work *w = (work *)self;
    dkm_idx p = w->pass->p;
    dkm_twofold t = product_of(w, K);

    t.V_rows = w->in;
    t.W_cols = w->out;
    for (dkm_idx i = 0; i < K->na; i++)
        for (dkm_idx k = 0; k < p; k++)
            w->in[i + k * w->rows] = (float)w->pass->T[(il + i) * p + k];
    dkm_twofold_add(&t);
}

/* V from row-major numbers on every rank. */
static dkm_status load(const dkm_nystroem *s, work *w)
{
    dkm_status status = DKM_OK;
    dkm_idx p = w->pass->p;
    double *all = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, s->n * p, &all));
    DKM_TRY(dkm_slab_gather(w->pass->V, s->n, all));
    for (dkm_idx i = 0; i < s->n; i++)
        for (dkm_idx k = 0; k < p; k++)
            w->in[i + k * s->n] = (float)all[i * p + k];
out:
    DKM_FREE(all);
    return status;
}

/* W, added up over the ranks. */
static dkm_status add_up(const dkm_nystroem *s, const work *w)
{
    dkm_status status = DKM_OK;
    dkm_idx p = w->pass->p;
    double *all = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, s->n * p, &all));
    for (dkm_idx i = 0; i < s->n; i++)
        for (dkm_idx k = 0; k < p; k++)
            all[i * p + k] = w->out[i + k * s->n];
    w->pass->W->cols = p;
    DKM_TRY(dkm_slab_sum(all, s->n, w->pass->W));
out:
    DKM_FREE(all);
    return status;
}

dkm_status dkm_nystroem_products_rough(dkm_nystroem *s, dkm_nystroem_pass *pass)
{
    dkm_status status = DKM_OK;
    work w = {.visitor = {pass->V ? forth : back}, .pass = pass, .n = s->n, .rows = s->strips.rows};
    dkm_idx p = pass->p, in = pass->V ? s->n : w.rows, out = pass->V ? w.rows : s->n;

    if (s->strips.precision == DKM_F64)
        return dkm_nystroem_products(s, pass);
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, in * p, &w.in));
    DKM_AGREE(s->ctx, dkm_calloc(s->ctx, out * p, &w.out));
    if (pass->V)
        DKM_TRY(load(s, &w));
    DKM_TRY(dkm_nystroem_show(s, 0, s->n, &w.visitor));
    if (pass->W)
        DKM_TRY(add_up(s, &w));
out:
    DKM_FREE(w.in);
    DKM_FREE(w.out);
    return status;
}
