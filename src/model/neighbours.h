/** @file neighbours.h  The nearest of some objects in the feature space of their kernel.
 *
 *  The squared distance of a point p to object i is <p, p> - 2 <p, phi(x_i)> + k(x_i, x_i): rows
 *  of inner products with all objects are enough to order them. A point may be the image of a new
 *  object, or a mean of several.
 */
#ifndef DKMAP_NEIGHBOURS_H
#define DKMAP_NEIGHBOURS_H

#include "model/base.h"

typedef struct dkm_neighbours {
    dkm_base base;
    double *selves; /**< k(x_i, x_i) of all objects, on every rank */
} dkm_neighbours;

/** Work out the selves, with the base open. Collective; dkm_neighbours_close() frees all, also
 *  after a failure. */
DKM_NODISCARD
dkm_status dkm_neighbours_ready(dkm_neighbours *s);
void dkm_neighbours_close(dkm_neighbours *s);

/** rows += scale k(x, x_i) for the new objects of this rank's slab. Collective.
 *  @param[in,out] rows  dkm_data_local_rows(X) x m numbers */
DKM_NODISCARD
dkm_status dkm_neighbours_add(dkm_neighbours *s, const dkm_data *X, double scale, double *rows);

/** The @p top nearest objects of each of @p n points, nearest first, ties to the lowest index.
 *  Local.
 *
 *  @param[in]  rows      n x m inner products
 *  @param[out] index     n x top
 *  @param[out] distance  n x top squared distances less <p, p>
 */
void dkm_neighbours_pick(const dkm_neighbours *s, dkm_idx n, const double *rows, dkm_idx top,
                         dkm_idx *index, double *distance);

#endif
