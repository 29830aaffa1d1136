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
#include <dkmap/nystroem.h>
#include <dkmap/preimage.h>
#include <dkmap/ridge_path.h>
#include <dkmap/svm_dual.h>

DKM_API_BEGIN

/** What learns the coordinates: ridge regression for all of them from one factor, or a support
 *  vector regression for each, the coordinates being dealt to the ranks. */
typedef enum dkm_kde_learner { DKM_LEARN_RIDGE, DKM_LEARN_SVR } dkm_kde_learner;

typedef struct dkm_kde_settings {
    dkm_kde_learner learner;
    dkm_ridge_settings ridge; /**< of ridge regression */
    dkm_penalty penalty;      /**< of ridge regression; on coefficients for the exact fit in double
                                 precision alone */
    dkm_svm_dual_settings margin; /**< of support vector regression: C, tube and tolerance */
    dkm_eigen_settings eigen;     /**< of the outputs; always centered */
    const dkm_data *extra;        /**< NULL, or outputs without inputs, borrowed: the outputs are
                                     decomposed with them, and they are candidates. Not for landmarks */
    double shrink; /**< S >= 0: predicted coordinates are scaled by l_j / (l_j + S l), l_j the
                      eigenvalues of the outputs and l the mean of those retained; 0 leaves them */
    dkm_layout layout;
    const dkm_data
        *weights;  /**< of the examples, a column of numbers > 0, borrowed; NULL: all are 1.
                                  They weigh the components of the outputs, and the regression.
                                  For ridge regression on all examples alone */
    int landmarks; /**< fit to landmarks of inputs and outputs by conjugate gradients; the model
                      keeps those alone */
    dkm_nystroem_settings nystroem;
} dkm_kde_settings;

typedef struct dkm_kde_info {
    dkm_idx m, extra; /**< examples, outputs without inputs */
    int P, Q;
    dkm_idx block;
    dkm_eigen_info eigen;
    dkm_ridge_info ridge;
    dkm_nystroem_info nystroem; /**< of a fit to landmarks */
    dkm_idx support;            /**< of svr: coefficients that are not zero, over all components */
} dkm_kde_info;

dkm_kde_settings dkm_kde_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X, Y     as many objects each
 *  @param[in]  kx, ky   kernels of inputs and outputs, copied into the model
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model    new, owned by the caller; NULL on failure
 *  @param[out] info     may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_kde_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                     const dkm_kernel *kx, const dkm_kernel *ky,
                                     const dkm_kde_settings *settings, dkm_model **model,
                                     dkm_kde_info *info);

DKM_API_END

#endif
