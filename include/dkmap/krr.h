/** @file krr.h  Dual kernel ridge regression: f(x) = k(x, X) B + b, B = (K + gamma I)^-1 (Y - 1
 * b'). */
#ifndef DKMAP_KRR_H
#define DKMAP_KRR_H

#include <dkmap/model.h>
#include <dkmap/ridge.h>

typedef struct dkm_krr_settings {
    dkm_ridge_settings ridge; /**< gamma, and how the system is solved */
    int center;               /**< take the mean of the outputs as intercept b, else b = 0 */
    dkm_layout layout;
} dkm_krr_settings;

typedef struct dkm_krr_info {
    dkm_idx m, outputs;
    int P, Q;
    dkm_idx block;
    dkm_ridge_info ridge;
} dkm_krr_info;

dkm_krr_settings dkm_krr_settings_default(void);

/** Fit. Collective.
 *
 *  Labels as outputs are turned into one column a class (1 for the class, 0 for the others);
 *  predictions are then labels again, the class of the largest column.
 *
 *  @param[in]  X, Y    as many rows each; dense outputs or labels. X is taken over (nulled)
 *                      because the model keeps the training inputs
 *  @param[in]  kernel  copied into the model
 *  @param[out] model   new, owned by the caller; NULL on failure
 *  @param[out] info    may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no jitter
 *          made the matrix positive definite
 */
DKM_NODISCARD
dkm_status dkm_krr_fit(dkm_ctx *ctx, dkm_data **X, const dkm_data *Y, const dkm_kernel *kernel,
                       const dkm_krr_settings *settings, dkm_model **model, dkm_krr_info *info);

#endif
