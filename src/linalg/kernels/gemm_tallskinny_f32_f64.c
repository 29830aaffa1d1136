/* Tall-skinny GEMM with a single precision tile and double precision vectors: W += op(T) V.
 *
 * Values of T are converted when they are used, and all sums are double: storage in one precision,
 * accumulation in the other (as in mixed-precision BLAS; Li et al. 2002, XBLAS, ACM TOMS
 * 28(2):152-205, doi:10.1145/567806.567808). Four rows or columns of the tile are multiplied by 12
 * or 16 right-hand sides, whose sums stay in registers.
 *
 * Cost: 2 na nb nrhs_pad flops, T read once; local, no workspace. Compiled for each instruction set
 * (core/simd.h). */
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"

#include <math.h>

#define LANES 8 /* sums of an inner product */

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

static void gemm_n(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                   const double *V, double *W)
{
    if (nrhs_pad == 12)
        rows_12(na, nb, T, ld, V, W);
    else
        rows_16(na, nb, T, ld, V, W);
}

static void gemm_t(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                   const double *V, double *W)
{
    if (nrhs_pad == 12)
        cols_12(na, nb, T, ld, V, W);
    else
        cols_16(na, nb, T, ld, V, W);
}

static void gemv_n(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld, const double *v, double *w)
{
    for (dkm_idx j = 0; j < nb; j++) {
        const float *restrict t = T + j * ld;
        double *restrict sum = w;
        for (dkm_idx i = 0; i < na; i++)
            sum[i] += v[j] * (double)t[i];
    }
}

static double dot(dkm_idx n, const float *restrict t, const double *restrict v)
{
    double sums[LANES] = {0}, sum = 0;
    dkm_idx i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sums[l] += (double)t[i + l] * v[i + l];
    for (; i < n; i++)
        sum += (double)t[i] * v[i];
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    return sum;
}

static void gemv_t(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld, const double *v, double *w)
{
    for (dkm_idx j = 0; j < nb; j++)
        w[j] += dot(na, T + j * ld, v);
}

const dkm_ts_mixed_kernels DKM_SIMD(dkm_ts_mixed_kernels) = {gemm_n, gemm_t, gemv_n, gemv_t};
