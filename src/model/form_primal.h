/** @file form_primal.h  The linear part of a form through the features: W = X'U, and G = X W.
 *
 *  Every rank makes the rows of W that belong to its share of the features, from all examples in
 *  their order, so that W does not depend on how many ranks there are.
 */
#ifndef DKMAP_FORM_PRIMAL_H
#define DKMAP_FORM_PRIMAL_H

#include "model/form.h"

/** This rank's share of the features: [first, first + count). Local. */
void dkm_form_share(const dkm_form *form, dkm_idx *first, dkm_idx *count);

/** Bring this rank's share of the features of all examples here. Collective. */
DKM_NODISCARD
dkm_status dkm_form_primal_columns(dkm_form *form);

/** G += X X'U. Collective. On success form->W is X'U. */
DKM_NODISCARD
dkm_status dkm_form_primal_add(dkm_form *form, const double *U, double *G);

/** G = X W, form->W being put together of every rank's share. Collective.
 *  @param[in] own  this rank's features x r */
DKM_NODISCARD
dkm_status dkm_form_primal_values(dkm_form *form, const double *own, double *G);

/** own = sum of unit x_i (e_t - e_c) over the examples with a choice c >= 0, t its right class;
 *  features x r, of this rank's share. Local.
 *
 *  @param[in] truth, choice  of all examples */
DKM_NODISCARD
dkm_local dkm_form_primal_count(const dkm_form *form, const int32_t *truth, const int32_t *choice,
                                double unit, double *own);

#endif
