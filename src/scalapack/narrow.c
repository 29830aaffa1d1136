#include "scalapack/narrow.h"

#include <math.h>

#ifdef FP_FAST_FMA
#define FMA(a, b, c) fma((a), (b), (c))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define REAL    double
#define NAME(x) x##_f64
#include "scalapack/narrow.inc"
#undef FMA
#undef REAL
#undef NAME

#ifdef FP_FAST_FMAF
#define FMA(a, b, c) fmaf((a), (b), (c))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define REAL    float
#define NAME(x) x##_f32
#include "scalapack/narrow.inc"

void dkm_narrow_rows(dkm_precision precision, dkm_idx na, dkm_idx nb, const void *T, dkm_idx ld,
                     const void *V, void *W)
{
    if (precision == DKM_F64)
        rows_f64(na, nb, T, ld, V, W);
    else
        rows_f32(na, nb, T, ld, V, W);
}

void dkm_narrow_cols(dkm_precision precision, dkm_idx na, dkm_idx nb, const void *T, dkm_idx ld,
                     const void *V, void *W)
{
    if (precision == DKM_F64)
        cols_f64(na, nb, T, ld, V, W);
    else
        cols_f32(na, nb, T, ld, V, W);
}
