/** @file rpcholesky.h  Landmarks by accelerated randomly pivoted Cholesky. */
#ifndef DKMAP_SOLVERS_LANDMARKS_RPCHOLESKY_H
#define DKMAP_SOLVERS_LANDMARKS_RPCHOLESKY_H

#include <dkmap/kernel.h>

/** Draw objects one after the other, each in proportion to what those before leave of k(x, x).
 *
 *  Collective. m x count numbers are held, spread over the ranks.
 *
 *  @param[in,out] count   fewer come back when they explain all objects to rounding
 *  @param[out]    indices  ascending, the same on every rank; space for @p count
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when k(x, x) is not known or nowhere above 0
 */
DKM_NODISCARD dkm_status dkm_rpcholesky_choose(const dkm_prepared *X, dkm_idx *count,
                                               dkm_idx *indices);

#endif
