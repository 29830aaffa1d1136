/** @file joint_map_paired.h  Terms of a joint map that pair each input with the output of the same
 * number. */
#ifndef DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_PAIRED_H
#define DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_PAIRED_H

#include "models/jkm/joint_map/joint_map.h"

/** G_i += diagonal x_i o d with d = sum_j x_j o u_j, for inputs x_i of @p A. Collective. */
DKM_NODISCARD dkm_status dkm_joint_map_add_diagonal(const dkm_joint_map *f, const dkm_data *A,
                                                    const double *U, double *G);

/** G_i += identity s x_i with s = sum_j <x_j, u_j>, for inputs x_i of @p A. Collective. */
DKM_NODISCARD dkm_status dkm_joint_map_add_identity(const dkm_joint_map *f, const dkm_data *A,
                                                    const double *U, double *G);

/** out(a, b) += diagonal sum_k x_ak v_ak x_bk v_bk. Local.
 *  @param[in] X  the inputs of A */
DKM_NODISCARD dkm_local dkm_joint_map_inner_diagonal(const dkm_joint_map *f, dkm_joint_map_rows A,
                                                     const double *X, dkm_joint_map_rows B,
                                                     double *out);

/** out(a, b) += identity <x_a, v_a> <x_b, v_b>. Local. */
DKM_NODISCARD dkm_local dkm_joint_map_inner_identity(const dkm_joint_map *f, dkm_joint_map_rows A,
                                                     const double *X, dkm_joint_map_rows B,
                                                     double *out);

#endif
