/** @file pruned_search.h  The nearest of very many streamed candidates, most of which a bound rules out. */
#ifndef DKMAP_PREIMAGE_SEARCH_PRUNED_SEARCH_H
#define DKMAP_PREIMAGE_SEARCH_PRUNED_SEARCH_H

#include "models/common/embedding.h"

/** What a search looked at. */
typedef struct dkm_pruned_info {
    dkm_idx candidates; /**< of the stream */
    dkm_idx evaluated;  /**< of those, with kernel values to all training objects */
    dkm_idx pivots;     /**< training objects that the others were ruled out by */
} dkm_pruned_info;

/** Whether candidates can be ruled out under the kernel of @p e: its values depend on two objects alone.
 *  Local. */
int dkm_pruned_search_suits(const dkm_embedding *e);

/** The @p top candidates with the smallest squared distance to the point that each row of coordinates stands
 *  for, exactly as a search through all of them finds them. Collective.
 *
 *  @param[in]  stream    candidates, of the type of the training objects
 *  @param[in]  Z         coordinates of the points, dense, in slabs
 *  @param[in]  top       at most as many as there are candidates
 *  @param[out] index     this rank's points x top, nearest first; ties go to the lowest index
 *  @param[out] distance  the squared distances beside them
 *  @param[out] info      may be NULL
 *  @return DKM_OK; DKM_ERR_MEMORY; what reading the stream or evaluating the kernel return */
DKM_NODISCARD dkm_status dkm_pruned_search(dkm_embedding *e, dkm_source *stream, const dkm_data *Z,
                                           dkm_idx top, dkm_idx *index, double *distance,
                                           dkm_pruned_info *info);

#endif
