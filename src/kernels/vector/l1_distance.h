/** @file l1_distance.h  1-distances of dense rows. */
#ifndef DKMAP_KERNELS_VECTOR_L1_DISTANCE_H
#define DKMAP_KERNELS_VECTOR_L1_DISTANCE_H

#include "kernels/evaluation/tile_maps.h"

enum { DKM_L1_LANES = 32 }; /**< rows of A at a time */

/** The distances below for one instruction set. */
typedef struct dkm_l1_kernels {
    void (*distances)(dkm_idx d, const void *A, const void *B, void *turned, const dkm_tile *C);
} dkm_l1_kernels;

DKM_SIMD_DECLARE(dkm_l1_kernels, dkm_l1_kernels);

/** C(i, j) = ||a_i - b_j||_1 for rows of @p d numbers in the precision of C. Local.
 *  @param turned  DKM_L1_LANES d numbers of scratch in that precision */
static inline void dkm_l1_distances(dkm_idx d, const void *A, const void *B, void *turned,
                                    const dkm_tile *C)
{
    DKM_SIMD_SELECT(dkm_l1_kernels)->distances(d, A, B, turned, C);
}

#endif
