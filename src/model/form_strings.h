/** @file form_strings.h  The joint kernel of strings: stretches of the input with a letter of the
 * output.
 *
 *      J((x, y), (x', y')) = number of pairs of places at which x and x' have the same p letters
 * and y and y' the same letter at the middle of those
 *
 *  In coordinates z of place and letter it is linear in either output. A machine is one weight for
 *  each stretch and letter; what it says of an input is a row of weights for each place.
 */
#ifndef DKMAP_FORM_STRINGS_H
#define DKMAP_FORM_STRINGS_H

#include "model/form.h"

/** Set up the terms of a joint kernel: all stretches of the training inputs. Collective;
 *  dkm_form_strings_close() frees, also after a failure.
 *  @return DKM_OK; DKM_ERR_ARG when inputs are not strings; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_form_strings_open(dkm_form *form, const dkm_joint *joint);
void dkm_form_strings_close(dkm_form *form);

/** G += W x of the inputs of @p A. Collective. */
DKM_NODISCARD
dkm_status dkm_form_strings_apply(const dkm_form *form, const dkm_form_strings *term,
                                  const dkm_data *A, const double *U, double *G);

/** out(a, b) += <Phi(x_a, v_a), Phi(x_b, v_b)>. Local.
 *  @param[in] X  the inputs of A */
DKM_NODISCARD
dkm_local dkm_form_strings_meet(const dkm_form *form, const dkm_form_strings *term, dkm_form_rows A,
                                const dkm_objs *X, dkm_form_rows B, double *out);

#endif
