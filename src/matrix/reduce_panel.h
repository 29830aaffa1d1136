/** @file reduce_panel.h  Sums of panels over all ranks, each element going to its owner alone.
 *
 *  Every rank has made its own contribution to some columns of a block-cyclic matrix, all rows of
 *  them. The sum goes to the owners of the elements, a reduce-scatter: each rank sends every other
 *  rank the part that it owns. Rows in which a rank has nothing but zeros are not sent.
 *
 *  Words sent per rank for r rows and w columns: r w (1 - 1/ranks), or the fraction of it that lies
 *  in rows which are not zero. Messages: one to each other rank that owns something of the panel.
 *  Words held: twice the largest part, about 2 r w / ranks.
 */
#ifndef DKMAP_MATRIX_REDUCE_PANEL_H
#define DKMAP_MATRIX_REDUCE_PANEL_H

#include <dkmap/dmat.h>

/** This rank's contribution to columns [col, col + cols) of rows [row, m); borrowed. */
typedef struct dkm_panel_sum {
    dkm_idx row, col, cols;
    int lower; /**< only elements on the diagonal and below it are wanted */
    const char
        *nonzero; /**< one per row of the matrix, 0 where it has nothing; NULL: all may have */
    /** Address of the element in row @p row of the matrix's column @p jg; those below follow at
     *  every @p stride numbers. Local. */
    const double *(*column)(const void *user, dkm_idx jg, dkm_idx *stride);
    const void *user;
} dkm_panel_sum;

/** Numbers that a rank's panel may hold: 256 MiB per node, and at least 16 MiB per rank, as narrow
 *  panels take more passes over the data. Collective; the same on every rank. */
dkm_idx dkm_dmat_panel_capacity(const dkm_grid *grid);

/** A(ig, jg) <- sum over the ranks, for the rows and columns of the panel.
 *
 *  Collective; all ranks have the same rows and columns.
 *
 *  @param[in,out] A  double
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_dmat_reduce_panel(dkm_dmat *A, const dkm_panel_sum *panel);

#endif
