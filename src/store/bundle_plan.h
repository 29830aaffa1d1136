/** @file bundle_plan.h  Which bytes of a bundle's data each rank writes, and where. */
#ifndef DKMAP_BUNDLE_PLAN_H
#define DKMAP_BUNDLE_PLAN_H

#include "data/bundle.h"

#define DKM_PLAN_ARRAYS 3 /**< a part needs at most */

typedef enum dkm_plan_kind {
    DKM_PLAN_REAL,
    DKM_PLAN_INDEX,
    DKM_PLAN_BYTE,
    DKM_PLAN_SINGLE
} dkm_plan_kind;

/** One array of a data part, and the slab of it that this rank writes. */
typedef struct dkm_plan_array {
    const char *name; /**< NULL when the part needs fewer arrays */
    dkm_plan_kind kind;
    int rank;             /**< 1 or 2 dimensions */
    dkm_idx dims[2];      /**< of the whole */
    dkm_idx first, count; /**< of the slab, in numbers */
    const void *slab;
} dkm_plan_array;

typedef struct dkm_plan {
    const dkm_bundle *bundle;
    dkm_ctx *ctx;
    dkm_idx *items;         /**< of each part: in the lists or bytes of all ranks */
    dkm_idx *before;        /**< of each part: in those of lower ranks */
    dkm_idx **start;        /**< of each part: this rank's start[], counted over all ranks */
    dkm_plan_array *arrays; /**< DKM_PLAN_ARRAYS a part */
    int64_t *offsets;       /**< of each array in the file: the writer's to fill */
} dkm_plan;

/** Bytes of one number. Local. */
size_t dkm_plan_size(dkm_plan_kind kind);

/** Plan the writing of @p bundle, which is borrowed. Collective; dkm_plan_clear() frees what
 *  @p plan holds, also after a failure. */
DKM_NODISCARD
dkm_status dkm_plan_make(dkm_plan *plan, const dkm_bundle *bundle);

void dkm_plan_clear(dkm_plan *plan);

#endif
