/** @file gemm_tallskinny.h  Products of a tile with few right-hand sides, W += op(T) V.
 *
 *  gemm packs both factors before it multiplies, which for a few right-hand sides takes as long as
 *  the product. Here the tile is read in place. V and W are row-major, padded to 8, 16 or 24
 *  right-hand sides (nrhs_pad).
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_TALLSKINNY_H
#define DKMAP_LINALG_KERNELS_GEMM_TALLSKINNY_H

#include "core/simd.h"

enum { DKM_NRHS_BLOCK = 16, DKM_NRHS_MAX = 24 };

/** An na x nb tile, column-major. */
typedef struct dkm_ts_tile {
    dkm_precision precision;
    dkm_idx na, nb, ld;
    const void *T;
} dkm_ts_tile;

/** Lanes that hold @p p columns, 1 to DKM_NRHS_MAX of them. Local. */
static inline dkm_idx dkm_ts_nrhs_pad(dkm_idx p)
{
    return (p + 7) / 8 * 8;
}

/** The products below for one instruction set. */
typedef struct dkm_ts_kernels {
    void (*gemm_n)(const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V, void *W);
    void (*gemm_t)(const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V, void *W);
} dkm_ts_kernels;

DKM_SIMD_DECLARE(dkm_ts_kernels, dkm_ts_kernels);

/** W += T V: V has nb objects and W na. Local. */
static inline void dkm_ts_gemm_n(const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V, void *W)
{
    DKM_SIMD_SELECT(dkm_ts_kernels)->gemm_n(tile, nrhs_pad, V, W);
}

/** W += T'V: V has na objects and W nb. Local. */
static inline void dkm_ts_gemm_t(const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V, void *W)
{
    DKM_SIMD_SELECT(dkm_ts_kernels)->gemm_t(tile, nrhs_pad, V, W);
}

#endif
