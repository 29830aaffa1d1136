/** @file krr_std.h  Standard deviations of predictions of kernel ridge regression. */
#ifndef DKMAP_MODELS_KRR_KRR_STD_H
#define DKMAP_MODELS_KRR_KRR_STD_H

#include "models/krr/krr_inverse.h"

typedef struct dkm_krr_std {
    double *scale; /**< prior variance s_j per column of the outputs; NULL: no deviations wanted */
    dkm_krr_base base; /**< training inputs as the factor has them, where scale is there */
    double noise;      /**< that is added to the variance of f, in units of s_j */
} dkm_krr_std;

void dkm_krr_std_clear(dkm_krr_std *std);

/** s_j = b_j'(K + gamma I) b_j / m, under which the outputs are most likely. Collective.
 *  @param[in]  roots  of the weights S, where examples have such: b is then S^-1 b, K is S K S and m
 *                     counts the examples that weigh anything
 *  @param[in]  B      (K + gamma I)^-1 T
 *  @param[out] scale  a number per column, the same on every rank */
DKM_NODISCARD dkm_status dkm_krr_std_estimate(const dkm_fitted_kernel *fitted,
                                              const dkm_example_weights *roots, double gamma,
                                              const dkm_dmat *B, double *scale);

/** var(i) = k(x_i, x_i) - ||L^-1 k(X, x_i)||^2 of this rank's slab of new inputs, 0 at least.
 *  Collective.
 *  @param[in]  base    training inputs as the open @p factor has them
 *  @param[in,out] K    k(new, training); overwritten
 *  @param[out] var     dkm_data_local_rows(X) numbers */
DKM_NODISCARD dkm_status dkm_krr_std_variances(const dkm_krr_base *base,
                                               const dkm_krr_factor *factor, const dkm_data *X,
                                               dkm_dmat *K, double *var);

/** Means and standard deviations as rows of 2 p columns. Collective.
 *  @param[in] means  dense rows of p columns */
DKM_NODISCARD dkm_status dkm_krr_std_join(const dkm_krr_std *std, const dkm_data *means,
                                          const double *var, dkm_data **Y);

#endif
