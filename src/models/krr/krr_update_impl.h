/** @file krr_update_impl.h  What adding and removing examples share. */
#ifndef DKMAP_MODELS_KRR_KRR_UPDATE_IMPL_H
#define DKMAP_MODELS_KRR_KRR_UPDATE_IMPL_H

#include "models/krr/krr_inverse.h"
#include "models/krr/krr_update.h"

/** Whether the model can be changed. Local. */
DKM_NODISCARD dkm_local dkm_krr_update_check(const dkm_krr_dual *s);

/** A state for other examples, on the grid of another one and with its kernel, blocks and gamma. It
 *  borrows the rows of its factor until dkm_krr_update_replace(). Gram matrices of its inputs are
 *  scaled by the roots of weights until dkm_krr_update_finish(). Collective; dkm_krr_update_clear()
 *  frees, also after a failure.
 *  @param[in,out] Y  taken over */
DKM_NODISCARD dkm_status dkm_krr_update_begin(const dkm_krr_dual *old, const dkm_data *X,
                                              dkm_data **Y, const dkm_data *weights,
                                              dkm_krr_dual *s);

/** The outputs as numbers, encoded and centered anew. Collective; dkm_multivec_free() frees @p t. */
DKM_NODISCARD dkm_status dkm_krr_update_targets(dkm_krr_dual *s, const dkm_krr_dual *old,
                                                dkm_multivec *t);
/** From @p b, solved for @p t with the factor, to the coefficients; it is refined where its residual
 *  asks for it. Collective. */
DKM_NODISCARD dkm_status dkm_krr_update_finish(dkm_krr_dual *s, const dkm_multivec *t,
                                               dkm_multivec *b, double *residual);
/** All of that, by the factor as it is. Collective. */
DKM_NODISCARD dkm_status dkm_krr_update_solve(dkm_krr_dual *s, const dkm_krr_dual *old,
                                              double *residual);

/** What was done before and now: rows of 1 or -1 and a number of examples. Collective. */
DKM_NODISCARD dkm_status dkm_krr_update_remember(dkm_krr_dual *s, const dkm_krr_dual *old,
                                                 double sign, dkm_idx count);

/** Rows of A with zeros behind them, @p n columns. Collective. */
DKM_NODISCARD dkm_status dkm_krr_update_pad(const dkm_dmat *A, dkm_idx n, dkm_data **padded);
/** Rows of A, if there is one, padded, and after them those of @p more. Collective. */
DKM_NODISCARD dkm_status dkm_krr_update_stack(const dkm_krr_dual *s, const dkm_dmat *A,
                                              const dkm_data *more, dkm_dmat **stacked);

/** What @p f shares with the factor of another state, it does not have any more. Local. */
void dkm_krr_update_return(const dkm_krr_factor *from, dkm_krr_factor *f);
/** The new state takes the place of the old one, with the grid and what it had borrowed. Local. */
void dkm_krr_update_replace(dkm_krr_dual *old, dkm_krr_dual *s);
/** Free the state that is not needed; @p other is the one that stays. Local. */
void dkm_krr_update_clear(dkm_krr_dual *s, const dkm_krr_dual *other);

void dkm_krr_update_report(const dkm_krr_dual *s, const char *what, dkm_idx count, double residual,
                           dkm_report *report);

#endif
