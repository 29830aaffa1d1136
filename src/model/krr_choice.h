/** @file krr_choice.h  Which solver of ridge regression: what fits the memory and the time asked.
 */
#ifndef DKMAP_KRR_CHOICE_H
#define DKMAP_KRR_CHOICE_H

#include <dkmap/krr.h>

/** Whether settings leave the choice open. Local. */
int dkm_krr_choice_open(const dkm_krr_settings *settings);

/** Decide between the exact fit and landmarks, and how many of them.
 *
 *  Collective. The exact fit is taken where its matrix fits the memory and, where a time is asked,
 *  what it would take by the rates of this machine, measured on a few kernel values and a small
 *  product, fits that. Else landmarks: as many as were given, or the most that fit memory and time
 *  (10 sqrt(m) where no time is asked).
 *
 *  @param[in]     X         inputs, or a part of them that stands for all: m says how many there
 * are
 *  @param[in,out] settings  solver and landmarks are set
 *  @param[out]    reason    one line for the user; empty when there was nothing to decide
 */
DKM_NODISCARD
dkm_status dkm_krr_choose(const dkm_data *X, dkm_idx m, const dkm_kernel *kernel,
                          dkm_krr_settings *settings, char reason[DKM_KRR_REASON]);

#endif
