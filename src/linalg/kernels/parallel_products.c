#include "linalg/kernels/parallel_products.h"

#include "core/minmax.h"
#include "core/parallel.h"

#define PART 120 /* rows of W at a time: a multiple of what stays in registers */

typedef struct ts_product {
    const dkm_ts_tile *tile;
    dkm_idx nrhs_pad;
    const void *V;
    void *W;
} ts_product;

static size_t element_size(const ts_product *p)
{
    return p->tile->precision == DKM_F64 ? sizeof(double) : sizeof(float);
}

/* Rows of W from row @p o on. */
static void *rows_of_result(const ts_product *p, dkm_idx o)
{
    return (char *)p->W + (size_t)(o * p->nrhs_pad) * element_size(p);
}

/* Element @p offset of the tile. */
static const void *tile_from(const ts_product *p, dkm_idx offset)
{
    return (const char *)p->tile->T + (size_t)offset * element_size(p);
}

static void some_rows(void *user, dkm_idx k, int thread)
{
    const ts_product *p = user;
    dkm_idx i = k * PART;
    dkm_ts_tile part = *p->tile;

    (void)thread;
    part.na = dkm_idx_min(PART, part.na - i);
    part.T = tile_from(p, i);
    dkm_ts_gemm_n(&part, p->nrhs_pad, p->V, rows_of_result(p, i));
}

static void some_columns(void *user, dkm_idx k, int thread)
{
    const ts_product *p = user;
    dkm_idx j = k * PART;
    dkm_ts_tile part = *p->tile;

    (void)thread;
    part.nb = dkm_idx_min(PART, part.nb - j);
    part.T = tile_from(p, j * part.ld);
    dkm_ts_gemm_t(&part, p->nrhs_pad, p->V, rows_of_result(p, j));
}

void dkm_ts_gemm_n_parallel(int threads, const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V,
                            void *W)
{
    ts_product p = {tile, nrhs_pad, V, W};

    if (threads <= 1)
        dkm_ts_gemm_n(tile, nrhs_pad, V, W);
    else
        dkm_parallel_for(threads, (tile->na + PART - 1) / PART, some_rows, &p);
}

void dkm_ts_gemm_t_parallel(int threads, const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V,
                            void *W)
{
    ts_product p = {tile, nrhs_pad, V, W};

    if (threads <= 1)
        dkm_ts_gemm_t(tile, nrhs_pad, V, W);
    else
        dkm_parallel_for(threads, (tile->nb + PART - 1) / PART, some_columns, &p);
}

static void fused_block(void *user, dkm_idx i, dkm_idx j)
{
    DKM_SIMD_SELECT(dkm_fused_kernels)->block(user, i, j);
}

void dkm_tile_gemm_fused(int threads, const dkm_fused_tile *t)
{
    dkm_fused_tile tile = *t;

    dkm_wavefront(threads, (t->na + DKM_FUSED_ROWS - 1) / DKM_FUSED_ROWS,
                  (t->nb + DKM_FUSED_COLS - 1) / DKM_FUSED_COLS, fused_block, &tile);
}
