/* Tall-skinny GEMM with a single precision tile and double precision vectors: W += op(T) V.
 *
 * Values of T are converted when they are used, and all sums are double: storage in one precision,
 * accumulation in the other (as in mixed-precision BLAS; Li et al. 2002, XBLAS, ACM TOMS
 * 28(2):152-205, doi:10.1145/567806.567808). Four rows or columns of the tile are multiplied by 12
 * or 16 right-hand sides, whose sums stay in registers.
 *
 * Cost: 2 na nb nrhs_pad flops, T read once; local, no workspace. */
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"

#include <math.h>

#define NRHS_MIN 3 /* columns for which padding pays */

#ifdef FP_FAST_FMA
#define FMA(a, b, c) fma((a), (b), (c))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define NRHS_PAD 12
#define NAME(x)  x##_12
#include "linalg/kernels/gemm_tallskinny_f32_f64.inc"
#undef NRHS_PAD
#undef NAME

#define NRHS_PAD 16
#define NAME(x)  x##_16
#include "linalg/kernels/gemm_tallskinny_f32_f64.inc"

dkm_idx dkm_ts_mixed_nrhs_pad(dkm_idx p)
{
    return p < NRHS_MIN || p > 16 ? 0 : p <= 12 ? 12 : 16;
}

void dkm_ts_mixed_gemm_n(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                         const double *V, double *W)
{
    if (nrhs_pad == 12)
        rows_12(na, nb, T, ld, V, W);
    else
        rows_16(na, nb, T, ld, V, W);
}

void dkm_ts_mixed_gemm_t(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                         const double *V, double *W)
{
    if (nrhs_pad == 12)
        cols_12(na, nb, T, ld, V, W);
    else
        cols_16(na, nb, T, ld, V, W);
}
