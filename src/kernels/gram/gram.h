/** @file gram.h  The tiles of a Gram matrix, one after the other, with or without the matrix. */
#ifndef DKMAP_KERNELS_GRAM_GRAM_H
#define DKMAP_KERNELS_GRAM_GRAM_H

#include "kernels/evaluation/panel.h"
#include "matrix/multivec.h"

typedef struct dkm_visitor dkm_visitor;

/** Sees every tile of this rank once. */
struct dkm_visitor {
    /** Tile C covers local rows from il on and local columns from jl on of a matrix laid out like
     *  @p shape; what it has above the diagonal is zero. It may be overwritten. Local. */
    void (*visit)(dkm_visitor *visitor, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                  const dkm_tile *C);

    /** The same before the tile is computed, and in place of that: @p task says of which objects it
     *  would be, C is space for it. NULL: tiles are computed and visited. Local. */
    dkm_local (*look)(dkm_visitor *visitor, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                      const dkm_tile_task *task, const dkm_tile *C);
};

/** Whether objects were prepared for @p kernel. Local. */
DKM_NODISCARD dkm_local dkm_gram_check(const dkm_kernel *kernel, const dkm_prepared *X);

/** Compute all tiles of k(A, B), or of its lower triangle.
 *
 *  Collective.
 *
 *  @param[in]     lower    A is B, and nothing above the diagonal is wanted
 *  @param[in,out] K        takes the tiles; a shape alone when there is a visitor
 *  @param[in]     visitor  sees each tile instead, which is then dropped; may be NULL
 *  @param[in]     cached   what dkm_gram_cache_columns() filled for matrices of these columns, or
 *                          NULL
 */
DKM_NODISCARD dkm_status dkm_gram_fill(const dkm_prepared *A, const dkm_prepared *B, int lower,
                                       dkm_dmat *K, dkm_visitor *visitor, dkm_panel *cached);

/** Bring the objects of this rank's columns together, to be used by many calls.
 *
 *  Collective.
 *
 *  @param[in]  shape  has the columns that K will have; its rows do not matter
 *  @param[out] cols   to be closed by the caller; stays empty (`of` is NULL) on all ranks when a
 *                     panel does not hold them all
 */
DKM_NODISCARD dkm_status dkm_gram_cache_columns(const dkm_prepared *B, dkm_dmat *shape,
                                                dkm_panel *cols);

/** dkm_gram() as a matrix of dkm_dmat_create_lower(), whose upper triangle takes no memory. Collective;
 *  owned by the caller. */
DKM_NODISCARD dkm_status dkm_gram_lower(dkm_grid *grid, const dkm_kernel *kernel,
                                        const dkm_prepared *X, dkm_idx nb, dkm_precision precision,
                                        dkm_dmat **K);

/** Compute the lower triangle of the Gram matrix tile by tile and drop each after it was seen.
 *  Collective; memory is that of the panels. */
DKM_NODISCARD dkm_status dkm_gram_visit(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                                        dkm_precision precision, dkm_visitor *visitor);

/** W <- k(X, X) V with kernel values in either precision; sums are double. W may be V.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_gram_symm(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                                       dkm_precision precision, const dkm_multivec *V,
                                       dkm_multivec *W);

/** W <- k(A, B) V tile by tile, in double; V has a row per object of B, W one per object of A, and at
 *  most DKM_NRHS_MAX columns. Collective; memory is that of the panels and of the vectors.
 *  @return DKM_OK; DKM_ERR_MEMORY; what the kernel returns */
DKM_NODISCARD dkm_status dkm_gram_cross_multiply(dkm_grid *grid, const dkm_prepared *A,
                                                 const dkm_prepared *B, dkm_idx nb,
                                                 const dkm_multivec *V, dkm_multivec *W);

/** The same with the training objects that @p cross, of double precision, holds. Collective. */
DKM_NODISCARD dkm_status dkm_cross_gram_multiply(dkm_cross_gram *cross, const dkm_prepared *A,
                                                 dkm_idx mb, const dkm_multivec *V,
                                                 dkm_multivec *W);

/** Some consecutive rows or columns. */
typedef struct dkm_range {
    dkm_idx first, count;
} dkm_range;

/** Some rows and columns of the Gram matrix, the same to the last bit on any number of ranks, each of which
 *  names its own. Collective.
 *  @param[in]  cols  the first is a multiple of 64
 *  @param[out] out   rows.count x cols.count, row-major */
DKM_NODISCARD dkm_status dkm_gram_part(const dkm_prepared *X, dkm_range rows, dkm_range cols,
                                       double *out);

#endif
