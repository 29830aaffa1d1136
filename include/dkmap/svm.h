/** @file svm.h  Support vector machines: one against the rest for each class.
 *
 *  f_c(x) = sum_i B(i, c) k(x_i, x) + b_c is learned to be positive for class c and negative for all
 *  others (svm_dual.h); the largest f_c names the class. Only support vectors, inputs with a
 *  coefficient that is not zero, are retained.
 */
#ifndef DKMAP_SVM_H
#define DKMAP_SVM_H

#include <dkmap/model.h>
#include <dkmap/svm_dual.h>

DKM_API_BEGIN

typedef struct dkm_svm_settings {
    dkm_svm_dual_settings margin; /**< with the loss hinge or squared */
    dkm_layout layout;
    const dkm_data *weights; /**< of the examples, a column of numbers > 0, borrowed: C is C w_i;
                                  NULL: all are 1. Solved by decomposition */
} dkm_svm_settings;

typedef struct dkm_svm_info {
    dkm_idx m, classes;
    dkm_idx support; /**< inputs that are a support vector of any class */
    double rounds;   /**< of the decomposition per class, in the mean; 0 by LIBSVM */
} dkm_svm_info;

dkm_svm_settings dkm_svm_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X       inputs
 *  @param[in]  Y       labels of at least two classes
 *  @param[in]  kernel  of the inputs, copied into the model
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model   new, owned by the caller; NULL on failure
 *  @param[out] info    may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED for outputs that are not labels;
 *          DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_svm_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                     const dkm_kernel *kernel, const dkm_svm_settings *settings,
                                     dkm_model **model, dkm_svm_info *info);

DKM_API_END

#endif
