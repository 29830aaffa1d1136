/** @file approximate_search.h  Near candidates by an index, not always the nearest: as many of those as were asked for. */
#ifndef DKMAP_PREIMAGE_APPROXIMATE_SEARCH_H
#define DKMAP_PREIMAGE_APPROXIMATE_SEARCH_H

#include <dkmap/preimage.h>

#include "models/common/embedding.h"
#include "search/topk.h"

/** Where candidates are. All borrowed. */
typedef struct dkm_candidate_pool {
    dkm_embedding *e;
    dkm_source *stream;           /**< a file, or NULL: */
    const dkm_data *objects;      /**< objects in memory, and */
    const dkm_candidates *placed; /**< their coordinates */
} dkm_candidate_pool;

typedef struct dkm_approximate_search dkm_approximate_search;

/** Refuse where dkmap was built without faiss. Local. */
DKM_NODISCARD dkm_local dkm_approximate_check(dkm_ctx *ctx);

/** Index all candidates, and look into as many of its cells as find the share @p wanted of the nearest candidates of
 *  a sample of the points. Collective; dkm_approximate_search_close() frees.
 *
 *  @param[in]  Z       coordinates of points, dense, in slabs
 *  @param[in]  top     at most as many as there are candidates
 *  @param[in]  wanted  in (0, 1]
 *  @param[out] info    the sample, its recall, cells and probes
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_UNSUPPORTED without faiss; what reading and encoding return */
DKM_NODISCARD dkm_status dkm_approximate_search_open(const dkm_candidate_pool *pool,
                                                     const dkm_data *Z, dkm_idx top, double wanted,
                                                     dkm_search_info *info,
                                                     dkm_approximate_search **search);

/** The @p top nearest of the candidates that the index finds, with their distances in double. Collective.
 *  @param[out] index     this rank's points x top, nearest first
 *  @param[out] distance  the squared distances beside them
 *  @param[in,out] info   `evaluated` grows */
DKM_NODISCARD dkm_status dkm_approximate_search_run(dkm_approximate_search *search,
                                                    const dkm_data *Z, dkm_idx *index,
                                                    double *distance, dkm_search_info *info);

void dkm_approximate_search_close(dkm_approximate_search **search);

#endif
