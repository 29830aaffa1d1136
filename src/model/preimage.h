/** @file preimage.h  Pre-images of coordinates of an embedding. */
#ifndef DKMAP_PREIMAGE_IMPL_H
#define DKMAP_PREIMAGE_IMPL_H

#include <dkmap/preimage.h>

#include "model/embedding.h"
#include "model/nearest.h"

typedef struct dkm_preimage {
    dkm_embedding *e;
    dkm_preimage_settings settings; /**< with the method decided */
    dkm_candidates candidates;
    dkm_dmat *U;  /**< linear: p x d, W'Y */
    double *mean; /**< linear: d means of the training objects */
    int ready;
} dkm_preimage;

/** Choose a method; takes the candidates over, also on failure. Collective.
 *
 *  Nothing is computed before the first pre-image. dkm_preimage_close() frees, also after a
 * failure.
 *
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when the method does not suit the kernel (those that do are
 *          named); DKM_ERR_ARG for candidates of another type or width, or fewer than @p top
 */
DKM_NODISCARD
dkm_status dkm_preimage_open(dkm_preimage *pre, dkm_embedding *e, dkm_preimage_settings *settings);
void dkm_preimage_close(dkm_preimage *pre);

/** Type and columns of what comes out. Local. */
dkm_type dkm_preimage_type(const dkm_preimage *pre);
dkm_idx dkm_preimage_cols(const dkm_preimage *pre);

/** Objects for rows of coordinates, which are taken over. Collective. */
DKM_NODISCARD
dkm_status dkm_preimage_solve(dkm_preimage *pre, dkm_data **Z, dkm_data **Y);

#endif
