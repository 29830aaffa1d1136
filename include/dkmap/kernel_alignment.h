/** @file kernel_alignment.h  How well a Gram matrix fits a target: kernel alignment.
 *
 *  A(K, T) = <K, T> / sqrt(<K, K> <T, T>) with <K, T> = sum_ij K(i, j) T(i, j), the cosine of the
 *  angle between two matrices (Cristianini, Elisseeff and Shawe-Taylor). Centered, it is taken of
 *  H K H and H T H, H = I - 1 1'/m: what all elements have in common then counts for nothing.
 */
#ifndef DKMAP_KERNEL_ALIGNMENT_H
#define DKMAP_KERNEL_ALIGNMENT_H

#include <dkmap/data.h>
#include <dkmap/dmat.h>

DKM_API_BEGIN

/** Alignment of two symmetric matrices, neither of which is changed.
 *
 *  Collective on their grid. Centring takes 2 m numbers per rank and no other matrix.
 *
 *  @param[in]  K, T       lower triangles read; of one order, on one grid and in blocks of one
 * size; their precision may differ
 *  @param[in] centered  whether both are centered first
 *  @param[out] alignment  from -1 to 1, the same on every rank; NaN when one of the two is zero or,
 *                         centered, has elements that are all alike
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_kernel_alignment_grams(const dkm_dmat *K, const dkm_dmat *T,
                                                    int centered, double *alignment);

/** Alignment with the target T(i, j) = 1 where objects i and j have one label, else 0.
 *
 *  Collective on the grid of @p K. The target is never stored: a rank holds 3 m numbers at most.
 *
 *  @param[in]  K          symmetric, lower triangle read
 *  @param[in]  labels     one an object; which number stands for which does not matter
 *  @param[in] centered  whether both are centered first
 *  @param[out] alignment  as of dkm_kernel_alignment_grams()
 *  @return DKM_OK; DKM_ERR_ARG (both numbers of objects are named); DKM_ERR_UNSUPPORTED for data
 *          that are not labels; DKM_ERR_MEMORY; DKM_ERR_SIZE */
DKM_NODISCARD dkm_status dkm_kernel_alignment_labels(const dkm_dmat *K, const dkm_data *labels,
                                                     int centered, double *alignment);

DKM_API_END

#endif
