/** @file spectral_filter.h  Many functions of one matrix at once, through its eigenvectors.
 *
 *  With K = M diag(l) M' any function of it is M diag(w) M', w_j = w(l_j). Several of them share
 *  one M: their products with a matrix, and their diagonals, are then a few wide products. M is
 *  r x k; weights are k x count, column-major and the same on every rank. Rows of tall matrices
 *  are in slabs, row-major.
 */
#ifndef DKMAP_SOLVERS_OPERATORS_SPECTRAL_FILTER_H
#define DKMAP_SOLVERS_OPERATORS_SPECTRAL_FILTER_H

#include <dkmap/dmat.h>

/** out = M' in: from slabs of r rows and p columns to slabs of k rows. Collective.
 *  @param[in]  in   ld = ldin
 *  @param[out] out  ld = ldout */
DKM_NODISCARD dkm_status dkm_spectral_filter_project(const dkm_dmat *M, dkm_idx p, const double *in,
                                                     dkm_idx ldin, double *out, dkm_idx ldout);

/** out = [M diag(w_1) Z, M diag(w_2) Z, ...]: from slabs of k rows and p columns to slabs of r
 *  rows, ld = count * p. Collective. */
DKM_NODISCARD dkm_status dkm_spectral_filter_apply(const dkm_dmat *M, dkm_idx count,
                                                   const double *w, dkm_idx p, const double *Z,
                                                   dkm_idx ldz, double *out);

/** out(i, f) = sum_j M(i, j)^2 w(j, f), the diagonals of M diag(w_f) M', in slabs of r rows,
 *  ld = count. Collective. */
DKM_NODISCARD dkm_status dkm_spectral_filter_diagonal(const dkm_dmat *M, dkm_idx count,
                                                      const double *w, double *out);

#endif
