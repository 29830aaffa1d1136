/** @file cv_ridge.h  Ridge regression inside cross-validation: one split after the other, or all of
 * them from one inverse. */
#ifndef DKMAP_SELECTION_CV_CLOSED_FORM_CV_RIDGE_H
#define DKMAP_SELECTION_CV_CLOSED_FORM_CV_RIDGE_H

#include "selection/cv/cv_impl.h"

/** What is to be learned on the training part of a cell. */
typedef struct dkm_cv_targets {
    const dkm_dmat *T; /**< one row per example */
    const double *C;   /**< column-major, T = E(train, .) C with the low-rank factor E of the cell;
                          NULL where   there is none */
} dkm_cv_targets;

/** Sees F = K(test, train) (K(train, train) + gamma I)^-1 T for gamma number @p g; may change it.
 */
typedef dkm_status (*dkm_cv_visit_predictions)(dkm_cv_cell *cell, void *state, dkm_idx g,
                                               dkm_dmat *F);

/** Ridge regression of T on the training part, predicted for the test part, for every gamma of
 *  which a setting is wanted: setting s has gamma s % gammas. Collective on the group. */
DKM_NODISCARD dkm_status dkm_cv_ridge_each(dkm_cv_cell *cell, const dkm_cv_targets *targets,
                                           dkm_cv_visit_predictions take, void *state);

#define DKM_CV_EIGEN_PAYS  20 /* an eigendecomposition takes as long as about so many factors */
#define DKM_CV_LOWRANK_MAX 64 /* columns of a low-rank factor */

/** Gammas and kernels that ridge methods need. Local. */
DKM_NODISCARD dkm_local dkm_cv_ridge_check(dkm_ctx *ctx, const dkm_cv_problem *problem);

/** A low-rank factor of outputs with kernel matrix L = E E', by pivoted Cholesky; none where L has
 * a rank beyond DKM_CV_LOWRANK_MAX - 1 or is not positive semidefinite. Local.
 *  @param[in] L  all of it, on this rank */
DKM_NODISCARD dkm_local dkm_cv_lowrank_of_gram(dkm_ctx *ctx, const dkm_data *L,
                                               dkm_cv_lowrank *lowrank);

/** A low-rank factor of numbers, @p cols an output, row-major. Local. */
DKM_NODISCARD dkm_local dkm_cv_lowrank_of_rows(dkm_ctx *ctx, dkm_idx m, dkm_idx cols,
                                               const double *rows, dkm_cv_lowrank *lowrank);

/** parts(), share() and unshare() of ridge methods: the inverse of K + gamma I for one gamma. */
dkm_idx dkm_cv_inverse_parts(const dkm_cv_problem *problem, int groups);
DKM_NODISCARD dkm_status dkm_cv_inverse_make(dkm_cv_cell *cell, void **shared);
void dkm_cv_inverse_drop(void **shared);

/** As dkm_cv_ridge_each() for the gamma of the cell, by its inverse. Collective on a group of one.
 *  @param[out] done  0 where there is no inverse that will do, and @p take was not called */
DKM_NODISCARD dkm_status dkm_cv_inverse_try(dkm_cv_cell *cell, const dkm_cv_targets *targets,
                                            dkm_cv_visit_predictions take, void *state, int *done);

#endif
