/** @file features.h  Feature maps: from objects of any kind to n numbers each.
 *
 *  A map is fitted to some objects and then applied to any of their kind. It carries a kernel to
 *  new objects (dkmap/extend.h).
 */
#ifndef DKMAP_FEATURES_H
#define DKMAP_FEATURES_H

#include <dkmap/data.h>
#include <dkmap/landmarks.h>
#include <dkmap/model.h>

DKM_API_BEGIN

typedef struct dkm_features dkm_features;

/** Dense rows of n numbers as they are. Collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] n  columns of the rows
 *  @param[out] map  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_features_dense(dkm_ctx *ctx, dkm_idx n, dkm_features **map);

/** Kernel values to n of some objects, the landmarks. Collective.
 *
 *  With the matrix of the same kernel they give Nystroem's kernel. Rows of a kernel matrix (type
 *  gram, kernel gram) are their own features: the columns of the landmarks.
 *
 *  @param[in] X       objects to choose from; the map keeps those it chose
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[in] n       at most as many as there are; fewer are taken where they explain all others
 *  @param[in] choice  how landmarks are chosen
 *  @param[in] layout  of the matrices of kernel values
 *  @param[out] map  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_features_landmarks(const dkm_data *X, const dkm_kernel *kernel,
                                                dkm_idx n, dkm_landmark_method choice,
                                                const dkm_layout *layout, dkm_features **map);

/** Models whose Fisher scores are features, with the name users type. */
#define DKM_FISHER_LIST(X)                                                                         \
    X(DKM_FISHER_MULTINOMIAL, "multinomial") /* letters of strings, or columns of counts */        \
    X(DKM_FISHER_GAUSSIAN, "gaussian")       /* columns of dense rows, each normal by itself */    \
    X(DKM_FISHER_MARKOV, "markov")           /* letters of strings after the letter before */

#define DKM_FISHER_ENUM(code, name) code,
typedef enum dkm_fisher_model {
    DKM_FISHER_LIST(DKM_FISHER_ENUM) DKM_FISHER_COUNT
} dkm_fisher_model;
#undef DKM_FISHER_ENUM

/** Fisher scores of a model that is fitted to some objects: the derivatives of log p(x) by the
 *  natural parameters, t(x) - E t(x), each over its standard deviation. Collective.
 *
 *    multinomial  (c_a - |x| p_a) / sqrt(p_a) for each letter or column a; c_a its count, p_a its
 *                 share in all objects
 *    gaussian     (x_j - mean_j) / sd_j and (that^2 - 1) / sqrt(2) for each column j
 *    markov       (c_ab - c_a p_ab) / sqrt(p_ab) for each pair of letters; p_ab the chance of b
 *                 after a, every pair having been seen once more than it was
 *
 *  Letters are those of the objects it is fitted to; others count for nothing later.
 *
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for objects that the model is not for; DKM_ERR_ARG for
 *          counts below zero; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_features_fisher(const dkm_data *X, dkm_fisher_model model,
                                             dkm_features **map);

/** Weights on nearest neighbors: for each of the m points a number, 0 but for those of the
 *  @p neighbors nearest, whose combination is nearest to a point, 1 in sum. Collective.
 *
 *  A point that the map is fitted to is made of the others; one that comes later of the points
 *  nearest to it, itself included where it is one of them.
 *
 *  @param[in]  X      dense rows, of which the map holds a share
 *  @param[in] neighbors  of each point, > 0
 *  @param[in]  ridge  added to the diagonal of a point's local matrix, a part of its trace
 *  @param[out] map  new, owned by the caller; NULL on failure
 *  @param[out] F      new: the weights of the points themselves, m x m; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_features_lle(const dkm_data *X, dkm_idx neighbors, double ridge,
                                          dkm_features **map, dkm_data **F);

/** How many numbers an object gets. Local. */
dkm_idx dkm_features_count(const dkm_features *map);

/** Features of some objects: as many dense rows. Collective.
 *  @param[in] map  of the features
 *  @param[in] X  objects like those that it was made for
 *  @param[out] F  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for objects that are not like those the map was fitted to */
DKM_NODISCARD dkm_status dkm_features_apply(dkm_features *map, const dkm_data *X, dkm_data **F);

/** Free. Collective; takes NULL and nulls. */
void dkm_features_destroy(dkm_features **map);

DKM_API_END

#endif
