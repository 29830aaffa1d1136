/** @file set_lists.h  Sets of any kind as sorted lists of numbers, without repeats. */
#ifndef DKMAP_KERNELS_DISCRETE_SET_LISTS_H
#define DKMAP_KERNELS_DISCRETE_SET_LISTS_H

#include "kernels/evaluation/panel.h"

/** Digest: labels, label sets and sets of words as label sets, with their sizes as extra. Words of
 *  up to seven bytes are distinguished exactly, longer ones by a 63-bit hash. Local. */
dkm_local dkm_sets_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out);

/** C(i, j) = how much a_i and b_j share. Local. */
DKM_NODISCARD dkm_local dkm_sets_intersect(const dkm_node *node, const dkm_tile_task *task,
                                           const dkm_tile *C);

#endif
