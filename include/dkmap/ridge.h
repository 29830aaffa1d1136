/** @file ridge.h  Ridge systems with a symmetric matrix: (K + gamma I) B = Y.
 *
 *  In double precision by Cholesky; or in mixed precision, where the factor is single and conjugate
 *  gradients preconditioned by it bring the residual down to double accuracy. Mixed takes less
 *  time and, when the double matrix is computed anew instead of stored, half the memory.
 */
#ifndef DKMAP_RIDGE_H
#define DKMAP_RIDGE_H

#include <dkmap/dmat.h>
#include <dkmap/kernel.h>

DKM_API_BEGIN

typedef enum dkm_ridge_precision {
    DKM_RIDGE_AUTO,   /**< mixed where it pays, else double */
    DKM_RIDGE_DOUBLE, /**< factor and solve in double */
    DKM_RIDGE_MIXED,  /**< factor in single, refine in double; double when that stalls */
    DKM_RIDGE_SINGLE  /**< factor and solve in single: fast and rough */
} dkm_ridge_precision;

typedef enum dkm_storage {
    DKM_STORAGE_AUTO, /**< keep the double matrix where memory allows */
    DKM_STORE,
    DKM_RECOMPUTE /**< compute its tiles anew for each product */
} dkm_storage;

typedef struct dkm_ridge_settings {
    double gamma; /**< ridge > 0 */
    dkm_ridge_precision precision;
    dkm_storage keep; /**< of the double matrix in mixed precision */
    double tolerance; /**< relative residual at which refinement ends */
} dkm_ridge_settings;

typedef struct dkm_ridge_info {
    const char *precision; /**< "double", "mixed" or "single": what was used in the end */
    double jitter;         /**< added to gamma until K + gamma I could be factored; 0 as a rule */
    int jitter_steps;      /**< attempts with jitter */
    double residual;       /**< ||(K + gamma I) B - Y|| / ||Y||, Frobenius, without the jitter */
    double backward;       /**< ||(K + gamma I) B - Y|| / (||K + gamma I|| ||B|| + ||Y||) */
    int steps;             /**< of refinement */
    double shift;          /**< of the single precision factor alone; the answer is without it */
    int recomputed;        /**< the double matrix was not stored */
    int fell_back;         /**< mixed precision stalled, and double took over */
    double condition;      /**< estimate of the condition number of K + gamma I */
} dkm_ridge_info;

dkm_ridge_settings dkm_ridge_settings_default(void);

/** Solve (K + gamma I) B = Y by Cholesky, all columns of Y at once.
 *
 *  Collective on the grid of @p K. When the matrix is not positive definite jitter is added, ten
 * times more in each attempt; every attempt is reported as a warning.
 *
 *  @param[in,out] K      symmetric, lower triangle read, square blocks; on return its lower
 * triangle holds the factor and its strict upper one the matrix itself
 *  @param[in]     gamma  ridge > 0, the same on every rank
 *  @param[in]     Y      as many rows as K, in blocks of as many rows
 *  @param[out]    B      new matrix, owned by the caller; NULL on failure
 *  @param[out]    info   may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when the last attempt fails or K
 * holds numbers that are not finite
 */
DKM_NODISCARD dkm_status dkm_ridge_solve(dkm_dmat *K, double gamma, const dkm_dmat *Y, dkm_dmat **B,
                                         dkm_ridge_info *info);

/** Solve (K + gamma I) B = Y with K = k(X, X), made as the precision wants it.
 *
 *  Collective. The bytes a rank needs are reckoned before anything is allocated, and a job that
 *  cannot be held is refused with the figures.
 *
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[in]  nb  block size; Y is in blocks of as many rows
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[in] Y  outputs, borrowed
 *  @param[out] B   new double matrix like Y, owned by the caller; NULL on failure
 *  @param[out] info  may be NULL
 *  @return as dkm_ridge_solve() */
DKM_NODISCARD dkm_status dkm_ridge_kernel(const dkm_kernel *kernel, const dkm_prepared *X,
                                          dkm_idx nb, const dkm_ridge_settings *settings,
                                          const dkm_dmat *Y, dkm_dmat **B, dkm_ridge_info *info);

DKM_API_END

#endif
