/** @file identity.h  Numbers by which equal objects are known. */
#ifndef DKMAP_IDENTITY_H
#define DKMAP_IDENTITY_H

#include "data/objects.h"

/** 64 bits of a stretch of bytes. Local. */
uint64_t dkm_hash_bytes(const void *bytes, dkm_idx length);

/** Mix @p x into the bits of @p h. Local. */
uint64_t dkm_hash_mix(uint64_t h, uint64_t x);

/** A whole number below 2^53 that equal objects share, and others but by a chance of 2^-53 a pair:
 *  rows with the same numbers whether dense or sparse, lists with the same entries, the same bytes.
 *  Local. */
double dkm_identity(const dkm_objs *objs, dkm_idx i);

#endif
