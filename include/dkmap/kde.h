/** @file kde.h  Kernel dependency estimation: maps from any objects to any objects.
 *
 *  Outputs become coordinates along the leading directions of their feature space; ridge regression
 *  on the inputs' kernel predicts those of new inputs, z(x) = k(x, X) (K + gamma I)^-1 Z; a
 * pre-image turns them into an output.
 */
#ifndef DKMAP_KDE_H
#define DKMAP_KDE_H

#include <dkmap/eigen.h>
#include <dkmap/model.h>
#include <dkmap/preimage.h>
#include <dkmap/ridge.h>

typedef struct dkm_kde_settings {
    dkm_ridge_settings ridge;
    dkm_eigen_settings eigen; /**< of the outputs; always centred */
    dkm_layout layout;
} dkm_kde_settings;

typedef struct dkm_kde_info {
    dkm_idx m;
    int P, Q;
    dkm_idx block;
    dkm_eigen_info eigen;
    dkm_ridge_info ridge;
} dkm_kde_info;

dkm_kde_settings dkm_kde_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in]  X, Y     as many objects each; both are taken over (nulled): the model keeps them
 *  @param[in]  kx, ky   kernels of inputs and outputs, copied into the model
 *  @param[out] model    new, owned by the caller; NULL on failure
 *  @param[out] info     may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC
 */
DKM_NODISCARD
dkm_status dkm_kde_fit(dkm_ctx *ctx, dkm_data **X, dkm_data **Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_kde_settings *settings, dkm_model **model,
                       dkm_kde_info *info);

#endif
