/** @file assign.h  The nearest of a few points, for each of many rows. */
#ifndef DKMAP_SELECTION_CLUSTER_ASSIGN_H
#define DKMAP_SELECTION_CLUSTER_ASSIGN_H

#include <dkmap/data.h>

/** ||x - y||^2 of two rows of d numbers, by differences. Local; always added up in the same order.
 */
double dkm_squared_distance(const double *x, const double *y, dkm_idx d);

typedef struct dkm_nearest_points {
    const dkm_data *X;
    dkm_idx k, d;
    double *norms;  /**< squared, of this rank's rows */
    double *points; /**< squared norms of the k points */
    double *scores; /**< k numbers for each row of a block */
    dkm_idx block;  /**< rows at a time */
} dkm_nearest_points;

/** Get ready for k points and the rows of @p X, which are borrowed. Local; dkm_assigner_close()
 *  frees what it holds, also after a failure. */
DKM_NODISCARD dkm_local dkm_assigner_open(dkm_nearest_points *s, const dkm_data *X, dkm_idx k);

/** For each row of this rank the nearest point, of several the first, and its squared distance.
 *
 *  Local. ||p||^2 - 2 x'p comes from matrix products; points that its rounding could confuse are
 *  compared by dkm_squared_distance(), so that the choice does not depend on how rows are cut in
 * blocks.
 *
 *  @param[in]  points  k x d, row-major
 *  @param[out] nearest_center   one per row of this rank
 *  @param[out] gap     the same
 */
void dkm_assigner_find(dkm_nearest_points *s, const double *points, dkm_idx *nearest_center,
                       double *gap);

void dkm_assigner_close(dkm_nearest_points *s);

#endif
