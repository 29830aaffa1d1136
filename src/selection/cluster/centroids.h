/** @file centroids.h  Means of groups of rows, the same to the last bit on any number of ranks.
 *
 *  Rows are added up as 64-bit integers: a column is multiplied by the power of two that brings its
 *  largest magnitude over all ranks just below 2^(62 - ceil(log2 m)), so that no sum overflows.
 *  Integers add up to the same in any order, and what was added can be taken off again.
 */
#ifndef DKMAP_SELECTION_CLUSTER_CENTROIDS_H
#define DKMAP_SELECTION_CLUSTER_CENTROIDS_H

#include <dkmap/data.h>

typedef struct dkm_centroids {
    dkm_ctx *ctx;
    dkm_idx k, d;
    double *at;      /**< k x d, row-major, the same on every rank */
    int64_t *counts; /**< k: rows of each group over all ranks, as of dkm_centroids_count() */
    int64_t *mine;   /**< k: rows of each group on this rank */
    int64_t *sums;   /**< k x d: of this rank's rows, in fixed point */
    int64_t *totals; /**< k x d: over all ranks */
    double *scale;   /**< d: from numbers to fixed point */
    double noise; /**< squared distance that rounding may put between a mean and rows all alike */
} dkm_centroids;

/** k empty groups of rows like those of @p X, all centers at the origin. Collective.
 *  @param[out] c  dkm_centroids_close() frees it, also after a failure */
DKM_NODISCARD dkm_status dkm_centroids_open(dkm_centroids *c, const dkm_data *X, dkm_idx k);

/** Move a row of this rank from one group to another; a group of -1 is none. Local. */
void dkm_centroids_move(dkm_centroids *c, const double *row, dkm_idx from, dkm_idx to);

/** Count the rows of each group over all ranks. Collective. */
void dkm_centroids_count(dkm_centroids *c);

/** Put each center to the mean of its group; where there are no rows it stays. Collective; the rows
 *  were counted since the last move. */
void dkm_centroids_update(dkm_centroids *c);

void dkm_centroids_close(dkm_centroids *c);

#endif
