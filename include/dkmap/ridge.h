/** @file ridge.h  Ridge systems with a symmetric matrix: (K + gamma I) B = Y. */
#ifndef DKMAP_RIDGE_H
#define DKMAP_RIDGE_H

#include <dkmap/dmat.h>

typedef struct dkm_ridge_info {
    double jitter;    /**< added to gamma until K + gamma I could be factored; 0 as a rule */
    int jitter_steps; /**< rungs of the ladder taken */
    double residual;  /**< ||(K + gamma I) B - Y|| / ||Y||, Frobenius, without the jitter */
} dkm_ridge_info;

/** Solve (K + gamma I) B = Y by Cholesky, all columns of Y at once.
 *
 *  Collective on the grid of @p K. When the matrix is not positive definite a ladder of jitter is
 *  climbed, each rung ten times the one before; every rung is told as a warning.
 *
 *  @param[in,out] K      symmetric, lower triangle read, square blocks; on return its lower
 * triangle holds the factor and its strict upper one the matrix itself
 *  @param[in]     gamma  ridge > 0, the same on every rank
 *  @param[in]     Y      as many rows as K, in blocks of as many rows
 *  @param[out]    B      new matrix, owned by the caller; NULL on failure
 *  @param[out]    info   may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when the ladder ends or K holds
 *          numbers that are not finite
 */
DKM_NODISCARD
dkm_status dkm_ridge_solve(dkm_dmat *K, double gamma, const dkm_dmat *Y, dkm_dmat **B,
                           dkm_ridge_info *info);

#endif
