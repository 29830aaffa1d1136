/** @file krr_autotune.h  Which solver of ridge regression: what fits the memory and the time asked.
 */
#ifndef DKMAP_MODELS_KRR_KRR_AUTOTUNE_H
#define DKMAP_MODELS_KRR_KRR_AUTOTUNE_H

#include <dkmap/krr.h>

/** Whether settings leave the choice open. Local. */
int dkm_krr_autotune_needed(const dkm_krr_settings *settings);

/** Decide how to fit.
 *
 *  Collective. The exact fit is taken where its matrix fits the memory and, where a time is asked,
 *  what it would take fits that. Else all inputs are centers and the exact system is solved by
 *  iteration to a residual of 1e-2, or what was asked: with the lower triangle of the kernel matrix
 *  stored where that fits memory and time, or recomputed in every iteration where that fits a time asked.
 *  Else landmarks: as many as were given, or the most that fit memory and time (10 sqrt(m) where no
 *  time is asked). Rates of the machine are those of the settings; what is missing is measured on a
 *  few kernel values and a small product, the best of several tries.
 *
 *  @param[in]     X         inputs
 *  @param[in]     outputs   columns of the outputs
 *  @param[in,out] settings  solver, landmarks and centers are set
 *  @param[out]    reason    one line for the user; empty when there was nothing to decide
 */
DKM_NODISCARD dkm_status dkm_krr_autotune(const dkm_data *X, dkm_idx outputs,
                                          const dkm_kernel *kernel, dkm_krr_settings *settings,
                                          char reason[DKM_KRR_REASON]);

#endif
