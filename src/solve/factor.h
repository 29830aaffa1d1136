/** @file factor.h  A symmetric matrix with its Cholesky factor beside it, for one ridge after
 *  another.
 *
 *  Both triangles are put to use: the lower one is factored, the strict upper one and a copy of the
 *  diagonal keep the matrix, so that it can be factored again and residuals cost no second matrix.
 */
#ifndef DKMAP_FACTOR_H
#define DKMAP_FACTOR_H

#include <dkmap/ridge.h>

#include "solve/fingerprint.h"

typedef struct dkm_factor {
    dkm_dmat *A;      /**< borrowed */
    const char *name; /**< of A + gamma I, for messages */
    double *diagonal; /**< of A, as dkm_dmat_get_diagonal() gives it */
    double mean;      /**< of that, over all ranks */
    double largest;   /**< eigenvalue of A, roughly */
    double gamma;
    char print[DKM_FINGERPRINT_LENGTH]; /**< of A, where checkpoints are kept */
    int spoilt;                         /**< the lower triangle is no longer that of A */
    dkm_ridge_info info;
} dkm_factor;

/** The jitter of a rung of the ladder, for a matrix with diagonal elements about @p scale; rung 0
 *  is none at all. Local. */
double dkm_jitter(double scale, int step);
enum { DKM_JITTER_STEPS = 12 };

/** Tell of a rung taken for want of a leading minor of the matrix @p name. Local. */
void dkm_jitter_tell(dkm_ctx *ctx, const char *name, dkm_idx minor, double jitter, int step);

/** Get ready to factor A, whose lower triangle is read. Collective; dkm_factor_close() frees, also
 *  after a failure. */
DKM_NODISCARD
dkm_status dkm_factor_open(dkm_factor *factor, dkm_dmat *A, const char *name);

/** Factor A + gamma I, climbing a ladder of jitter until it works. Collective.
 *  @return DKM_OK; DKM_ERR_NUMERIC when the ladder ends */
DKM_NODISCARD
dkm_status dkm_factor_at(dkm_factor *factor, double gamma);

/** Try to factor A + shift I, once. Collective.
 *  @param[out] minor  as of dkm_la_cholesky() */
DKM_NODISCARD
dkm_status dkm_factor_try(dkm_factor *factor, double shift, dkm_idx *minor);

/** Put A back in the place of its factor, both triangles. Collective. */
DKM_NODISCARD
dkm_status dkm_factor_restore(dkm_factor *factor);

/** B = (A + gamma I)^-1 B in place, residual unmeasured. Collective. */
void dkm_factor_apply(const dkm_factor *factor, dkm_dmat *B);

/** Solve (A + gamma I) X = Y, and note residual and condition in the factor's info.
 *
 *  Collective.
 *
 *  @param[out] X  new, in the precision of A; NULL on failure
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when X is not finite
 */
DKM_NODISCARD
dkm_status dkm_factor_solve(dkm_factor *factor, const dkm_dmat *Y, dkm_dmat **X);

/** p = the diagonal of (A + gamma I)^-1 and, given a symmetric K in the layout of A, both triangles
 *  filled, q = that of K (A + gamma I)^-1.
 *
 *  Collective. The factor is spent: until dkm_factor_at() there is no solving any more.
 *
 *  @param[out] p, q  room for all n numbers, on every rank; q may be NULL without K
 */
void dkm_factor_diagonals(dkm_factor *factor, const dkm_dmat *K, double *p, double *q);

void dkm_factor_close(dkm_factor *factor);

#endif
