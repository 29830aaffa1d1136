/** @file parcel.h  Objects as a stream of bytes, whatever they are, that may be cut anywhere.
 *
 *  An object is up to three stretches of memory: numbers, or columns and values, or bytes; then
 *  extras. A stream is the objects of a list one after the other, each as its stretches in order.
 */
#ifndef DKMAP_PARCEL_H
#define DKMAP_PARCEL_H

#include "data/objects.h"

/** A place in a stream: an object of the list, one of its stretches, bytes of that stretch done. */
typedef struct dkm_parcel_cursor {
    dkm_idx k, done;
    int part;
} dkm_parcel_cursor;

/** Bytes of object @p i in a stream. Local. */
dkm_idx dkm_parcel_bytes(const dkm_objs *objs, dkm_idx i);

/** Move the next @p n bytes of the stream of the objects at @p places into a buffer. Local. */
void dkm_parcel_pack(const dkm_objs *objs, const dkm_idx *places, dkm_parcel_cursor *at, dkm_idx n,
                     char *buffer);
/** The same out of a buffer, into objects that have their lengths already. Local. */
void dkm_parcel_unpack(dkm_objs *objs, const dkm_idx *places, dkm_parcel_cursor *at, dkm_idx n,
                       const char *buffer);

/** Object @p j of @p to, of the same length, becomes object @p i of @p from. Local. */
void dkm_parcel_copy(const dkm_objs *from, dkm_idx i, dkm_objs *to, dkm_idx j);

#endif
