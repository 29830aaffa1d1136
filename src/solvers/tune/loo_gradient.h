/** @file loo_gradient.h  The leave-one-out error of ridge regression, and how it changes with K. */
#ifndef DKMAP_SOLVERS_TUNE_LOO_GRADIENT_H
#define DKMAP_SOLVERS_TUNE_LOO_GRADIENT_H

#include "matrix/multivec.h"

/** Right-hand sides of ridge regression. */
typedef struct dkm_loo_targets {
    dkm_multivec T;  /**< without gaps; less their means where those were taken off */
    int center;      /**< they were: an example that is left out is left out of the mean too */
    int no_gradient; /**< the error alone is wanted */
} dkm_loo_targets;

/** The mean square over examples and outputs of the error on an example that was left out, and
 *  G = d loss / dK; d loss / d gamma is the trace of G.
 *
 *  Collective.
 *
 *  @param[in,out] K     kernel matrix, lower triangle read; overwritten
 *  @param[out]    loss  the same on every rank; infinite where K + gamma I is not positive definite
 *  @param[out]    G     new, laid out like K, lower triangle; NULL where the loss is infinite or no
 *                       gradient is wanted, and on failure
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_loo_gradient(dkm_dmat *K, double gamma, const dkm_loo_targets *targets,
                                          double *loss, dkm_dmat **G);

#endif
