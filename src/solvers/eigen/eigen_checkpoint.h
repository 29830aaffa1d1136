/** @file eigen_checkpoint.h  Eigenpairs computed, where dkm_eigen_leading() does not find them
 * stored. */
#ifndef DKMAP_SOLVERS_EIGEN_EIGEN_CHECKPOINT_H
#define DKMAP_SOLVERS_EIGEN_EIGEN_CHECKPOINT_H

#include <dkmap/eigen.h>

/** As dkm_eigen_leading(), whatever a run before may have left. Collective. */
DKM_NODISCARD dkm_status dkm_eigen_compute(dkm_dmat *K, const dkm_eigen_settings *settings,
                                           double **values, dkm_data **vectors, double *means,
                                           dkm_eigen_info *info);

#endif
