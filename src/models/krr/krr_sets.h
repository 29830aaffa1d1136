/** @file krr_sets.h  Residuals and prediction sets of kernel ridge regression, of numbers and
 *  classes; see dkmap/conformal.h. All collective. */
#ifndef DKMAP_MODELS_KRR_KRR_SETS_H
#define DKMAP_MODELS_KRR_KRR_SETS_H

#include "models/krr/krr_dual.h"

/** |y_j - f_j(x)| of numbers, or ||e_y - f(x)||^2 of classes. */
DKM_NODISCARD dkm_status dkm_krr_residuals(dkm_krr_dual *s, const dkm_data *X, const dkm_data *Y,
                                           dkm_data **R);
/** Intervals as dense rows, or label sets. */
DKM_NODISCARD dkm_status dkm_krr_open_sets(dkm_krr_dual *s, dkm_type *type, dkm_idx *cols);
DKM_NODISCARD dkm_status dkm_krr_prediction_sets(dkm_krr_dual *s, const dkm_data *X,
                                                 const double *radius, dkm_data **S);

#endif
