/** @file kernel_expansion.h  Points of feature space as sums over the images of the training
 * objects.
 *
 *  Coordinates z stand for Psi = sum_i a_i phi(x_i) with a = W z + c, c the weights of the mean
 *  of the images: 1/m, for the columns of W add up to zero, or those that landmarks have. For
 * kernels that are smooth functions of inner products and norms, <Psi, phi(t)> and its gradient in
 * t come from one product with the training objects, for many points Psi and t at once.
 */
#ifndef DKMAP_PREIMAGE_KERNEL_EXPANSION_H
#define DKMAP_PREIMAGE_KERNEL_EXPANSION_H

#include "models/common/embedding.h"

typedef struct dkm_kernel_expansion {
    dkm_embedding *e;
    const double *shift; /**< taken off all rows where nothing else changes by that, or NULL */
    dkm_data *rows;      /**< the training objects without it; NULL where there is none */
    dkm_dmat *X;         /**< m x d: the same */
    dkm_kernel *linear;
    dkm_prepared *prepared;
    dkm_cross_gram *cross; /**< inner products with the training objects */
    double *squares;       /**< their squared norms, all m, on every rank */
    double size;           /**< root of their mean */
} dkm_kernel_expansion;

/** What is found for the points t of a rank's slab, one to each Psi, k(t, x_i) = g(s, a, b). */
typedef struct dkm_expansion_gradient {
    double *inner; /**< sum_i a_i g, which is <Psi, phi(t)> */
    double *dk_da; /**< sum_i a_i g_a */
    double *dk_ds; /**< sum_i a_i g_s x_i, rows of d numbers: the gradient of <Psi, phi(t)> is
                       by_s + 2 by_a t */
} dkm_expansion_gradient;

/** Make ready for training objects in dense rows. Collective; dkm_kernel_expansion_close() frees,
 * also after a failure. */
DKM_NODISCARD dkm_status dkm_kernel_expansion_open(dkm_kernel_expansion *x, dkm_embedding *e);
void dkm_kernel_expansion_close(dkm_kernel_expansion *x);

/** The weights a of each row of coordinates, n x m. Collective. */
DKM_NODISCARD dkm_status dkm_kernel_expansion_weights(const dkm_embedding *e, const dkm_data *Z,
                                                      dkm_dmat **A);

/** Inner products of each Psi with its phi(t), and what their gradients are made from. Collective.
 *
 *  @param[in]  T     dense rows, one to each row of @p A
 *  @param[out] gradient  arrays of the caller with space for T's slab
 */
DKM_NODISCARD dkm_status dkm_kernel_expansion_gradient(dkm_kernel_expansion *x, const dkm_data *T,
                                                       const dkm_dmat *A,
                                                       dkm_expansion_gradient *gradient);

#endif
