/** @file minmax.h  The smaller and the larger of two indices, and a count within bounds. */
#ifndef DKMAP_CORE_MINMAX_H
#define DKMAP_CORE_MINMAX_H

#include <dkmap/types.h>

static inline dkm_idx dkm_idx_min(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static inline dkm_idx dkm_idx_max(dkm_idx a, dkm_idx b)
{
    return a > b ? a : b;
}

/** The integer part of @p x, at least 1 and at most @p most: how many there is space for. */
static inline dkm_idx dkm_idx_clamp(double x, dkm_idx most)
{
    return x < 1 ? 1 : x > (double)most ? most : (dkm_idx)x;
}

#endif
