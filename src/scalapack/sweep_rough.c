#include "scalapack/sweep_rough.h"

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/twofold.h"

/* Columns of what a sweep keeps object by object. */
static void load(const dkm_sweep *s, dkm_idx n, const double *from, float *to)
{
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < s->p; k++)
            to[i + k * n] = (float)from[i * s->width + k];
}

static void add(const dkm_sweep *s, dkm_idx n, const double *from, double *to)
{
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < s->p; k++)
            to[i * s->width + k] += from[i + k * n];
}

dkm_local dkm_sweep_rough_open(dkm_sweep_rough *r, dkm_sweep *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *K = s->shape;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);

    *r = (dkm_sweep_rough){.sweep = s};
    DKM_STEP(dkm_alloc(ctx, K->m_loc * s->p, &r->V_rows));
    DKM_STEP(dkm_alloc(ctx, K->n_loc * s->p, &r->V_cols));
    DKM_STEP(dkm_calloc(ctx, K->m_loc * s->p, &r->W_rows));
    DKM_STEP(dkm_calloc(ctx, K->n_loc * s->p, &r->W_cols));
    load(s, K->m_loc, s->V_rows, r->V_rows);
    load(s, K->n_loc, s->V_cols, r->V_cols);
out:
    return local;
}

void dkm_sweep_rough_tile(dkm_sweep_rough *r, dkm_idx il, dkm_idx jl, const dkm_narrow *tile)
{
    const dkm_dmat *K = r->sweep->shape;
    const dkm_twofold t = {.na = tile->na,
                           .nb = tile->nb,
                           .ld = tile->ld,
                           .T = tile->T,
                           .p = r->sweep->p,
                           .rows_ld = K->m_loc,
                           .cols_ld = K->n_loc,
                           .V_rows = r->V_rows + il,
                           .V_cols = r->V_cols + jl,
                           .W_rows = r->W_rows + il,
                           .W_cols = r->W_cols + jl};

    dkm_twofold_add(&t);
}

void dkm_sweep_rough_end(const dkm_sweep_rough *r)
{
    const dkm_dmat *K = r->sweep->shape;

    add(r->sweep, K->m_loc, r->W_rows, r->sweep->W_rows);
    add(r->sweep, K->n_loc, r->W_cols, r->sweep->W_cols);
}

void dkm_sweep_rough_close(dkm_sweep_rough *r)
{
    DKM_FREE(r->V_rows);
    DKM_FREE(r->V_cols);
    DKM_FREE(r->W_rows);
    DKM_FREE(r->W_cols);
}
