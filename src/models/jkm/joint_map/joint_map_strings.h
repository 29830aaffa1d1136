/** @file joint_map_strings.h  The joint kernel of strings: k-mers of the input with a character of
 * the output.
 *
 *      J((x, y), (x', y')) = number of pairs of positions at which x and x' have the same p characters
 * and y and y' the same character at the middle of those
 *
 *  In coordinates z of place and character it is linear in either output. A weight vector is one
 * weight for each k-mer and character; what it says of an input is a row of weights for each place.
 */
#ifndef DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_STRINGS_H
#define DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_STRINGS_H

#include "models/jkm/joint_map/joint_map.h"

/** Set up the terms of a joint kernel: all k-mers of the training inputs. Collective;
 *  dkm_joint_map_strings_close() frees, also after a failure.
 *  @return DKM_OK; DKM_ERR_ARG when inputs are not strings; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_joint_map_strings_open(dkm_joint_map *map, const dkm_joint *joint);
void dkm_joint_map_strings_close(dkm_joint_map *map);

/** G += W x of the inputs of @p A. Collective. */
DKM_NODISCARD dkm_status dkm_joint_map_strings_apply(const dkm_joint_map *map,
                                                     const dkm_joint_map_strings *term,
                                                     const dkm_data *A, const double *U, double *G);

/** out(a, b) += <Phi(x_a, v_a), Phi(x_b, v_b)>. Local.
 *  @param[in] X  the inputs of A */
DKM_NODISCARD dkm_local dkm_joint_map_strings_inner(const dkm_joint_map *map,
                                                    const dkm_joint_map_strings *term,
                                                    dkm_joint_map_rows A, const dkm_objs *X,
                                                    dkm_joint_map_rows B, double *out);

#endif
