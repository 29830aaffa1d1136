/** @file column_block.h  Wide rows, some of their columns at a time.
 *
 *  A kernel that sees rows of numbers through inner products alone does not need all columns
 *  at once: the products add up over blocks of columns. Rows as wide as memory allows then travel a
 *  block at a time.
 */
#ifndef DKMAP_KERNELS_GRAM_COLUMN_BLOCK_H
#define DKMAP_KERNELS_GRAM_COLUMN_BLOCK_H

#include "kernels/evaluation/kernel_impl.h"

typedef struct dkm_column_block {
    const dkm_prepared *of;
    dkm_prepared view;    /**< the same objects with the current columns; for panels */
    const dkm_node *leaf; /**< one that takes the inner products */
    dkm_data part;        /**< what the view has in the slot of the rows, which it borrows */
    dkm_idx width;        /**< columns at most */
} dkm_column_block;

/** Columns of the rows whose inner products are all that the kernel needs of its objects, a few
 *  numbers each apart; 0 where it needs other things. Local; the same on every rank. */
dkm_idx dkm_column_block_columns(const dkm_prepared *of);

/** Whether there are so many of them that rows should come in windows. Local; the same on every
 *  rank. */
int dkm_column_block_wanted(const dkm_prepared *of);

/** Begin with the first @p width columns. Local; dkm_column_block_close() frees, also after a
 * failure.
 *  @pre dkm_column_block_columns() > 0 */
DKM_NODISCARD dkm_local dkm_column_block_open(dkm_column_block *window, const dkm_prepared *of,
                                              dkm_idx width);

/** Move on to columns from @p first, as many as there are of `width`. Local. */
void dkm_column_block_move(dkm_column_block *window, dkm_idx first);

void dkm_column_block_close(dkm_column_block *window);

#endif
