/** @file symm_tile_f32.h  Fused T V and T'V of a single precision tile with few right-hand sides.
 *
 *  Products, and sums of at most 256 of them, are single; these sums are added in double. The error
 *  is about 1e-7 relative to the magnitudes of the terms. V and W are column-major.
 */
#ifndef DKMAP_LINALG_KERNELS_SYMM_TILE_F32_H
#define DKMAP_LINALG_KERNELS_SYMM_TILE_F32_H

#include "core/simd.h"

/** An na x nb tile T, column-major, and p columns of everything else. */
typedef struct dkm_fused_tile {
    dkm_idx na, nb, ld;
    const float *T;
    dkm_idx p;
    dkm_idx rows_ld, cols_ld;                  /**< from one column to the next */
    const float *V_rows, *V_cols;              /**< na and nb rows */
    double *restrict W_rows, *restrict W_cols; /**< likewise */
} dkm_fused_tile;

enum { DKM_FUSED_ROWS = 256, DKM_FUSED_COLS = 128 }; /**< of a block that stays in cache */

/** The product of parallel_products.h for one instruction set. */
typedef struct dkm_fused_kernels {
    /** What the @p i th block of rows and @p j th of columns adds. */
    void (*block)(const dkm_fused_tile *t, dkm_idx i, dkm_idx j);
} dkm_fused_kernels;

DKM_SIMD_DECLARE(dkm_fused_kernels, dkm_fused_kernels);

#endif
