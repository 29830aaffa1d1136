/** @file hopfield_impl.h  What a Hopfield net holds, and how states move in it. */
#ifndef DKMAP_MODELS_HOPFIELD_HOPFIELD_IMPL_H
#define DKMAP_MODELS_HOPFIELD_HOPFIELD_IMPL_H

#include <dkmap/hopfield.h>

#include "models/common/embedding.h"

typedef struct dkm_hopfield {
    dkm_embedding e; /**< of the patterns: they are its objects */
    dkm_idx d;       /**< columns of x */
    dkm_idx steps;
    double tolerance;
    dkm_dmat *U;     /**< p x columns, orthonormal rows */
    double *mean;    /**< of the columns */
    double *rest;    /**< q = (I - P) mean, P = U'U */
    double *squares; /**< of the patterns of this rank */
} dkm_hopfield;

/** Rows (x, y) of @p cols columns; zeros for y where it is NULL. Collective. */
DKM_NODISCARD dkm_status dkm_hopfield_join(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                           dkm_idx cols, dkm_data **joined);

/** All that follows from the embedding of the patterns. Collective. */
DKM_NODISCARD dkm_status dkm_hopfield_ready(dkm_hopfield *s);

/** The rows of X, filled up with zeros, to where the net takes them. Collective.
 *  @param[out] states  new, owned by the caller, also on failure */
DKM_NODISCARD dkm_status dkm_hopfield_complete(dkm_hopfield *s, const dkm_data *X,
                                               dkm_data **states);

#endif
