/** @file shifted_cholesky.h  A symmetric matrix with its Cholesky factor beside it, for one ridge
 * after another.
 *
 *  Both triangles are put to use: the lower one is factored, the strict upper one and a copy of the
 *  diagonal keep the matrix, so that it can be factored again and residuals cost no second matrix.
 */
#ifndef DKMAP_SOLVERS_RIDGE_SHIFTED_CHOLESKY_H
#define DKMAP_SOLVERS_RIDGE_SHIFTED_CHOLESKY_H

#include <dkmap/ridge.h>

#include "matrix/multivec.h"
#include "solvers/operators/fingerprint.h"

typedef struct dkm_shifted_cholesky {
    dkm_dmat *A;      /**< borrowed */
    const char *name; /**< of A + gamma I, for messages */
    double *diagonal; /**< of A, as dkm_dmat_get_diagonal() gives it */
    double mean;      /**< of that, over all ranks */
    double largest;   /**< eigenvalue of A, roughly */
    double gamma;
    char print[DKM_FINGERPRINT_LENGTH]; /**< of A, where checkpoints are written */
    int overwritten;                    /**< the lower triangle is no longer that of A */
    dkm_ridge_info info;
} dkm_shifted_cholesky;

/** The jitter of an attempt, for a matrix with diagonal elements about @p scale; attempt 0
 *  is none at all. Local. */
double dkm_jitter(double scale, int step);
enum { DKM_JITTER_STEPS = 12 };

/** Tell of an attempt taken for want of a leading minor of the matrix @p name. Local. */
void dkm_jitter_report(dkm_ctx *ctx, const char *name, dkm_idx info, double jitter, int step);

/** Get ready to factor A, whose lower triangle is read. Collective; dkm_shifted_cholesky_close()
 * frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_shifted_cholesky_open(dkm_shifted_cholesky *factor, dkm_dmat *A,
                                                   const char *name);

/** Factor A + gamma I, climbing a sequence of growing jitter until it works. Collective.
 *  @return DKM_OK; DKM_ERR_NUMERIC when the attempts ends */
DKM_NODISCARD dkm_status dkm_shifted_cholesky_factorize(dkm_shifted_cholesky *factor, double gamma);

/** Try to factor A + shift I, once. Collective.
 *  @param[out] info  as of dkm_la_potrf() */
DKM_NODISCARD dkm_status dkm_shifted_cholesky_attempt(dkm_shifted_cholesky *factor, double shift,
                                                      dkm_idx *info);

/** Put A back in the place of its factor, both triangles. Collective. */
DKM_NODISCARD dkm_status dkm_shifted_cholesky_restore(dkm_shifted_cholesky *factor);

/** B = (A + gamma I)^-1 B in place, residual unmeasured. Collective. */
void dkm_shifted_cholesky_apply(const dkm_shifted_cholesky *factor, dkm_dmat *B);

/** V <- (A + gamma I)^-1 V for a multivector without gaps, ld = cols. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_shifted_cholesky_apply_rows(const dkm_shifted_cholesky *factor,
                                                         dkm_multivec *V);

/** Solve (A + gamma I) X = Y, and note residual and condition in the factor's info.
 *
 *  Collective.
 *
 *  @param[out] X  new, in the precision of A; NULL on failure
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when X is not finite
 */
DKM_NODISCARD dkm_status dkm_shifted_cholesky_solve(dkm_shifted_cholesky *factor, const dkm_dmat *Y,
                                                    dkm_dmat **X);

/** p = the diagonal of (A + gamma I)^-1 and, given a symmetric K in the layout of A, both triangles
 *  filled, q = that of K (A + gamma I)^-1.
 *
 *  Collective. The factor is spent: until dkm_shifted_cholesky_factorize() there is no solving any
 * more.
 *
 *  @param[out] p, q  space for all n numbers, on every rank; q may be NULL without K
 */
void dkm_shifted_cholesky_diagonals(dkm_shifted_cholesky *factor, const dkm_dmat *K, double *p,
                                    double *q);

void dkm_shifted_cholesky_close(dkm_shifted_cholesky *factor);

#endif
