/** @file greedy.h  Landmarks chosen one after the other, each by what those before leave. */
#ifndef DKMAP_SOLVERS_LANDMARKS_GREEDY_H
#define DKMAP_SOLVERS_LANDMARKS_GREEDY_H

#include <dkmap/kernel.h>

typedef enum dkm_greedy_rule {
    DKM_GREEDY_FARTHEST, /**< the object farthest from those taken, from the first object on */
    DKM_GREEDY_CHOLESKY  /**< the object with most of k(x, x) left: pivoted Cholesky */
} dkm_greedy_rule;

/** Choose some of the objects. Collective.
 *
 *  Each takes a column of kernel values; pivoted Cholesky keeps m x count numbers, spread over the
 *  ranks. Ties go to the lowest place.
 *
 *  @param[in]     X       training objects of their kernel
 *  @param[in,out] count   at most as many as there are objects; fewer come back when nothing is
 *                         left of the others to rounding
 *  @param[out]    indices  ascending, the same on every rank; space for @p count
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_greedy_choose(const dkm_prepared *X, dkm_greedy_rule rule,
                                           dkm_idx *count, dkm_idx *indices);

#endif
