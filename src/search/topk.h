/** @file topk.h  The nearest of many candidates, for many points at once.
 *
 *  Distances come from blocked matrix products: every rank has all points of a batch and looks at
 *  candidates of its own, keeps the best of them, and the lists are merged where the points live.
 *  Products are single precision and only filter: with a proven bound on their rounding errors
 *  they tell which candidates cannot be among the best, and distances of the few others are
 *  worked out in double (prefilter.h).
 */
#ifndef DKMAP_SEARCH_TOPK_H
#define DKMAP_SEARCH_TOPK_H

#include <dkmap/data.h>

typedef struct dkm_candidates {
    dkm_data *Z;   /**< coordinates, dense, in slabs */
    double *norms; /**< of this rank's slab: squared distance to the origin of the coordinates, in
                      the entire space and not only along them */
} dkm_candidates;

/** Free both. Local. */
void dkm_candidates_clear(dkm_candidates *candidates);

/** Refuse candidates that are of another type than the objects they are to stand for, or rows of
 *  another width. Local. */
DKM_NODISCARD dkm_local dkm_candidates_match(dkm_ctx *ctx, dkm_type type, dkm_idx cols,
                                             dkm_type wanted, dkm_idx wanted_cols);

/** The @p top candidates c with the smallest norms_c - 2 q.z_c + q.q for each point q.
 *
 *  Collective. Ties go to the lowest index; norms that differ from the least by rounding alone
 * count as equal. Neither depends on the number of ranks.
 *
 *  @param[in]  Q          points, dense, in slabs, as many columns as Z
 *  @param[in]  top        at most as many as there are candidates
 *  @param[out] index      this rank's points x top, nearest first
 *  @param[out] distance   the squared distances beside them
 */
DKM_NODISCARD dkm_status dkm_topk(const dkm_data *Q, const dkm_candidates *candidates, dkm_idx top,
                                  dkm_idx *index, double *distance);

/** The same with @p each points of every rank at a time; dkm_topk() takes as many as 64 MiB hold. */
DKM_NODISCARD dkm_status dkm_topk_in_batches(const dkm_data *Q, const dkm_candidates *candidates,
                                             dkm_idx top, dkm_idx each, dkm_idx *index,
                                             double *distance);

/** The object of the nearest candidate of each point. Collective.
 *
 *  @param[in]  objects  what the candidates stand for
 *  @param[in]  which    the object of each candidate, where those are some of them; NULL: all
 *  @param[out] Y        new, owned by the caller; as many as @p Q; NULL on failure
 */
DKM_NODISCARD dkm_status dkm_topk_objects(const dkm_data *Q, const dkm_candidates *candidates,
                                          const dkm_data *objects, const dkm_idx *which,
                                          dkm_data **Y);

/** The norms of all candidates: they are compared less the least of them, and those that differ
 * from it by rounding alone count as equal to it. A point that is like no candidate, with q.z_c
 * below the rounding of a norm, is then distinguished by q.z_c alone. */
typedef struct dkm_norm_range {
    double least;   /**< of the norms */
    double largest; /**< of their sizes */
} dkm_norm_range;

/** No norms yet, and @p n more of this rank's candidates. Local. */
dkm_norm_range dkm_norm_range_empty(void);
void dkm_norm_range_add(dkm_norm_range *range, dkm_idx n, const double *norms);
/** A norm as it is compared: less the least of the range, and 0 where rounding alone is left. Local. */
double dkm_norm_range_level(const dkm_norm_range *range, double norm);
/** Combine the ranges of all ranks. Collective. */
void dkm_norm_range_combine(dkm_ctx *ctx, dkm_norm_range *range);

/** A search whose candidates come in blocks and need not stay. */
typedef struct dkm_topk_search dkm_topk_search;

/** Begin: every rank gets all points. Collective; dkm_topk_search_close() frees.
 *  @param[in] range  of the norms of all candidates of all ranks */
DKM_NODISCARD dkm_status dkm_topk_search_open(const dkm_data *Q, dkm_idx top, dkm_norm_range range,
                                              dkm_topk_search **search);
/** Look at candidates of this rank, @p first being the index of the first of them; indices ascend
 *  from call to call. Local: ranks may look at different numbers of them.
 *  @param[in] Z  n x p, row-major */
void dkm_topk_search_scan(dkm_topk_search *search, dkm_idx first, dkm_idx n, const double *Z,
                          const double *norms);
/** The same for candidates with any ascending indices. Local. */
void dkm_topk_search_scan_list(dkm_topk_search *search, dkm_idx n, const dkm_idx *index,
                               const double *Z, const double *norms);
/** Squared distances of the last in the lists of this rank, of all ranks' points in order: what is farther
 *  than the least of these over the ranks is not among the best. Infinite while a list is not full. Local.
 *  @param[out] limits  as many as there are points on all ranks */
void dkm_topk_search_limits(const dkm_topk_search *search, double *limits);
/** The best of all ranks' candidates, as of dkm_topk(). Collective. */
DKM_NODISCARD dkm_status dkm_topk_search_finish(dkm_topk_search *search, dkm_idx *index,
                                                double *distance);
/** How many distances this rank worked out in double one by one, and how many by products. Local.
 */
void dkm_topk_search_stats(const dkm_topk_search *search, dkm_idx *single, dkm_idx *product);
void dkm_topk_search_close(dkm_topk_search **search);

/** What candidates were found, as dense rows of index, squared distance, index, distance, ...
 *
 *  Collective.
 *
 *  @param[in]  n  points of all ranks
 *  @param[out] Y  new, owned by the caller; n x 2 top
 */
DKM_NODISCARD dkm_status dkm_candidates_list(dkm_ctx *ctx, dkm_idx n, dkm_idx top,
                                             const dkm_idx *index, const double *distance,
                                             dkm_data **Y);

#endif
