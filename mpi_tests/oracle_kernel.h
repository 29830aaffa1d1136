/** @file oracle_kernel.h  Kernels as they are defined, one pair at a time, slow and obvious. */
#ifndef DKMAP_ORACLE_KERNEL_H
#define DKMAP_ORACLE_KERNEL_H

#include <dkmap/dmat.h>

double oracle_dot(dkm_idx d, const double *x, const double *y);
/** Sum of |x_k - y_k|^power. */
double oracle_gap(dkm_idx d, const double *x, const double *y, int power);

/** Smallest eigenvalue of a symmetric n x n matrix, by Jacobi rotations; @p A is spoilt. */
double oracle_least_eigenvalue(dkm_idx n, double *A);

#endif
