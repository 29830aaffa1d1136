/** @file joint_map_patch.h  The patch terms of a joint map, cell by cell.
 *
 *  Tiles of T_c(i, j) = <x_i, x'_j> over the points of each cell c become s_c(i, j) by sums over
 * the patches that hold c; each cell is then a plain kernel of its own.
 */
#ifndef DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_PATCH_H
#define DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_PATCH_H

#include "models/jkm/joint_map/joint_map.h"

/** G += weight sum_j s(a_i, x_j) o u_j. Collective. */
DKM_NODISCARD dkm_status dkm_joint_map_patch_apply(const dkm_joint_map *map,
                                                   const dkm_joint_map_patch *patch,
                                                   const dkm_data *A, const double *U, double *G);

/** out(a, b) += weight sum_p s_p(x_a, x_b) v_ap v_bp. Local.
 *  @param[in] X  inputs of A, row by row */
DKM_NODISCARD dkm_local dkm_joint_map_patch_inner(const dkm_joint_map *map,
                                                  const dkm_joint_map_patch *patch,
                                                  dkm_joint_map_rows A, const double *X,
                                                  dkm_joint_map_rows B, double *out);

#endif
