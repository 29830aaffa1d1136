/** @file lle_impl.h  The model of a locally linear embedding, between its fit and its use. */
#ifndef DKMAP_MODELS_LLE_LLE_IMPL_H
#define DKMAP_MODELS_LLE_LLE_IMPL_H

#include <dkmap/lle.h>

#include "data/objects.h"
#include "matrix/multivec.h"
#include "models/common/fitted_kernel.h"
#include "models/lle/barycentric_weights.h"

typedef struct dkm_lle {
    dkm_fitted_kernel fitted; /**< of a grid and a block size, and the points */
    dkm_anchors anchors;
    dkm_idx k, p;
    double ridge;
    dkm_data *U; /**< m x p: W^+ V */
} dkm_lle;

/** A model of points, which are taken over (nulled); no coordinates yet. Collective. */
DKM_NODISCARD dkm_status dkm_lle_open(dkm_ctx *ctx, const dkm_data *X, const dkm_layout *layout,
                                      dkm_lle **state);
/** Free it. Collective. */
void dkm_lle_close(void *state);

/** U = W^+ V, and how well that was found. Collective.
 *
 *  @param[in] W  all rows on every rank: the indices of k neighbors, then k weights
 *  @param[in] V  the embedding of the points, this rank's slab */
DKM_NODISCARD dkm_status dkm_lle_cgls(dkm_lle *s, const dkm_objs *W, const dkm_multivec *V,
                                      dkm_lle_info *info);

/** Whether so many neighbors and coordinates can be. Local. */
DKM_NODISCARD dkm_local dkm_lle_check(dkm_ctx *ctx, const dkm_data *X, dkm_idx neighbors,
                                      dkm_idx components);

#endif
