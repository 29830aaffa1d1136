/** @file krr_fold.h  The factor of a model of krr without some of its rows. */
#ifndef DKMAP_MODELS_KRR_KRR_FOLD_H
#define DKMAP_MODELS_KRR_KRR_FOLD_H

#include "models/krr/krr_factor.h"

/** Collective; the factor is open and stays as it is.
 *  @param[in]  rows  @p gone of them, ascending, the same on every rank
 *  @param[out] L     new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_krr_fold(const dkm_krr_factor *factor, const dkm_fitted_kernel *fitted,
                                      dkm_idx gone, const dkm_idx *rows, dkm_dmat **L);

#endif
