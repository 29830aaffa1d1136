/** @file weighted_sampling.h  Weighted sampling without replacement.
 *
 *  Every object has an exponential key whose rate is its weight, and those with the smallest keys
 *  are drawn. Keys are hashes of the seed and the index, so the sample does not depend on the
 *  number of ranks. The largest key that is drawn is found by bisection.
 */
#ifndef DKMAP_SOLVERS_LANDMARKS_WEIGHTED_SAMPLING_H
#define DKMAP_SOLVERS_LANDMARKS_WEIGHTED_SAMPLING_H

#include <dkmap/grid.h>

typedef struct dkm_weighted_sampling {
    dkm_ctx *ctx;
    dkm_idx m;
    uint64_t stream, draw; /**< another turn is another draw */
    const double *weights; /**< of this rank's slab, >= 0; NULL: all are 1 */
} dkm_weighted_sampling;

/** Draw @p count of those with a weight above 0, or all of them when there are fewer.
 *
 *  Collective.
 *
 *  @param[in,out] count   at most m; how many were drawn
 *  @param[out]    indices  ascending, the same on every rank
 */
DKM_NODISCARD dkm_status dkm_weighted_sampling_draw(const dkm_weighted_sampling *sampling,
                                                    dkm_idx *count, dkm_idx *indices);

#endif
