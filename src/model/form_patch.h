/** @file form_patch.h  The patch terms of a form, cell by cell.
 *
 *  Tiles of T_c(i, j) = <x_i, x'_j> over the points of each cell c become s_c(i, j) by sums over
 * the patches that hold c; each cell is then a plain kernel of its own.
 */
#ifndef DKMAP_FORM_PATCH_H
#define DKMAP_FORM_PATCH_H

#include "model/form.h"

/** G += weight sum_j s(a_i, x_j) o u_j. Collective. */
DKM_NODISCARD
dkm_status dkm_form_patch_apply(const dkm_form *form, const dkm_form_patch *patch,
                                const dkm_data *A, const double *U, double *G);

/** out(a, b) += weight sum_p s_p(x_a, x_b) v_ap v_bp. Local.
 *  @param[in] X  inputs of A, row by row */
DKM_NODISCARD
dkm_local dkm_form_patch_meet(const dkm_form *form, const dkm_form_patch *patch, dkm_form_rows A,
                              const double *X, dkm_form_rows B, double *out);

#endif
