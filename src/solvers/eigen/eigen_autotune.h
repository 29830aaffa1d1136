/** @file eigen_autotune.h  Which eigensolver: decided by cost, measured where it depends on the
 * machine. */
#ifndef DKMAP_SOLVERS_EIGEN_EIGEN_AUTOTUNE_H
#define DKMAP_SOLVERS_EIGEN_EIGEN_AUTOTUNE_H

#include <dkmap/eigen.h>

#include "linalg/eigen/syevd.h"

/** Whether LAPACK can solve the projected problem of p components and such blocks. Local. */
int dkm_eigen_block_can(dkm_idx p, dkm_idx block);

/** Whether the block method is worth trying for p of m components. Local. */
int dkm_eigen_prefers_lanczos(dkm_eigen_solver solver, dkm_idx m, dkm_idx p);

/** Seconds that a full solve of order @p n takes on this grid, the same on every rank. Collective.
 */
DKM_NODISCARD dkm_status dkm_eigen_measure_seconds(dkm_grid *grid, dkm_idx n, dkm_idx nb,
                                                   dkm_eigen_library library, double *seconds);

/** Whether a solver is worth measuring for matrices like K. The own reduction replicates a panel: it is
 *  none on so many ranks that the panel outgrows a rank's share of the matrix. Local; the same on every
 *  rank. */
int dkm_eigen_is_candidate(const dkm_dmat *K, dkm_eigen_library library);

/** The fastest full solver for matrices like K.
 *
 *  Collective. Each solves a small problem on the same grid; the fastest is taken. A matrix so small
 *  that measuring costs more than solving goes to ScaLAPACK.
 */
DKM_NODISCARD dkm_status dkm_eigen_choose_library(const dkm_dmat *K, dkm_eigen_library *library);

#endif
