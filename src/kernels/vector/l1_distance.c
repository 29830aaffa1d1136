/* 1-distances of dense rows in vectors of rows. Cost of a tile: 3 na nb d operations. Local; compiled
 * for each instruction set (core/simd.h). */
#include "kernels/vector/l1_distance.h"

#include <math.h>
#include <string.h>

#define LANES DKM_L1_LANES
#define DEPTH 4

#define REAL    double
#define NAME(x) x##_f64
#define ABS(x)  fabs(x)
#include "kernels/vector/l1_distance.inc"
#undef REAL
#undef NAME
#undef ABS

#define REAL    float
#define NAME(x) x##_f32
#define ABS(x)  fabsf(x)
#include "kernels/vector/l1_distance.inc"

static void distances(dkm_idx d, const void *A, const void *B, void *turned, const dkm_tile *C)
{
    if (C->precision == DKM_F64)
        distances_f64(d, A, B, turned, C);
    else
        distances_f32(d, A, B, turned, C);
}

const dkm_l1_kernels DKM_SIMD(dkm_l1_kernels) = {distances};
