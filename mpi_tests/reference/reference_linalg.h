/** @file reference_linalg.h  Slow, obvious dense algebra on whole column-major matrices of one
 * rank.
 */
#ifndef DKMAP_REFERENCE_LINALG_H
#define DKMAP_REFERENCE_LINALG_H

#include <dkmap/dmat.h>

/** The whole of a small distributed matrix on every rank, column-major, ld = rows. Collective.
 *  @param[out] a  room for rows x cols numbers */
void reference_gather(const dkm_dmat *A, double *a);

/** c = op(a) op(b), all n x n; 't' transposes. */
void reference_multiply(int n, int ta, int tb, const double *a, const double *b, double *c);

/** Solve a x = b for a symmetric positive definite a by Gaussian elimination with pivoting;
 *  a and b (n x k) are overwritten, the solution is in b. */
void reference_solve(int n, int k, double *a, double *b);

/** All eigenvalues of a symmetric matrix, largest first, by Jacobi rotations; a is overwritten and
 *  @p vectors (n x n, columns) filled when not NULL. */
void reference_eigen(int n, double *a, double *values, double *vectors);

#endif
