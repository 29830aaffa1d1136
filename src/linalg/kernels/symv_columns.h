/** @file symv_columns.h  A few columns of a symmetric matrix times one vector, both triangles at once.
 *
 *  BLAS reads a tile that is not on the diagonal twice, once for A x and once for A'x. Here it is read
 *  once, which is what the product takes where the matrix lies in memory.
 */
#ifndef DKMAP_LINALG_KERNELS_SYMV_COLUMNS_H
#define DKMAP_LINALG_KERNELS_SYMV_COLUMNS_H

#include "core/simd.h"

/** m x count elements below the diagonal, column-major: y_rows += A x_cols and y_cols += A'x_rows. */
typedef struct dkm_symv_tile {
    dkm_idx m, count, ld;
    const double *A;
} dkm_symv_tile;

typedef struct dkm_symv_kernels {
    void (*add)(const dkm_symv_tile *tile, const double *x_rows, const double *x_cols,
                double *y_rows, double *y_cols);
} dkm_symv_kernels;

DKM_SIMD_DECLARE(dkm_symv_kernels, dkm_symv_kernels);

/** Columns that are worth taking at a time. */
enum { DKM_SYMV_COLUMNS = 8 };

/** Add what the tile gives to both. Local. */
static inline void dkm_symv_add(const dkm_symv_tile *tile, const double *x_rows,
                                const double *x_cols, double *y_rows, double *y_cols)
{
    DKM_SIMD_SELECT(dkm_symv_kernels)->add(tile, x_rows, x_cols, y_rows, y_cols);
}

#endif
