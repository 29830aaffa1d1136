/* Tall-skinny GEMM with a single precision tile and double precision vectors: W += op(T) V.
 *
 * Values of T become double ones a block at a time, in the first cache, where the double precision
 * kernel takes them (gemm_tallskinny.c); all sums are double: storage in one precision, accumulation
 * in the other (as in mixed-precision BLAS; Li et al. 2002, XBLAS, ACM TOMS 28(2):152-205,
 * doi:10.1145/567806.567808).
 *
 * Cost: 2 na nb nrhs_pad flops, T read once; local, 32 KiB of stack. Compiled for each instruction set
 * (core/simd.h). */
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"

#include "core/minmax.h"
#include "linalg/kernels/gemm_tallskinny.h"

#define LANES 8  /* sums of an inner product */
#define BLOCK 64 /* rows and columns of T at a time */

static void widen_block(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld, double *restrict to)
{
    for (dkm_idx j = 0; j < nb; j++, T += ld, to += BLOCK)
        for (dkm_idx i = 0; i < na; i++)
            to[i] = (double)T[i];
}

/* Blocks as T lies in memory. */
static void gemm(int trans, dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                 const double *V, double *W)
{
    const dkm_ts_kernels *kernels = &DKM_SIMD(dkm_ts_kernels);
    _Alignas(64) double block[BLOCK * BLOCK];

    for (dkm_idx j = 0; j < nb; j += BLOCK)
        for (dkm_idx i = 0; i < na; i += BLOCK) {
            dkm_ts_tile tile = {DKM_F64, dkm_idx_min(BLOCK, na - i), dkm_idx_min(BLOCK, nb - j),
                                BLOCK, block};
            widen_block(tile.na, tile.nb, T + i + j * ld, ld, block);
            if (trans)
                kernels->gemm_t(&tile, nrhs_pad, V + i * nrhs_pad, W + j * nrhs_pad);
            else
                kernels->gemm_n(&tile, nrhs_pad, V + j * nrhs_pad, W + i * nrhs_pad);
        }
}

static void gemm_n(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                   const double *V, double *W)
{
    gemm(0, nrhs_pad, na, nb, T, ld, V, W);
}

static void gemm_t(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                   const double *V, double *W)
{
    gemm(1, nrhs_pad, na, nb, T, ld, V, W);
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
