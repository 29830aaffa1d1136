/** @file leverage.h  How much of each object a first draw of them leaves unexplained. */
#ifndef DKMAP_LEVERAGE_H
#define DKMAP_LEVERAGE_H

#include "kernel/kernel_impl.h"

/** weights[i] = k(x, x) - k(x, S) (K_SS + gamma I)^-1 k(S, x), at least 0, for this rank's slab.
 *  Collective.
 *  @param[in] places  of the draw S, the same on every rank; count^2 numbers are held on each */
DKM_NODISCARD
dkm_status dkm_leverage_weights(dkm_grid *grid, const dkm_prepared *X, dkm_idx count,
                                const dkm_idx *places, double gamma, double *weights);

#endif
