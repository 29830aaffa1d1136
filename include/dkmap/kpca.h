/** @file kpca.h  Kernel principal components: coordinates of objects along the directions of
 *  largest variance in feature space.
 *
 *  With H K H = V diag(l) V', the coordinates of an object are z = diag(l)^-1/2 V' k_c, where k_c
 * are its kernel values to the training objects, centered by the training means.
 */
#ifndef DKMAP_KPCA_H
#define DKMAP_KPCA_H

#include <dkmap/eigen.h>
#include <dkmap/model.h>
#include <dkmap/nystroem.h>

DKM_API_BEGIN

typedef struct dkm_kpca_settings {
    dkm_eigen_settings eigen; /**< how many components, and by which solver */
    dkm_layout layout;
    const dkm_data
        *weights; /**< of the objects, a column of numbers > 0, borrowed; NULL: all are 1.
                                  Not for landmarks */
    dkm_nystroem_settings nystroem; /**< landmarks > 0: components of the Nystroem kernel of so many
                                         objects, and the model keeps those alone */
} dkm_kpca_settings;

typedef struct dkm_kpca_info {
    dkm_idx m;
    int P, Q;
    dkm_idx block;
    dkm_eigen_info eigen;
    dkm_idx landmarks; /**< 0 where there are none */
} dkm_kpca_info;

dkm_kpca_settings dkm_kpca_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X       training objects
 *  @param[in]  kernel  copied into the model
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model   new, owned by the caller; NULL on failure. Predicting with it encodes: the
 *                      coordinates of new objects, as dense rows
 *  @param[out] info    may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when the
 * kernel has no positive eigenvalue */
DKM_NODISCARD dkm_status dkm_kpca_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_kernel *kernel,
                                      const dkm_kpca_settings *settings, dkm_model **model,
                                      dkm_kpca_info *info);

DKM_API_END

#endif
