/** @file random.h  Random numbers that are a function of where they are used.
 *
 *  Entry (i, j) of stream s is a hash of (seed, s, i, j): data made with them do not depend on the
 *  number of ranks, nor on the order in which entries are asked for. All local.
 */
#ifndef DKMAP_RANDOM_H
#define DKMAP_RANDOM_H

#include <dkmap/types.h>

DKM_API_BEGIN

/** 64 random bits. */
uint64_t dkm_random_bits(uint64_t seed, uint64_t stream, uint64_t i, uint64_t j);

/** Uniform in [0, 1). */
double dkm_random_uniform(uint64_t seed, uint64_t stream, uint64_t i, uint64_t j);

/** Normal, mean 0, variance 1. */
double dkm_random_normal(uint64_t seed, uint64_t stream, uint64_t i, uint64_t j);

/** An integer in [0, n), n > 0, without bias. */
dkm_idx dkm_random_below(uint64_t seed, uint64_t stream, uint64_t i, dkm_idx n);

DKM_API_END

#endif
