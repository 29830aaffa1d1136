/** @file rank_update.h  The factor of a matrix to which a product V V' is added. */
#ifndef DKMAP_LINALG_FACTOR_RANK_UPDATE_H
#define DKMAP_LINALG_FACTOR_RANK_UPDATE_H

#include <dkmap/dmat.h>

/** L L' <- L L' + V V', L lower triangular; what lies above its diagonal is neither read nor
 *  written.
 *
 *  Collective.
 *
 *  @param[in,out] L      double, square, in square blocks
 *  @param[in,out] V      double, as many rows in the same blocks, in column blocks of 1; overwritten
 *  @param[in]     first  for each column of V the first row that is not zero, ascending
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_la_rank_update(dkm_dmat *L, dkm_dmat *V, const dkm_idx *first);

#endif
