/** @file twofold.h  Both products of a tile in single precision with a few columns: T V and T'V.
 *
 *  Products are single, and so are sums of at most 256 of them, which are then added up in double:
 *  relative to the sizes of what is added, 1e-7 is lost. Tall matrices are kept column by column.
 */
#ifndef DKMAP_TWOFOLD_H
#define DKMAP_TWOFOLD_H

#include <dkmap/types.h>

/** An na x nb tile T, column-major, and p columns of everything else. */
typedef struct dkm_twofold {
    dkm_idx na, nb, ld;
    const float *T;
    dkm_idx p;
    dkm_idx rows_ld, cols_ld;                  /**< from one column to the next */
    const float *V_rows, *V_cols;              /**< na and nb rows */
    double *restrict W_rows, *restrict W_cols; /**< likewise */
} dkm_twofold;

/** W_rows += T V_cols where there are V_cols, and W_cols += T'V_rows where there are V_rows. Local.
 */
void dkm_twofold_add(const dkm_twofold *t);

#endif
