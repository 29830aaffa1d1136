/** @file sparse_dot.h  Tiles of objects stored as lists of (column, value): sparse rows, sets,
 * counts. */
#ifndef DKMAP_KERNELS_EVALUATION_SPARSE_DOT_H
#define DKMAP_KERNELS_EVALUATION_SPARSE_DOT_H

#include "data/objects.h"
#include "kernels/evaluation/tile_maps.h"

/** What is added up over the columns that both lists have. */
typedef enum dkm_sparse_term {
    DKM_SPARSE_PRODUCT, /**< u v: an inner product */
    DKM_SPARSE_L1_GAP   /**< |u - v| - |u| - |v|: with both 1-norms added, a 1-distance */
} dkm_sparse_term;

/** C(i, j) = the sum over the columns that a_i and b_j share, objects [a, a + C.na) of A against
 *  [b, b + C.nb) of B.
 *
 *  Local. A list names a column once; lists without values count as ones. Added up in double.
 *  @return ok; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_local dkm_sparse_dot_tile(dkm_sparse_term meeting, const dkm_objs *A, dkm_idx a,
                                            const dkm_objs *B, dkm_idx b, const dkm_tile *C);

#endif
