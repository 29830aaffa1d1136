/** @file cv_checkpoint.h  The cells of a cross-validation that are done, for a run that goes on.
 *
 *  What is stored is a table of sums by kernel, split and setting: it depends neither on the order in
 *  which cells are done nor on the number of ranks.
 */
#ifndef DKMAP_SELECTION_CV_CV_CHECKPOINT_H
#define DKMAP_SELECTION_CV_CV_CHECKPOINT_H

#include "selection/cv/cv_impl.h"

typedef struct dkm_cv_checkpoint {
    dkm_ctx *ctx;
    const dkm_cv_problem *problem;
    int groups;
    uint64_t fingerprint; /**< of the outputs */
    dkm_idx rows;  /**< kernels x splits, and one more for each outer fold where folds are nested */
    double *table; /**< rows x settings entries: whether it is done, and its sums; NULL: no
                      checkpointer */
} dkm_cv_checkpoint;

/** Look for what a run before has done. Collective; dkm_cv_checkpoint_close() frees, also after a
 *  failure. */
DKM_NODISCARD dkm_status dkm_cv_checkpoint_open(dkm_cv_checkpoint *checkpoint, dkm_ctx *ctx,
                                                const dkm_cv_problem *problem, int groups);
void dkm_cv_checkpoint_close(dkm_cv_checkpoint *checkpoint);

/** Does cells and brings their sums to every rank. */
typedef dkm_status (*dkm_cv_do)(void *user, dkm_idx cells, const dkm_cv_cell_id *cell_id,
                                double *sums);

/** Do those cells that are not done yet, some at a time, and keep what comes out. Collective.
 *
 *  @param[in]  unit  cells that must stay together, one after the other
 *  @param[out] sums  dkm_cv_width() per setting and cell, zero at first
 *  @return DKM_OK; DKM_ERR_STOPPED when the run is to end; what @p work returns */
DKM_NODISCARD dkm_status dkm_cv_checkpoint_run(dkm_cv_checkpoint *checkpoint, dkm_idx cells,
                                               dkm_idx unit, const dkm_cv_cell_id *cell_id,
                                               double *sums, dkm_cv_do work, void *user);

#endif
