/** @file potrf_checkpoint.h  A Cholesky factorization that saves its state as it goes, and resumes
 *  from it. */
#ifndef DKMAP_SOLVERS_RIDGE_POTRF_CHECKPOINT_H
#define DKMAP_SOLVERS_RIDGE_POTRF_CHECKPOINT_H

#include "io/checkpoint/checkpointer.h"

#define DKM_POTRF_CHECKPOINT_META 3

typedef struct dkm_potrf_checkpoint {
    char stage[DKM_STAGE_LENGTH];
    dkm_dmat *A;                            /**< borrowed; the lower triangle is stored */
    dkm_idx from;                           /**< columns done before; 0 is the beginning */
    int steps;                              /**< most attempts that meta[0] can count */
    double meta[DKM_POTRF_CHECKPOINT_META]; /**< of the caller, stored beside the matrix: how many
                                                 attempts failed before, then what it likes */
} dkm_potrf_checkpoint;

/** Take up the state of checkpoint->stage: its lower triangle, metadata and columns done.
 *
 *  Collective. Without one, `from` is 0 and all else as it was.
 *
 *  @return DKM_OK; DKM_ERR_FORMAT; what dkm_checkpointer_load() returns
 */
DKM_NODISCARD dkm_status dkm_potrf_checkpoint_restore(dkm_potrf_checkpoint *checkpoint);

/** Factor A = L L' from that state on; `from` is 0 afterwards, for another attempt.
 *
 *  Collective.
 *
 *  @param[out] info  as of dkm_la_potrf()
 *  @return DKM_OK; DKM_ERR_STOPPED
 */
DKM_NODISCARD dkm_status dkm_potrf_checkpoint_factorize(dkm_potrf_checkpoint *checkpoint,
                                                        dkm_idx *info);

#endif
