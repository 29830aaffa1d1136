/* The symmetric product of symm_multivec.h with the tile products of symm_tile_f32.h: the tile
 * products are single precision, all other sums double. Costs and communication are those of
 * symm_multivec.c; each rank holds another (m_loc + n_loc) p numbers. */
#include "linalg/symm/symm_multivec_f32.h"

#include "core/alloc.h"
#include "linalg/kernels/parallel_products.h"
#include "matrix/dmat_impl.h"

/* Columns of what a product keeps object by object. */
static void symm_f32_load_rhs(const dkm_symm *s, dkm_idx n, const double *from, float *to)
{
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < s->p; k++)
            to[i + k * n] = (float)from[i * s->width + k];
}

static void symm_f32_add_result(const dkm_symm *s, dkm_idx n, const double *from, double *to)
{
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < s->p; k++)
            to[i * s->width + k] += from[i + k * n];
}

dkm_local dkm_symm_f32_begin(dkm_symm_f32 *r, dkm_symm *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *K = s->shape;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);

    *r = (dkm_symm_f32){.sweep = s};
    DKM_STEP(dkm_alloc(ctx, K->m_loc * s->p, &r->V_rows));
    DKM_STEP(dkm_alloc(ctx, K->n_loc * s->p, &r->V_cols));
    DKM_STEP(dkm_calloc(ctx, K->m_loc * s->p, &r->W_rows));
    DKM_STEP(dkm_calloc(ctx, K->n_loc * s->p, &r->W_cols));
    symm_f32_load_rhs(s, K->m_loc, s->V_rows, r->V_rows);
    symm_f32_load_rhs(s, K->n_loc, s->V_cols, r->V_cols);
out:
    return local;
}

void dkm_symm_f32_accumulate_tile(dkm_symm_f32 *r, dkm_idx il, dkm_idx jl, const dkm_ts_tile *tile)
{
    const dkm_dmat *K = r->sweep->shape;
    const dkm_fused_tile t = {.na = tile->na,
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

    dkm_tile_gemm_fused(dkm_ctx_threads(dkm_grid_ctx(K->grid)), &t);
}

void dkm_symm_f32_finish(const dkm_symm_f32 *r)
{
    const dkm_dmat *K = r->sweep->shape;

    symm_f32_add_result(r->sweep, K->m_loc, r->W_rows, r->sweep->W_rows);
    symm_f32_add_result(r->sweep, K->n_loc, r->W_cols, r->sweep->W_cols);
}

void dkm_symm_f32_free(dkm_symm_f32 *r)
{
    DKM_FREE(r->V_rows);
    DKM_FREE(r->V_cols);
    DKM_FREE(r->W_rows);
    DKM_FREE(r->W_cols);
}
