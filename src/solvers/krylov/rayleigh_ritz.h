/** @file rayleigh_ritz.h  Leading eigenpairs of the projected matrix of a Krylov method. */
#ifndef DKMAP_SOLVERS_KRYLOV_RAYLEIGH_RITZ_H
#define DKMAP_SOLVERS_KRYLOV_RAYLEIGH_RITZ_H

#include <dkmap/dmat.h>

/** The order up to which rank 0 solves the projected problem alone. */
#define DKM_RITZ_LOCAL_MAX 2000

/** The @p count largest eigenvalues of T(0:s, 0:s) and their eigenvectors.
 *
 *  Collective on the context of the grid of @p T.
 *
 *  @param[in]  T          double, square blocks; lower triangle read
 *  @param[in]  local_max  the order up to which rank 0 solves it alone
 *  @param[out] theta      @p s numbers, of which the first @p count are set, largest first; the same
 *                         on every rank
 *  @param[out] S          eigenvectors, s x count, column-major; the same on every rank
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when the solver gave up
 */
DKM_NODISCARD dkm_status dkm_rayleigh_ritz(const dkm_dmat *T, dkm_idx s, dkm_idx count,
                                           dkm_idx local_max, double *theta, double *S);

/** Bytes that a rank of @p size needs for T of order @p s and for dkm_rayleigh_ritz(). Local. */
double dkm_rayleigh_ritz_bytes(dkm_idx s, dkm_idx count, int size, dkm_idx local_max);

#endif
