/** @file pblas.h  Parts of a Cholesky factorization by ScaLAPACK. Collective on the grid of A. */
#ifndef DKMAP_LINALG_BACKEND_PBLAS_H
#define DKMAP_LINALG_BACKEND_PBLAS_H

#include <dkmap/dmat.h>

/** Factor the diagonal block of order @p w from row and column @p k on, in place, by p?potrf.
 *  @return its info: 0, or the order of the first minor that is not positive definite; 0 on ranks
 *  outside the grid */
int dkm_pblas_potrf(dkm_dmat *A, dkm_idx k, dkm_idx w);

/** With that block factored: the columns of the factor below it, and the update of the trailing
 *  triangle. */
void dkm_pblas_eliminate(dkm_dmat *A, dkm_idx k, dkm_idx w);

#endif
