#include "scalapack/narrow_mixed.h"

#include <math.h>

#define FEWEST 3 /* columns for which padding pays */

#ifdef FP_FAST_FMA
#define FMA(a, b, c) fma((a), (b), (c))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define LANES   12
#define NAME(x) x##_12
#include "scalapack/narrow_mixed.inc"
#undef LANES
#undef NAME

#define LANES   16
#define NAME(x) x##_16
#include "scalapack/narrow_mixed.inc"

dkm_idx dkm_narrow_mixed_lanes(dkm_idx p)
{
    return p < FEWEST || p > 16 ? 0 : p <= 12 ? 12 : 16;
}

void dkm_narrow_mixed_rows(dkm_idx lanes, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                           const double *V, double *W)
{
    if (lanes == 12)
        rows_12(na, nb, T, ld, V, W);
    else
        rows_16(na, nb, T, ld, V, W);
}

void dkm_narrow_mixed_cols(dkm_idx lanes, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                           const double *V, double *W)
{
    if (lanes == 12)
        cols_12(na, nb, T, ld, V, W);
    else
        cols_16(na, nb, T, ld, V, W);
}
