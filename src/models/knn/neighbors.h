/** @file neighbors.h  The nearest of some objects in the feature space of their kernel.
 *
 *  The squared distance of a point p to object i is <p, p> - 2 <p, phi(x_i)> + k(x_i, x_i): rows
 *  of inner products with all objects are enough to order them. A point may be the image of a new
 *  object, or a mean of several.
 */
#ifndef DKMAP_MODELS_KNN_NEIGHBORS_H
#define DKMAP_MODELS_KNN_NEIGHBORS_H

#include "models/common/fitted_kernel.h"

typedef struct dkm_neighbors {
    dkm_fitted_kernel fitted;
    double *diag; /**< k(x_i, x_i) of all objects, on every rank */
} dkm_neighbors;

/** Work out the diagonal, with the fitted kernel open. Collective; dkm_neighbors_close() frees all,
 * also after a failure. */
DKM_NODISCARD dkm_status dkm_neighbors_ready(dkm_neighbors *s);
void dkm_neighbors_close(dkm_neighbors *s);

/** rows += scale k(x, x_i) for the new objects of this rank's slab. Collective.
 *  @param[in,out] rows  dkm_data_local_rows(X) x m numbers */
DKM_NODISCARD dkm_status dkm_neighbors_add(dkm_neighbors *s, const dkm_data *X, double scale,
                                           double *rows);

/** The @p top nearest objects of each of @p n points, nearest first, ties to the lowest index.
 *  Local.
 *
 *  @param[in]  rows      n x m inner products
 *  @param[out] index     n x top
 *  @param[out] distance  n x top squared distances less <p, p>
 */
void dkm_neighbors_pick(const dkm_neighbors *s, dkm_idx n, const double *rows, dkm_idx top,
                        dkm_idx *index, double *distance);

#endif
