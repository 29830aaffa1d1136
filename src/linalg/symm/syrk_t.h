/** @file syrk_t.h  C = A'A + beta C for a tall matrix A. */
#ifndef DKMAP_LINALG_SYMM_SYRK_T_H
#define DKMAP_LINALG_SYMM_SYRK_T_H

#include <dkmap/dmat.h>

/** C = A'A + beta C, lower triangle; above it stands what does not count. What dkm_la_syrk('T') computes,
 *  at the rate of large products whatever the blocks are.
 *
 *  Collective on the context of the grid.
 *
 *  @param[in]     A  double, in square blocks
 *  @param[in,out] C  double, of the order of A's columns, on the same grid in the same blocks
 *  @return DKM_OK; DKM_ERR_MEMORY, and C is of no use */
DKM_NODISCARD dkm_status dkm_la_syrk_t(const dkm_dmat *A, double beta, dkm_dmat *C);

#endif
