/** @file symm_square.h  C = A W A for a symmetric A and a diagonal W. */
#ifndef DKMAP_LINALG_SYMM_SYMM_SQUARE_H
#define DKMAP_LINALG_SYMM_SYMM_SQUARE_H

#include <dkmap/dmat.h>

/** C = A diag(w) A, lower triangle; above it stands what does not count.
 *
 *  Collective on the context of the grid.
 *
 *  @param[in]  A  double, symmetric, both triangles filled, in square blocks
 *  @param[in]  w  a number per row, the same on every rank
 *  @param[out] C  laid out like A
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_la_symm_square(const dkm_dmat *A, const double *w, dkm_dmat *C);

#endif
