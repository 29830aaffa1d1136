/** @file object_hash.h  Numbers by which equal objects are known. */
#ifndef DKMAP_KERNELS_EVALUATION_OBJECT_HASH_H
#define DKMAP_KERNELS_EVALUATION_OBJECT_HASH_H

#include "data/objects.h"

/** 64 bits of a block of bytes. Local. */
uint64_t dkm_hash_bytes(const void *bytes, dkm_idx length);

/** Mix @p x into the bits of @p h. Local. */
uint64_t dkm_hash_mix(uint64_t h, uint64_t x);

/** An integer below 2^53 that equal objects share, and others but by a chance of 2^-53 a pair:
 *  rows with the same numbers whether dense or sparse, lists with the same entries, the same bytes.
 *  Local. */
double dkm_object_hash(const dkm_objs *objs, dkm_idx i);

#endif
