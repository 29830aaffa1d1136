/** @file minmax.h  The smaller and the larger of two indices. */
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

#endif
