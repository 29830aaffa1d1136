/** @file embedding.h  Objects as coordinates along leading directions of their feature space.
 *
 *  With H K H = V diag(l) V' for the training objects, the coordinates of an object are
 *  z = diag(l)^-1/2 V' k_c, k_c its kernel values to the training objects, centered by their means.
 *  Kernel PCA is this; kernel dependency estimation predicts such coordinates of outputs.
 */
#ifndef DKMAP_MODELS_COMMON_EMBEDDING_H
#define DKMAP_MODELS_COMMON_EMBEDDING_H

#include <dkmap/eigen.h>

#include "models/common/example_weights.h"
#include "models/common/fitted_kernel.h"
#include "solvers/nystroem/nystroem_impl.h"

typedef struct dkm_embedding {
    dkm_fitted_kernel fitted;
    dkm_idx p;
    double *values; /**< p eigenvalues l */
    double *means;  /**< m means of the rows of K */
    double *
        center; /**< of landmarks, and of objects with weights: weights whose combination of objects is the mean of all that
                       they stand for, and `means` are their kernel values to it; else NULL */
    dkm_dmat *W;            /**< m x p: V diag(l)^-1/2 */
    const dkm_data *inputs; /**< borrowed: what the first of the objects are outputs of, or NULL */
} dkm_embedding;

/** Find the directions, with the fitted kernel open. Collective; dkm_embedding_close() frees all,
 * also after a failure.
 *  @return DKM_OK; DKM_ERR_NUMERIC when all objects look alike; what the eigensolver returns */
DKM_NODISCARD dkm_status dkm_embedding_fit(dkm_embedding *e, const dkm_eigen_settings *settings,
                                           dkm_eigen_info *info);
/** The same for objects with weights: components of their covariance about the weighted mean.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_embedding_fit_weighted(dkm_embedding *e,
                                                    const dkm_example_weights *weights,
                                                    const dkm_eigen_settings *settings,
                                                    dkm_eigen_info *info);
/** W = V diag(l)^-1/2 from eigenvectors in slabs, which are overwritten. Collective. */
DKM_NODISCARD dkm_status dkm_embedding_scale_vectors(dkm_embedding *e, dkm_data *vectors);
/** The same for many objects, with the fitted kernel open on landmarks among them: leading
 * components of the Nystroem kernel, centered over all objects. Collective.
 *  @param[in]  feed  the objects
 *  @param[out] Z     may be NULL; new array, their coordinates, this rank's slab, row-major */
DKM_NODISCARD dkm_status dkm_embedding_fit_landmarks(dkm_embedding *e, dkm_input_stream *feed,
                                                     const dkm_nystroem_settings *how,
                                                     const dkm_eigen_settings *settings, double **Z,
                                                     dkm_eigen_info *info);
/** Bytes of vectors of m numbers that every rank has: the means of the rows of K, and with weights
 *  those, their roots, K q and q. The plan names them. Local. */
double dkm_embedding_estimate(const dkm_settings *settings, dkm_idx m, dkm_cost *cost);
/** Refuse an embedding without components. Local. */
DKM_NODISCARD dkm_local dkm_embedding_check_rank(dkm_ctx *ctx, dkm_idx p);
void dkm_embedding_close(dkm_embedding *e);

/** The objects that every rank has from its own @p first on, @p each of them at most. Slabs differ
 *  by one at the most, the longer ones first, so that the selection falls to the ranks that gave
 *  it. Local.
 *  @param[out] indices  space for @p each numbers per rank
 *  @return how many there are */
dkm_idx dkm_own_batches(const dkm_data *X, dkm_idx first, dkm_idx each, dkm_idx *indices);

/** Coordinates of new objects, in slabs. Collective.
 *
 *  @param[out] norms  may be NULL; for each object of this rank's slab its squared distance to the
 *                     mean of the training objects, in all of feature space
 */
DKM_NODISCARD dkm_status dkm_embedding_encode(dkm_embedding *e, const dkm_data *X, dkm_data **Z,
                                              double *norms);

/** The weight of training object @p i in the mean of all, which is what they add up to. Local. */
double dkm_embedding_weight(const dkm_embedding *e, dkm_idx i);

/** ||mu||^2 of that mean. Local. */
double dkm_embedding_grand_mean(const dkm_embedding *e);

/** Coordinates of the training objects, V diag(l)^1/2, block-cyclic. Collective. */
DKM_NODISCARD dkm_status dkm_embedding_training(const dkm_embedding *e, dkm_dmat **Z);

/** Squared distances of the training objects of this rank's slab to their mean. Collective. */
DKM_NODISCARD dkm_status dkm_embedding_training_norms(const dkm_embedding *e, double *norms);

/** The parts of the fitted kernel, and "eigenvalues", "means" and "components". Collective. */
DKM_NODISCARD dkm_status dkm_embedding_to_archive(const dkm_embedding *e,
                                                  dkm_fitted_kernel_names names,
                                                  dkm_archive *archive);
DKM_NODISCARD dkm_status dkm_embedding_from_archive(dkm_embedding *e,
                                                    const dkm_fitted_kernel *other,
                                                    dkm_fitted_kernel_names names,
                                                    dkm_archive *archive, const dkm_layout *layout);

/** Squared distances to the mean of images from k(x, x): norms[i] += grand - 2 means[i], the means
 *  being those of k(x, .) over the training objects, and grand their mean. Local. */
void dkm_embedding_center_norms(dkm_idx n, const double *means, double grand, double *norms);

#endif
