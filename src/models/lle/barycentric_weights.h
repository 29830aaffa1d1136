/** @file barycentric_weights.h  What each point is made of: weights on its nearest neighbors. */
#ifndef DKMAP_MODELS_LLE_BARYCENTRIC_WEIGHTS_H
#define DKMAP_MODELS_LLE_BARYCENTRIC_WEIGHTS_H

#include <dkmap/data.h>

/** Dense points to be made of, with their squared norms. */
typedef struct dkm_anchors {
    const dkm_data *X;
    double *shift;     /**< the origin of the points, which does not matter; NULL for zero */
    dkm_data *shifted; /**< the points without it; NULL for zero */
    double *norms;     /**< of this rank's slab, without it */
} dkm_anchors;

/** Get ready. Collective; dkm_anchors_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_anchors_open(dkm_anchors *anchors, const dkm_data *X);
void dkm_anchors_close(dkm_anchors *anchors);

/** For each point its k nearest anchors and the weights, 1 in sum, whose combination of them is
 *  nearest to it.
 *
 *  Collective. Points come in chunks: memory does not grow with their number.
 *
 *  @param[in]  Q      points, dense
 *  @param[in]  own    the points are the anchors: none is made of itself
 *  @param[in]  ridge  added to the diagonal of a point's local matrix, a part of its trace
 *  @param[out] pairs  for each point of this rank's slab k indices and then k weights
 */
DKM_NODISCARD dkm_status dkm_barycentric_weights(const dkm_anchors *anchors, const dkm_data *Q,
                                                 int own, dkm_idx k, double ridge, double *pairs);

#endif
