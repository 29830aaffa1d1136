/** @file krr_distance.h  The distance of a fit to the exact one. */
#ifndef DKMAP_MODELS_KRR_KRR_DISTANCE_H
#define DKMAP_MODELS_KRR_KRR_DISTANCE_H

#include <dkmap/ridge.h>

#include "models/common/fitted_kernel.h"

/** ||F - f*(X)|| / ||f*(X)|| with f* the exact fit. Collective.
 *  @param[in]     fitted  gives kernel, grid and block size
 *  @param[in]     roots  of the weights of all examples, by which T and F are scaled; or NULL
 *  @param[in,out] T     targets, this rank's slab of rows of p numbers; becomes f*(X)
 *  @param[in]     F     f(X), laid out like T */
DKM_NODISCARD dkm_status dkm_krr_distance(const dkm_fitted_kernel *fitted, const dkm_data *X,
                                          double gamma, const double *roots, dkm_idx p, double *T,
                                          const double *F, double *distance);

#endif
