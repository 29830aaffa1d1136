/** @file knn.h  Nearest neighbors in the feature space of a kernel: the baseline of every map.
 *
 *  The squared distance of x to a training input is k(x, x) - 2 k(x, x_i) + k(x_i, x_i). One
 *  neighbor hands over its output, of any type. Of several, dense outputs are averaged and labels
 *  vote (the nearer neighbor's label wins a tie); outputs of any type with a kernel of their own
 *  are averaged in its feature space, and the training output nearest to the mean is predicted.
 */
#ifndef DKMAP_KNN_H
#define DKMAP_KNN_H

#include <dkmap/model.h>

DKM_API_BEGIN

typedef struct dkm_knn_settings {
    dkm_idx k; /**< neighbors, from 1 to the number of training examples */
    dkm_layout layout;
} dkm_knn_settings;

/** Fit: keep the examples. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X, Y    as many objects each
 *  @param[in]  kx      kernel of the inputs, copied into the model
 *  @param[in]  ky      kernel of the outputs, copied into the model, or NULL
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model   new, owned by the caller; NULL on failure. With @p ky it can list the
 *                      nearest training outputs (dkm_model_configure())
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED when several neighbors are asked for and
 *          outputs are neither dense nor labels nor have a kernel; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_knn_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                     const dkm_kernel *kx, const dkm_kernel *ky,
                                     const dkm_knn_settings *settings, dkm_model **model);

DKM_API_END

#endif
