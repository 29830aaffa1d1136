/** @file derivatives.h  Kernels as smooth functions of inner products, with their derivatives.
 *
 *  Many kernels on rows of numbers depend on x and x' through s = <x, x'>, a = ||x||^2 and
 *  b = ||x'||^2 alone: k(x, x') = g(s, a, b). Then the gradient in x is g_s x' + 2 g_a x, and for
 *  many pairs at once a matrix product. Sums, products and the like of such kernels are again such.
 */
#ifndef DKMAP_KERNELS_EVALUATION_DERIVATIVES_H
#define DKMAP_KERNELS_EVALUATION_DERIVATIVES_H

#include "kernels/evaluation/kernel_impl.h"

/** Whether all of a kernel is of that form. Local. */
int dkm_kernel_has_derivatives(const dkm_kernel *kernel);

/** Values and derivatives of g for any number of pairs. Local; the kernel has derivatives. */
void dkm_kernel_derivatives(const dkm_kernel *kernel, const dkm_dots *pairs,
                            const dkm_derivatives *out);

/** Whether k(x, x') = f(<x, x'>) with an f that has an inverse everywhere it has values. Local. */
int dkm_kernel_invertible(const dkm_kernel *kernel);

/** f^-1(k) of an invertible kernel; NaN where no inner product gives @p k. Local. */
double dkm_kernel_inverse(const dkm_kernel *kernel, double k);

/** g and its derivatives for a node inside another. At most DKM_PAIRS pairs. Local. */
static inline void dkm_node_derivatives(const dkm_node *node, const dkm_dots *pairs,
                                        const dkm_derivatives *out)
{
    node->kind->derivatives(node, pairs, out);
}

/** k(x, x) = g(a, a, a) of a node and its derivative by a, for the x of each pair. Local. */
void dkm_node_diag_derivatives(const dkm_node *node, dkm_idx n, const double *a, double *k,
                               double *dk_da);

/** The real root of odd @p degree. Local. */
double dkm_odd_root(double x, double degree);

#endif
