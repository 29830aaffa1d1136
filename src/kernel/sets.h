/** @file sets.h  Sets of any kind as sorted lists of numbers, without repeats. */
#ifndef DKMAP_SETS_H
#define DKMAP_SETS_H

#include "kernel/panel.h"

/** Digest: labels, label sets and sets of words as label sets, with their sizes as extra. Words of
 *  up to seven bytes are told apart exactly, longer ones by a 63-bit hash. Local. */
dkm_local dkm_sets_digest(const dkm_node *node, const dkm_objs *X, dkm_objs *out);

/** C(i, j) = how much a_i and b_j share. Local. */
DKM_NODISCARD
dkm_local dkm_sets_meet(const dkm_node *node, const dkm_job *job, const dkm_tile *C);

#endif
