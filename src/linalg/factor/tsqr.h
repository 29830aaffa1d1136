/** @file tsqr.h  Factors of tall matrices of few columns, whose rows are spread in slabs.
 *
 *  A = V R by Householder reflections, never by A'A: a rank goes through its slab chunk by chunk,
 *  and the triangles of the ranks meet pairwise in a tree. Triangles are small: n x n numbers.
 */
#ifndef DKMAP_LINALG_FACTOR_TSQR_H
#define DKMAP_LINALG_FACTOR_TSQR_H

#include <dkmap/context.h>

/** The transposed triangle of A = V R: L = R', lower, column-major, the same on every rank.
 *
 *  Collective. Memory beside L: 640 n numbers per rank.
 *
 *  @param[in]  rows  this rank's rows of A, row-major, ld = n
 *  @param[out] L     n x n numbers; the strict upper triangle is zero
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_SIZE when n is past what LAPACK can index
 */
DKM_NODISCARD dkm_status dkm_tsqr(dkm_ctx *ctx, dkm_idx m_loc, dkm_idx n, const double *rows,
                                  double *L);

/** A = V diag(s) Y': singular values and right singular vectors of a tall matrix. Collective.
 *
 *  @param[in]  rows  this rank's rows of A, row-major, ld = n
 *  @param[out] s     n numbers, largest first, the same on every rank
 *  @param[out] Y     n x n, column-major, the same on every rank
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_SIZE; DKM_ERR_NUMERIC
 */
DKM_NODISCARD dkm_status dkm_tsqr_svd(dkm_ctx *ctx, dkm_idx m_loc, dkm_idx n, const double *rows,
                                      double *s, double *Y);

/** What combinations of the rows of A vanish: an orthonormal basis of the null space of A'.
 *
 *  Collective; A is the same on every rank, and so is what comes back.
 *
 *  @param[in,out] A     t x n, column-major; destroyed
 *  @param[out]    U     t x t, column-major: the columns from *rank on are the basis
 *  @param[out]    rank  singular values above max(t, n) eps of the largest
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC
 */
DKM_NODISCARD dkm_status dkm_null_space(dkm_ctx *ctx, dkm_idx t, dkm_idx n, double *A, double *U,
                                        dkm_idx *rank);

#endif
