/** @file linear_map.h  Pre-images under the linear kernel: y = mean + z U, whose rows are the
 *  principal directions. */
#ifndef DKMAP_PREIMAGE_LINEAR_MAP_H
#define DKMAP_PREIMAGE_LINEAR_MAP_H

#include <dkmap/data.h>
#include <dkmap/dmat.h>

typedef struct dkm_linear_map {
    dkm_dmat *U;  /**< p x d */
    double *mean; /**< d, on every rank */
} dkm_linear_map;

/** Free both. Local. */
void dkm_linear_map_clear(dkm_linear_map *map);

/** Objects for rows of coordinates along the leading components, as many as @p Z has columns, at
 *  most p. Collective.
 *  @param[out] Y  new, owned by the caller; dense; NULL on failure */
DKM_NODISCARD dkm_status dkm_linear_map_apply(const dkm_linear_map *map, const dkm_data *Z,
                                              dkm_data **Y);

#endif
