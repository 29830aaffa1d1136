/** @file knn.h  Nearest neighbours in the feature space of a kernel: the baseline of every map.
 *
 *  The squared distance of x to a training input is k(x, x) - 2 k(x, x_i) + k(x_i, x_i). One
 *  neighbour hands over its output, of any type; of several, dense outputs are averaged and labels
 *  vote (the nearer neighbour's label wins a tie).
 */
#ifndef DKMAP_KNN_H
#define DKMAP_KNN_H

#include <dkmap/model.h>

typedef struct dkm_knn_settings {
    dkm_idx k; /**< neighbours, from 1 to the number of training examples */
    dkm_layout layout;
} dkm_knn_settings;

/** Fit: keep the examples. Collective.
 *
 *  @param[in]  X, Y    as many objects each; both are taken over (nulled)
 *  @param[in]  kernel  of the inputs, copied into the model
 *  @param[out] model   new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED when several neighbours are asked for and
 *          outputs are neither dense nor labels; DKM_ERR_MEMORY
 */
DKM_NODISCARD
dkm_status dkm_knn_fit(dkm_ctx *ctx, dkm_data **X, dkm_data **Y, const dkm_kernel *kernel,
                       const dkm_knn_settings *settings, dkm_model **model);

#endif
