/** @file joint_map_primal.h  The linear part of a joint map through the features: W = X'U, and G =
 * X W.
 *
 *  Every rank holds the rows of W that belong to its share of the features. W does not depend on how many
 *  ranks there are.
 */
#ifndef DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_PRIMAL_H
#define DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_PRIMAL_H

#include "models/jkm/joint_map/joint_map.h"

/** This rank's share of the features: [first, first + count). Local. */
void dkm_joint_map_share(const dkm_joint_map *map, dkm_idx *first, dkm_idx *count);

/** G += X X'U. Collective. On success form->W is X'U. */
DKM_NODISCARD dkm_status dkm_joint_map_primal_add(dkm_joint_map *map, const double *U, double *G);

/** G = X W, form->W being put together of every rank's share. Collective.
 *  @param[in] own  this rank's features x r */
DKM_NODISCARD dkm_status dkm_joint_map_primal_values(dkm_joint_map *map, const double *own,
                                                     double *G);

/** own = sum of unit x_i (e_t - e_c) over the examples with a choice c >= 0, t the right class;
 *  features x r, of this rank's share. Collective.
 *
 *  @param[in] truth, choice  of this rank's examples
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when inputs are not finite */
DKM_NODISCARD dkm_status dkm_joint_map_primal_sum(const dkm_joint_map *map, const dkm_idx *truth,
                                                  const int32_t *choice, double unit, double *own);

#endif
