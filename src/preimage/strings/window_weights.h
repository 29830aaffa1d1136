/** @file window_weights.h  What the places of a window on the input weigh when windows are compared,
 *  chosen by leave-one-out on the training strings. */
#ifndef DKMAP_PREIMAGE_STRINGS_WINDOW_WEIGHTS_H
#define DKMAP_PREIMAGE_STRINGS_WINDOW_WEIGHTS_H

#include <dkmap/data.h>

/** Weights by which the k nearest characters of other strings, by windows alone, are wrong about the
 *  fewest characters of training outputs. Collective; the same on any number of ranks.
 *
 *  @param[in]  X, Y     inputs and outputs, strings, as many each
 *  @param[in]  width    characters of a window, odd
 *  @param[in]  k        characters that vote
 *  @param[out] weights  width numbers > 0, @p width in sum
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_window_weights_choose(const dkm_data *X, const dkm_data *Y,
                                                   dkm_idx width, dkm_idx k, double *weights);

#endif
