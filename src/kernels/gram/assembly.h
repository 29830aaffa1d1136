/** @file assembly.h  State while the tiles of a Gram matrix are computed. */
#ifndef DKMAP_KERNELS_GRAM_ASSEMBLY_H
#define DKMAP_KERNELS_GRAM_ASSEMBLY_H

#include "kernels/gram/column_block.h"
#include "kernels/gram/gram.h"
#include "matrix/dmat_impl.h"

typedef struct dkm_assembly {
    dkm_ctx *ctx;
    const dkm_prepared *A, *B;
    dkm_dmat *K;
    int lower; /**< only what is not above the diagonal */
    int p, P, Q;
    dkm_idx rows_each, cols_each; /**< objects of a panel */
    dkm_idx wide, narrow, tall;   /**< columns of a tile, and rows at most */
    dkm_idx i0, c0;               /**< local row and column of the first objects in memory */
    dkm_panel rows, own;
    dkm_panel *cols; /**< `own`, or one that was filled before */
    dkm_idx *indices, *first;
    void *scratch;
    dkm_idx columns; /**< of wide rows, which come in column blocks; 0: rows are not cut */
    dkm_idx at;      /**< the first column of the window in memory */
    dkm_column_block window_a, window_b;
    void *sums, *part; /**< inner products of the panels in memory so far; a tile's of one window */
    dkm_visitor *visitor; /**< sees each tile, which is then dropped; NULL: tiles stay in K */
    void *dropped;        /**< a tile */
    dkm_local local;      /**< of the tiles so far: agreed on at the end */
} dkm_assembly;

/** Local rows and columns of K on the process that has most. Local. */
static inline dkm_idx dkm_assembly_rows(const dkm_assembly *s)
{
    return dkm_cyclic_count(dkm_dmat_rows(s->K), dkm_dmat_row_block(s->K), 0, s->P);
}

static inline dkm_idx dkm_assembly_cols(const dkm_assembly *s)
{
    return dkm_cyclic_count(dkm_dmat_cols(s->K), dkm_dmat_col_block(s->K), 0, s->Q);
}

/** Choose how many objects come together, and allocate. Local; dkm_assembly_close() frees, also
 *  after a failure.
 *
 *  @param[in] K     the matrix, or its shape alone
 *  @param[in] cached  a panel of all columns for the tiles, or NULL
 */
DKM_NODISCARD dkm_local dkm_assembly_open(dkm_assembly *s, const dkm_prepared *A,
                                          const dkm_prepared *B, dkm_dmat *K, dkm_visitor *visitor,
                                          dkm_panel *cached);
void dkm_assembly_close(dkm_assembly *s);

#endif
