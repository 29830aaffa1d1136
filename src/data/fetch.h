/** @file fetch.h  Fetching with the bounds of its rounds given, so that small ones can be tried. */
#ifndef DKMAP_DATA_FETCH_H
#define DKMAP_DATA_FETCH_H

#include "data/objects.h"

/** How much a rank holds beside the objects themselves while they travel. */
typedef struct dkm_fetch_bounds {
    dkm_idx objects; /**< indices asked of a rank at once */
    dkm_idx bytes;   /**< sent at once; three buffers have this size */
} dkm_fetch_bounds;

/** dkm_data_fetch() under other bounds. Collective; the bounds are the same on every rank. */
DKM_NODISCARD dkm_status dkm_data_fetch_bounded(const dkm_data *data, dkm_idx count,
                                                const dkm_idx *indices, dkm_fetch_bounds bounds,
                                                dkm_objs *got);

/** dkm_data_fetch() from data that are not in slabs: rank r holds objects [starts[r], starts[r +
 * 1]). Collective. */
DKM_NODISCARD dkm_status dkm_data_fetch_spread(const dkm_data *data, const dkm_idx *starts,
                                               dkm_idx count, const dkm_idx *indices,
                                               dkm_objs *got);

#endif
