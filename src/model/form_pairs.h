/** @file form_pairs.h  Terms of a form that pair each input with the output of the same number. */
#ifndef DKMAP_FORM_PAIRS_H
#define DKMAP_FORM_PAIRS_H

#include "model/form.h"

/** G_i += diagonal x_i o d with d = sum_j x_j o u_j, for inputs x_i of @p A. Collective. */
DKM_NODISCARD
dkm_status dkm_form_add_diagonal(const dkm_form *f, const dkm_data *A, const double *U, double *G);

/** G_i += identity s x_i with s = sum_j <x_j, u_j>, for inputs x_i of @p A. Collective. */
DKM_NODISCARD
dkm_status dkm_form_add_identity(const dkm_form *f, const dkm_data *A, const double *U, double *G);

/** out(a, b) += diagonal sum_k x_ak v_ak x_bk v_bk. Local.
 *  @param[in] X  the inputs of A */
DKM_NODISCARD
dkm_local dkm_form_meet_diagonal(const dkm_form *f, dkm_form_rows A, const double *X,
                                 dkm_form_rows B, double *out);

/** out(a, b) += identity <x_a, v_a> <x_b, v_b>. Local. */
DKM_NODISCARD
dkm_local dkm_form_meet_identity(const dkm_form *f, dkm_form_rows A, const double *X,
                                 dkm_form_rows B, double *out);

#endif
