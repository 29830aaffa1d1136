/** @file archive_plan.h  Which bytes of an archive's data each rank writes, and where. */
#ifndef DKMAP_IO_ARCHIVE_ARCHIVE_PLAN_H
#define DKMAP_IO_ARCHIVE_ARCHIVE_PLAN_H

#include "io/archive/archive.h"

#define DKM_PLAN_ARRAYS 3 /**< a part needs at most */

typedef enum dkm_write_plan_kind {
    DKM_PLAN_REAL,
    DKM_PLAN_INDEX,
    DKM_PLAN_BYTE,
    DKM_PLAN_SINGLE
} dkm_write_plan_kind;

/** One array of a data part, and the slab of it that this rank writes. */
typedef struct dkm_write_plan_array {
    const char *name; /**< NULL when the part needs fewer arrays */
    dkm_write_plan_kind kind;
    int rank;             /**< 1 or 2 dimensions */
    dkm_idx dims[2];      /**< over all ranks */
    dkm_idx first, count; /**< of the slab, in numbers */
    const void *slab;
} dkm_write_plan_array;

typedef struct dkm_write_plan {
    const dkm_archive *archive;
    dkm_ctx *ctx;
    dkm_idx *items;               /**< of each part: in the lists or bytes of all ranks */
    dkm_idx *before;              /**< of each part: in those of lower ranks */
    dkm_idx **start;              /**< of each part: this rank's start[], counted over all ranks */
    dkm_write_plan_array *arrays; /**< DKM_PLAN_ARRAYS a part */
    int64_t *offsets;             /**< of each array in the file: the writer's to fill */
} dkm_write_plan;

/** Bytes of one number. Local. */
size_t dkm_write_plan_size(dkm_write_plan_kind kind);

/** Plan the writing of @p archive, which is borrowed. Collective; dkm_write_plan_clear() frees what
 *  @p plan holds, also after a failure. */
DKM_NODISCARD dkm_status dkm_write_plan_make(dkm_write_plan *plan, const dkm_archive *archive);

void dkm_write_plan_clear(dkm_write_plan *plan);

#endif
