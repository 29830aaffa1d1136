/** @file kept.h  A Cholesky factorisation that leaves its state with the keeper as it goes. */
#ifndef DKMAP_KEPT_H
#define DKMAP_KEPT_H

#include "data/keeper.h"

#define DKM_KEPT_NOTES 3

typedef struct dkm_kept {
    char stage[DKM_STAGE_LENGTH];
    dkm_dmat *A;                  /**< borrowed; the lower triangle is kept */
    dkm_idx from;                 /**< columns done before; 0 is the beginning */
    double notes[DKM_KEPT_NOTES]; /**< of the caller, kept beside the matrix */
} dkm_kept;

/** Take up the state of kept->stage: its lower triangle, notes and columns done.
 *
 *  Collective. Without one, `from` is 0 and all else as it was.
 *
 *  @return DKM_OK; what dkm_keep_find() returns
 */
DKM_NODISCARD
dkm_status dkm_kept_find(dkm_kept *kept);

/** Factor A = L L' from that state on; `from` is 0 afterwards, for another attempt.
 *
 *  Collective.
 *
 *  @param[out] minor  as dkm_la_cholesky() tells it
 *  @return DKM_OK; DKM_ERR_STOPPED
 */
DKM_NODISCARD
dkm_status dkm_kept_cholesky(dkm_kept *kept, dkm_idx *minor);

#endif
