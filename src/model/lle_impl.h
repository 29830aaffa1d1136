/** @file lle_impl.h  The model of a locally linear embedding, between its fit and its use. */
#ifndef DKMAP_LLE_IMPL_H
#define DKMAP_LLE_IMPL_H

#include <dkmap/lle.h>

#include "model/base.h"
#include "model/weights.h"

typedef struct dkm_lle {
    dkm_base base; /**< of a grid and a block size, and the points */
    dkm_anchors anchors;
    dkm_idx k, p;
    double ridge;
    dkm_data *U; /**< m x p: W^+ V */
} dkm_lle;

/** A model of points, which are taken over (nulled); no coordinates yet. Collective. */
DKM_NODISCARD
dkm_status dkm_lle_open(dkm_ctx *ctx, dkm_data **X, const dkm_layout *layout, dkm_lle **state);
/** Free it. Collective. */
void dkm_lle_close(void *state);

/** Whether so many neighbours and coordinates can be. Local. */
DKM_NODISCARD
dkm_local dkm_lle_check(dkm_ctx *ctx, const dkm_data *X, dkm_idx neighbours, dkm_idx components);

#endif
