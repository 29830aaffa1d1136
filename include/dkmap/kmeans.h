/** @file kmeans.h  Clusters of dense rows by k-means.
 *
 *  Centers are seeded by k-means++: each one is a row drawn with a probability proportional to its
 *  squared distance from the nearest center so far. Rounds of Lloyd follow: every row goes to the
 *  nearest center (of several the first), every center to the mean of its rows, until no row
 *  changes. A cluster that lost all its rows begins anew with the row farthest from its center.
 *
 *  The labels do not depend on the number of ranks, not even where two centers are equally near:
 *  draws are a function of the seed and the row, near ties are decided by differences, and rows are
 *  added up in fixed point, whose sums are the same in any order. Its unit in a column is 2^-b of
 *  the largest magnitude there, b = 61 - ceil(log2 m): 2^-45 for 60,000 rows.
 */
#ifndef DKMAP_KMEANS_H
#define DKMAP_KMEANS_H

#include <dkmap/data.h>

DKM_API_BEGIN

typedef struct dkm_kmeans_settings {
    dkm_idx clusters;   /**< from 1 to the number of rows */
    dkm_idx max_rounds; /**< at least 1 */
} dkm_kmeans_settings;

typedef struct dkm_kmeans_info {
    dkm_idx clusters; /**< that have rows: fewer than asked for where fewer rows are distinct */
    dkm_idx rounds;
    int converged;    /**< no row changed in the last round */
    dkm_idx refilled; /**< times that an empty cluster began anew */
    double inertia;   /**< sum over all rows of the squared distance to the center chosen last */
} dkm_kmeans_info;

/** 30 clusters, at most 300 rounds. */
dkm_kmeans_settings dkm_kmeans_settings_default(void);

/** Cluster the rows of @p X. Collective.
 *
 *  Random numbers come from the seed of the context. Each rank holds, beside its rows, all centers
 *  and twice as many numbers again.
 *
 *  @param[in] X  inputs, borrowed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] labels  new, owned by the caller: the cluster of each row, from 0 on; NULL on
 *                      failure
 *  @param[out] info    may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED for objects that are not dense rows;
 *          DKM_ERR_MEMORY; DKM_ERR_SIZE */
DKM_NODISCARD dkm_status dkm_kmeans(const dkm_data *X, const dkm_kmeans_settings *settings,
                                    dkm_data **labels, dkm_kmeans_info *info);

DKM_API_END

#endif
