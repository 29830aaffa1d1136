/** @file krr_labelled.h  Kernel ridge regression from some of the objects that a kernel knows. */
#ifndef DKMAP_MODELS_KRR_KRR_LABELLED_H
#define DKMAP_MODELS_KRR_KRR_LABELLED_H

#include <dkmap/krr.h>

/** Fit in dual form to the examples whose weights are above 0; the model is one of all objects.
 *
 *  Collective.
 *
 *  @param[in] settings  with weights, some of them 0
 *  @return as dkm_krr_fit() */
DKM_NODISCARD dkm_status dkm_krr_labelled_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                              const dkm_kernel *kernel,
                                              const dkm_krr_settings *settings, dkm_model **model,
                                              dkm_krr_info *info);

#endif
