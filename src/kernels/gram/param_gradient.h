/** @file param_gradient.h  How a function of a Gram matrix changes with parameters of the kernel. */
#ifndef DKMAP_KERNELS_GRAM_PARAM_GRADIENT_H
#define DKMAP_KERNELS_GRAM_PARAM_GRADIENT_H

#include "kernels/evaluation/param_derivatives.h"

/** gradient[t] = sum_ij G(i, j) dk(x_i, x_j) / d theta_t.
 *
 *  Collective. Derivatives are computed tile by tile and dropped; all parameters of a tile while
 *  its objects are in memory.
 *
 *  @param[in]  G         symmetric, m x m in square blocks, its lower triangle is read
 *  @param[in]  places    of the parameters theta, as dkm_kernel_list_params() lists them
 *  @param[out] gradient  @p count numbers, the same on every rank
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_gram_param_gradient(const dkm_prepared *X, const dkm_dmat *G,
                                                 dkm_idx count, const dkm_param_place *places,
                                                 double *gradient);

#endif
