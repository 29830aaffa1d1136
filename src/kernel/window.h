/** @file window.h  Wide rows, some of their columns at a time.
 *
 *  A kernel that sees rows of numbers through inner products alone does not need them whole: the
 *  products add up over windows of columns. Rows as wide as memory allows then travel a window at a
 *  time.
 */
#ifndef DKMAP_WINDOW_H
#define DKMAP_WINDOW_H

#include "kernel/kernel_impl.h"

typedef struct dkm_window {
    const dkm_prepared *of;
    dkm_prepared view;    /**< the same objects with the columns at hand; for panels */
    const dkm_node *leaf; /**< one that takes the inner products */
    dkm_data part;        /**< what the view has in the slot of the rows, which it borrows */
    dkm_idx width;        /**< columns at most */
} dkm_window;

/** Columns of the rows whose inner products are all that the kernel needs of its objects, a few
 *  numbers each apart; 0 where it needs other things. Local; the same on every rank. */
dkm_idx dkm_window_columns(const dkm_prepared *of);

/** Whether there are so many of them that rows should come in windows. Local; the same on every
 *  rank. */
int dkm_window_wanted(const dkm_prepared *of);

/** Have the first @p width columns at hand. Local; dkm_window_close() frees, also after a failure.
 *  @pre dkm_window_columns() > 0 */
DKM_NODISCARD
dkm_local dkm_window_open(dkm_window *window, const dkm_prepared *of, dkm_idx width);

/** Have columns from @p first on at hand, as many as there are of `width`. Local. */
void dkm_window_move(dkm_window *window, dkm_idx first);

void dkm_window_close(dkm_window *window);

#endif
