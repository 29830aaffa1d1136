/** @file joint.h  Joint kernels: how alike two pairs of an input and an output are.
 *
 *  With K and L the kernels of inputs and outputs that a fit is given,
 *
 *    tensor                        K(x, x') L(y, y')
 *    linear                        <x, x'> <y, y'>
 *    diag(lambda=0.5)              (1 - lambda) K(x, x') <y, y'> + lambda sum_k x_k x'_k y_k y'_k
 *    patch(lambda=0.95, shape=64x64, size=10, step=5)
 *                                  (1 - lambda) K(x, x') <y, y'>
 *                                  + lambda sum_P <x_P, x'_P> <y_P, y'_P>
 *                                  over patches of size x size points, step apart, of images whose
 *                                  rows are laid end to end; shape=1000 is a signal with patches of
 *                                  `size` points
 *    identity                      <x, y> <x', y'>: of all maps a multiple of the identity
 *    rbf(sigma=1)                  exp(-(||x - x'||^2 + ||y - y'||^2) / (2 sigma^2))
 *    strings(p=3)                  of strings: how often both pairs have the same p letters of x
 *                                  with the same letter of y at their middle
 *    sum(A, B, ...)  scale(A, by=2)
 */
#ifndef DKMAP_JOINT_H
#define DKMAP_JOINT_H

#include <dkmap/context.h>

DKM_API_BEGIN

typedef struct dkm_joint dkm_joint;

/** Read an expression. Logically collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] text  an expression; the kernels in it are those of dkm_kernel_parse()
 *  @param[out] joint  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG with the expression and a caret under the wrong place */
DKM_NODISCARD dkm_status dkm_joint_parse(dkm_ctx *ctx, const char *text, dkm_joint **joint);

/** The expression as a sum of scaled terms, every parameter written out. Local. */
const char *dkm_joint_text(const dkm_joint *joint);

void dkm_joint_destroy(dkm_joint **joint);

DKM_API_END

#endif
