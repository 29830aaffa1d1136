/** @file nearest.h  The nearest of many candidates, for many points at once.
 *
 *  Distances come from blocked matrix products: every rank has all points of a stretch and its own
 *  slab of candidates, keeps the best of its own, and the lists are merged where the points live.
 */
#ifndef DKMAP_NEAREST_H
#define DKMAP_NEAREST_H

#include <dkmap/data.h>

typedef struct dkm_candidates {
    dkm_data *Z;   /**< coordinates, dense, in slabs */
    double *norms; /**< of this rank's slab: squared distance to the origin of the coordinates, in
                      the whole space and not only along them */
} dkm_candidates;

/** Free both. Local. */
void dkm_candidates_clear(dkm_candidates *candidates);

/** The @p top candidates c with the smallest norms_c - 2 q.z_c + q.q for each point q.
 *
 *  Collective. Ties go to the lowest index.
 *
 *  @param[in]  Q          points, dense, in slabs, as many columns as Z
 *  @param[in]  top        at most as many as there are candidates
 *  @param[out] index      this rank's points x top, nearest first
 *  @param[out] distance   the squared distances beside them
 */
DKM_NODISCARD
dkm_status dkm_nearest(const dkm_data *Q, const dkm_candidates *candidates, dkm_idx top,
                       dkm_idx *index, double *distance);

/** What candidates were found, as dense rows of index, squared distance, index, distance, ...
 *
 *  Collective.
 *
 *  @param[in]  n  points of all ranks
 *  @param[out] Y  new, owned by the caller; n x 2 top
 */
DKM_NODISCARD
dkm_status dkm_candidates_list(dkm_ctx *ctx, dkm_idx n, dkm_idx top, const dkm_idx *index,
                               const double *distance, dkm_data **Y);

#endif
