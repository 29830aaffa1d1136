/** @file power_iteration.h  Estimates of the largest and smallest eigenvalue of a positive definite
 *  matrix, by power and inverse power iteration. */
#ifndef DKMAP_SOLVERS_EIGEN_POWER_ITERATION_H
#define DKMAP_SOLVERS_EIGEN_POWER_ITERATION_H

#include <dkmap/dmat.h>

/** Largest eigenvalue of a symmetric matrix by a few power steps on its lower triangle: a lower
 *  bound, as a rule within a few per cent. Collective. */
DKM_NODISCARD dkm_status dkm_largest_eigenvalue(const dkm_dmat *A, double *value);

/** Smallest eigenvalue of L L' by a few inverse power steps: an upper bound of it. Collective. */
DKM_NODISCARD dkm_status dkm_smallest_eigenvalue(const dkm_dmat *L, double *value);

#endif
