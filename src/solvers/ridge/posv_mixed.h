/** @file posv_mixed.h  Ridge systems in mixed precision: a factor in single precision, refinement
 *  by conjugate gradients in double.
 */
#ifndef DKMAP_SOLVERS_RIDGE_POSV_MIXED_H
#define DKMAP_SOLVERS_RIDGE_POSV_MIXED_H

#include <dkmap/ridge.h>

/** Solve (K + gamma I) B = Y, K = k(X, X).
 *
 *  Collective. Single precision that cannot factor the matrix shifts the factor's diagonal until it
 *  can; the shift spoils the preconditioner and not the answer.
 *
 *  @param[in]  keep    hold K in double, else compute it anew for each product
 *  @param[in]  refine  0 takes the single precision solution as it is
 *  @param[in]  worth   iterations that take as long as double precision would: more are not begun,
 *                      judged by the shift and by the rate of convergence; 0: no limit
 *  @param[out] K       the double matrix where it was stored, owned by the caller; else NULL
 *  @param[out] L       the factor of K + (gamma + shift) I, owned by the caller; may be NULL
 *  @param[out] B       new double matrix like Y
 *  @param[out] info    residual measured in double, steps, shift, condition
 *  @return DKM_OK, also when the residual stopped above the tolerance: the caller judges it;
 *          DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no shift that is worth it allowed a factor
 */
DKM_NODISCARD dkm_status dkm_posv_mixed(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                                        const dkm_ridge_settings *settings, int keep, int refine,
                                        double worth, const dkm_dmat *Y, dkm_dmat **K, dkm_dmat **L,
                                        dkm_dmat **B, dkm_ridge_info *info);

#endif
