/** @file pivot_space.h  Where objects lie as seen from a few training objects: coordinates in the span of their
 *  images, and the distance to it. */
#ifndef DKMAP_PREIMAGE_SEARCH_PIVOT_SPACE_H
#define DKMAP_PREIMAGE_SEARCH_PIVOT_SPACE_H

#include "models/common/embedding.h"

/** Pivots y_0, ..., and o = phi(y_0), the origin. The same on every rank. */
typedef struct dkm_pivot_space {
    dkm_ctx *ctx, *own;       /**< of all ranks, and of this rank alone */
    dkm_embedding *e;         /**< borrowed */
    dkm_fitted_kernel pivots; /**< on `own` */
    dkm_idx count;            /**< of pivots */
    dkm_idx s;                /**< directions of their span, as seen from o */
    dkm_idx *pivot; /**< the pivot that adds each direction, in the order of what they add */
    double *K;      /**< count x count, of the pivots */
    double *F;      /**< count x count: coordinates of the pivots, a row each */
    double *G; /**< s x s, lower triangle, column-major: G G' has the inner products of places */
    double largest; /**< k(y, y) of the pivots */
    double eps;     /**< how far rounding may go, see pivot_space.c */
    dkm_objs
        embedded; /**< of each pivot its coordinates in the embedding and its norm: p + 1 numbers */
} dkm_pivot_space;

/** Begin with a context for this rank alone. Collective; dkm_pivot_space_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_pivot_space_begin(dkm_pivot_space *p, dkm_embedding *e);
/** Take pivots, given by their places among the training objects of the embedding, instead of those before.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_pivot_space_take(dkm_pivot_space *p, dkm_idx count,
                                              const dkm_idx *rows);
void dkm_pivot_space_close(dkm_pivot_space *p);

/** What this rank found alone on the context of its own, for all. Collective. */
DKM_NODISCARD dkm_status dkm_pivot_space_agree(const dkm_pivot_space *p, dkm_status status);

/** Coordinates q of the point that a row of coordinates of the embedding stands for, its distance e to the span,
 *  and ||f - o||^2: s + 2 numbers. Local. */
void dkm_pivot_space_place_point(const dkm_pivot_space *p, const double *z, double *row);

/** Coordinates z and distance h of n objects, rows of s + 1 numbers, and their ||phi(c) - o||^2. On this rank
 *  alone.
 *  @param[in] objects  on the context of this rank alone
 *  @param     work     n s numbers */
DKM_NODISCARD dkm_status dkm_pivot_space_place(dkm_pivot_space *p, const dkm_data *objects,
                                               double *work, double *Z, double *norms);

#endif
