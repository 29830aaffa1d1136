/** @file linop.h  A kernel matrix as a linear operator: stored, or computed anew for each product.
 */
#ifndef DKMAP_SOLVERS_OPERATORS_LINOP_H
#define DKMAP_SOLVERS_OPERATORS_LINOP_H

#include <dkmap/kernel.h>

typedef struct dkm_linop {
    dkm_grid *grid;
    const dkm_prepared *X; /**< may be NULL where K is kept */
    dkm_idx nb;
    const dkm_dmat *K; /**< double, lower triangle; NULL: computed anew from X */
} dkm_linop;

/** rows <- K rows, for this rank's slab of a matrix of @p p columns, row-major, ld = p.
 *  Collective. */
DKM_NODISCARD
dkm_status dkm_linop_apply(const dkm_linop *product, dkm_idx p, double *rows);

#endif
