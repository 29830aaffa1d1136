/** @file path_eigen_impl.h  A system decomposed once for all gammas: A = V diag(l) V'. */
#ifndef DKMAP_SOLVERS_RIDGE_PATH_PATH_EIGEN_IMPL_H
#define DKMAP_SOLVERS_RIDGE_PATH_PATH_EIGEN_IMPL_H

#include "solvers/ridge_path/path_impl.h"

typedef struct dkm_path_eigen {
    dkm_path_run *run;
    double *l;           /**< ascending */
    int *attempts;       /**< with growing jitter, one per gamma */
    double scale;        /**< that jitter is reckoned from */
    dkm_dmat *V;         /**< k x k */
    dkm_dmat *A_copy;    /**< a copy of A, where memory allows */
    dkm_multivec Z, one; /**< V'R and V' of the right-hand side of ones */
    int parts;           /**< functions w of l a gamma: 2 where coefficients are penalized */
    dkm_idx group;       /**< gammas at a time */
    dkm_idx cols;        /**< columns at a time */
    double *w;           /**< k x group parts */
} dkm_path_eigen;

/** Rows that pass by at a time, on the rank with most. Local; the same on every rank. */
dkm_idx dkm_path_eigen_chunk(const dkm_path_run *run);

/** What is added to gamma @p g, and the functions of l for it: 1 / (l + gamma), NaN where that is
 *  not positive; or sqrt(gamma) / (l^2 + gamma) and l / (l^2 + gamma). Local. */
double dkm_path_eigen_jitter(const dkm_path_eigen *s, dkm_idx g);
void dkm_path_eigen_weights(const dkm_path_eigen *s, dkm_idx g, double *w);

/** Z = V'R. Collective. */
DKM_NODISCARD dkm_status dkm_path_eigen_project(const dkm_path_eigen *s, const dkm_multivec *R,
                                                dkm_multivec *Z);

/** Errors of all gammas into the points of the run. Collective. */
DKM_NODISCARD dkm_status dkm_path_eigen_loo(dkm_path_eigen *s);

#endif
