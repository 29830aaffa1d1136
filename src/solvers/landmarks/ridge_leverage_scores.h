/** @file ridge_leverage_scores.h  Ridge leverage scores, up to a factor, from a pilot sample. */
#ifndef DKMAP_SOLVERS_LANDMARKS_RIDGE_LEVERAGE_SCORES_H
#define DKMAP_SOLVERS_LANDMARKS_RIDGE_LEVERAGE_SCORES_H

#include "kernels/evaluation/kernel_impl.h"

/** weights[i] = k(x, x) - k(x, S) (K_SS + gamma I)^-1 k(S, x), at least 0, for this rank's slab.
 *  Collective.
 *  @param[in] indices  of the draw S, the same on every rank; count^2 numbers are held on each */
DKM_NODISCARD dkm_status dkm_ridge_leverage_scores(dkm_grid *grid, const dkm_prepared *X,
                                                   dkm_idx count, const dkm_idx *indices,
                                                   double gamma, double *weights);

#endif
