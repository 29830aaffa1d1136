/** @file ridge_factor.h  Ridge systems whose factor is retained. */
#ifndef DKMAP_SOLVERS_RIDGE_RIDGE_FACTOR_H
#define DKMAP_SOLVERS_RIDGE_RIDGE_FACTOR_H

#include <dkmap/ridge.h>

/** dkm_ridge_kernel(), with the factor of K + (gamma + jitter) I.
 *
 *  Collective. A factor in single precision that had to be shifted is that of another matrix: double precision
 *  follows.
 *
 *  @param[out] L  double or single, owned by the caller; what lies above its diagonal is not to be read; may be
 *                 NULL, NULL on failure
 *  @return as dkm_ridge_kernel() */
DKM_NODISCARD dkm_status dkm_ridge_kernel_factor(const dkm_kernel *kernel, const dkm_prepared *X,
                                                 dkm_idx nb, const dkm_ridge_settings *settings,
                                                 const dkm_dmat *Y, dkm_dmat **L, dkm_dmat **B,
                                                 dkm_ridge_info *info);

#endif
