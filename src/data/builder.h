/** @file builder.h  Objects of varying length, made one after the other. All local. */
#ifndef DKMAP_DATA_BUILDER_H
#define DKMAP_DATA_BUILDER_H

#include "data/objects.h"

typedef struct dkm_builder {
    dkm_objs *objs;
    dkm_idx made;           /**< objects that are complete */
    dkm_idx used, capacity; /**< of the lists or bytes */
} dkm_builder;

/** Begin @p n objects of a type stored as lists or bytes. @p objs is as for dkm_objs_init(). */
DKM_NODISCARD dkm_local dkm_builder_begin(dkm_builder *g, dkm_objs *objs, dkm_ctx *ctx,
                                          dkm_type type, dkm_idx n, dkm_idx d);

/** Add to the object being made: an entry (@p val is not stored for label sets), or bytes. */
DKM_NODISCARD dkm_local dkm_builder_entry(dkm_builder *g, dkm_idx col, double val);
DKM_NODISCARD dkm_local dkm_builder_bytes(dkm_builder *g, const char *bytes, dkm_idx length);

/** The object being made is complete; the next begins. */
void dkm_builder_next(dkm_builder *g);

/** All objects are complete: free the capacity that is left. */
DKM_NODISCARD dkm_local dkm_builder_end(dkm_builder *g);

#endif
