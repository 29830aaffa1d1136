/** @file onecut_primal.h  Constraints of onecut.h as machines W = X'U, where outputs are classes
 * and the kernel is linear.
 *
 *  A machine is made of the choices alone: every rank adds up its share of the features of all
 *  examples, in their order. All of it comes out the same on any number of ranks.
 */
#ifndef DKMAP_ONECUT_PRIMAL_H
#define DKMAP_ONECUT_PRIMAL_H

#include "model/onecut.h"
#include "model/panels.h"

/** Make the machine of constraint @p k from its choices. Collective. */
DKM_NODISCARD
dkm_status dkm_onecut_primal_make(dkm_onecut *cuts, dkm_idx k);

/** Make the machine of the last constraint, and its products with all. Collective.
 *  @param[in,out] products  cuts->n, zero before */
DKM_NODISCARD
dkm_status dkm_onecut_primal_meet(dkm_onecut *cuts, dkm_sum *products);

/** G = X W, W the sum of all machines times their multipliers. Collective. */
DKM_NODISCARD
dkm_status dkm_onecut_primal_values(dkm_onecut *cuts, double *G);

#endif
