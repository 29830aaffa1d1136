/** @file pack.h  Objects as a stream of bytes, whatever they are, that may be cut anywhere.
 *
 *  An object is up to three ranges of memory: numbers, or columns and values, or bytes; then
 *  extras. A stream is the objects of a list one after the other, each as its ranges in order.
 */
#ifndef DKMAP_DATA_PACK_H
#define DKMAP_DATA_PACK_H

#include "data/objects.h"

/** A place in a stream: an object of the list, one of its ranges, bytes of that range done. */
typedef struct dkm_pack_cursor {
    dkm_idx k, done;
    int part;
} dkm_pack_cursor;

/** Bytes of object @p i in a stream. Local. */
dkm_idx dkm_pack_bytes(const dkm_objs *objs, dkm_idx i);

/** Move the next @p n bytes of the stream of the objects at @p indices into a buffer. Local. */
void dkm_pack_to_buffer(const dkm_objs *objs, const dkm_idx *indices, dkm_pack_cursor *at,
                        dkm_idx n, char *buffer);
/** The same out of a buffer, into objects that have their lengths already. Local. */
void dkm_unpack_from_buffer(dkm_objs *objs, const dkm_idx *indices, dkm_pack_cursor *at, dkm_idx n,
                            const char *buffer);

/** Object @p j of @p to, of the same length, becomes object @p i of @p from. Local. */
void dkm_pack_copy_object(const dkm_objs *from, dkm_idx i, dkm_objs *to, dkm_idx j);

#endif
