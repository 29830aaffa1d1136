/** @file cv_kde.h  What kernel dependency estimation learns of the outputs of a split. */
#ifndef DKMAP_SELECTION_CV_CLOSED_FORM_CV_KDE_H
#define DKMAP_SELECTION_CV_CLOSED_FORM_CV_KDE_H

#include "preimage/linear_map.h"
#include "selection/cv/closed_form/cv_ridge.h"

typedef struct dkm_cv_outputs {
    dkm_idx p;
    double *values, trace;
    dkm_dmat *Z;      /**< n x p coordinates of the training outputs */
    double *C;        /**< Z = E(train, .) C of a low-rank factor; else NULL */
    dkm_data *points; /**< the coordinates in slabs */
    double *norms;    /**< of this rank's training outputs: squared distance to their mean */
    dkm_idx *which;   /**< of labels on one rank: points and norms are those of the first training
                         output of each class alone, and this says which they are; else NULL */
    dkm_linear_map linear; /**< linear pre-images: U = diag(values)^-1 Z'Y; else without U */
} dkm_cv_outputs;

/** What covers every setting: the largest number of components, the largest share, or all where
 *  both occur. Local. */
dkm_eigen_settings dkm_cv_most_components(const dkm_cv_ridge *ridge);

/** How many of the components found a setting takes. Local. */
dkm_idx dkm_cv_components(const dkm_cv_outputs *outputs, const dkm_eigen_settings *setting);

/** Whether the outputs are rows of numbers with the linear kernel. Local. */
int dkm_cv_outputs_linear(const dkm_cv_cell *cell);

/** Decompose the outputs of the training part. Collective on the group; dkm_cv_outputs_free()
 *  frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_cv_outputs_learn(dkm_cv_cell *cell, dkm_cv_outputs *outputs);
void dkm_cv_outputs_free(dkm_cv_outputs *outputs);

/** As far as components go, by the low-rank factor of the cell: E(train, .), centered, has q
 * columns, whose principal axes come from a matrix of order q. Collective on a group of one rank.
 *
 *  @param[out] info  components, trace
 *  @param[out] done  0 where a setting would cut between directions of equal variance, which the
 *                    decomposition of the full matrix has to tell apart as a fit does
 */
DKM_NODISCARD dkm_status dkm_cv_outputs_by_lowrank(dkm_cv_cell *cell, dkm_cv_outputs *outputs,
                                                   dkm_eigen_info *info, int *done);

#endif
