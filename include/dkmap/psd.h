/** @file psd.h  Matrices that should be positive semidefinite and are not: distances that no points
 *  have, similarities that no features have. */
#ifndef DKMAP_PSD_H
#define DKMAP_PSD_H

#include <dkmap/dmat.h>

DKM_API_BEGIN

typedef struct dkm_psd_info {
    dkm_idx negative; /**< eigenvalues that were below zero by more than rounding, m eps max |l| */
    double smallest;  /**< eigenvalue there was */
    double largest;
    double share; /**< of the absolute spectrum that was negative: sum |l < 0| / sum |l| */
} dkm_psd_info;

/** K <- V max(L, 0) V' for K = V L V': drop the negative eigenvalues, which gives the positive
 *  semidefinite matrix nearest to K.
 *
 *  Collective on the grid of @p K. Takes a full eigensolve. A matrix that is positive semidefinite
 *  already comes back as it was, to rounding.
 *
 *  @param[in,out] K     symmetric, double, square blocks; lower triangle read and written, the
 *                       strict upper one is overwritten; all of it is on failure
 *  @param[out]    info  may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_SIZE; DKM_ERR_NUMERIC
 */
DKM_NODISCARD dkm_status dkm_psd_clip(dkm_dmat *K, dkm_psd_info *info);

/** Smallest and largest eigenvalue of a symmetric matrix, by a few rounds of a block Krylov method.
 *
 *  Collective on the grid of @p K. Estimates from within the spectrum: a value below zero proves
 *  that K is not positive semidefinite.
 *
 *  @param[in] K  double, lower triangle read
 *  @param[out] smallest  eigenvalue
 *  @param[out] largest  eigenvalue
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_extremal_eigenvalues(const dkm_dmat *K, double *smallest,
                                                  double *largest);

/** Refuse a matrix that is not positive semidefinite, by more than numbers in single precision may
 *  have lost; the message names the smallest eigenvalue and offers to clip. Collective.
 *
 *  @param[in] K  double, lower triangle read
 *  @param[out] smallest, largest  as of dkm_extremal_eigenvalues()
 *  @return DKM_OK; DKM_ERR_NUMERIC; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_psd_check(const dkm_dmat *K, double *smallest, double *largest);

DKM_API_END

#endif
