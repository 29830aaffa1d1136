/** @file gram.h  The tiles of a Gram matrix, one after the other, without the matrix. */
#ifndef DKMAP_GRAM_H
#define DKMAP_GRAM_H

#include "kernel/kernel_impl.h"

typedef struct dkm_visitor dkm_visitor;

/** Sees every tile of this rank once. */
struct dkm_visitor {
    /** Tile C covers local rows from il on and local columns from jl on of a matrix laid out like
     *  @p shape; what it has above the diagonal is zero. It may be overwritten. Local. */
    void (*visit)(dkm_visitor *self, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                  const dkm_tile *C);
};

/** Compute the lower triangle of the Gram matrix tile by tile and drop each after it was seen.
 *  Collective; memory is that of the panels. */
DKM_NODISCARD
dkm_status dkm_gram_visit(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                          dkm_precision precision, dkm_visitor *visitor);

#endif
