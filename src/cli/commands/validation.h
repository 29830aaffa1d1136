/** @file validation.h  What `cv` is asked to try, and what came of it. */
#ifndef DKMAP_CLI_COMMANDS_VALIDATION_H
#define DKMAP_CLI_COMMANDS_VALIDATION_H

#include <dkmap/cv.h>

#include "cli/param_search/grid_search.h"

enum { TRIALS_MAX = 1000, LOSSES_MAX = 16, RANK_GROUPS_MAX = 1000000 };

/** A problem for the library, and what it points to. */
typedef struct validation {
    run *r;
    grid_search grid_search;
    dkm_settings **kernel, **setting; /**< of each kernel, and of each setting, a point */
    dkm_cv_points points;
    dkm_cv_search *search;
    dkm_data *X, *Y;
    dkm_data *fold, *group, *weights; /**< of each example, or NULL */
    dkm_data *named;                  /**< the outputs where they were names of classes, or NULL */
    dkm_table *table;                 /**< that inputs went through, or NULL */
    dkm_kernel *loss_kernel;
    int losses;
    dkm_loss loss[LOSSES_MAX]; /**< the first one chooses */
    int halving;               /**< the search is by successive halving */
    dkm_cv_problem problem;
    dkm_cv_result result;
} validation;

/** Read the grid of settings, the examples and the loss. Collective; validation_close() frees what
 *  @p v holds, also after a failure.
 *  @param[in,out] v  zero but for `r`; it must not be moved after */
DKM_NODISCARD dkm_status validation_open(validation *v);
void validation_close(validation *v);

/** Write the outer fold of each example, from 1 on, where --folds-out asks for it. Collective. */
DKM_NODISCARD dkm_status validation_write_folds(const validation *v);

/** Fit all examples with the best setting and write the model, where -o asks for it. Collective. */
DKM_NODISCARD dkm_status validation_refit(validation *v);

/** Write the mean loss of each setting, where --table asks for it. Collective. */
DKM_NODISCARD dkm_status validation_write_table(const validation *v);

/** Tell the table of settings, the best one and its loss. Local; rank 0 prints. */
void validation_report(const validation *v);

#endif
