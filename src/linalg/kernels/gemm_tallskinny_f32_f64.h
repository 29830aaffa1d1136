/** @file gemm_tallskinny_f32_f64.h  Products of a tile in single precision with a few columns in
 * double.
 *
 *  Values are converted where they are used. Tall matrices are stored transposed, 8 or 16 numbers
 * per object.
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_TALLSKINNY_F32_F64_H
#define DKMAP_LINALG_KERNELS_GEMM_TALLSKINNY_F32_F64_H

#include "core/simd.h"

#define DKM_TS_MIXED_LEAST 3 /**< columns for which padding pays */

/** Numbers an object that the products want for p columns, the rest being zeros; 0 where they would
 *  not pay. Local. */
static inline dkm_idx dkm_ts_mixed_nrhs_pad(dkm_idx p)
{
    return p < DKM_TS_MIXED_LEAST || p > 16 ? 0 : p <= 8 ? 8 : 16;
}

typedef void dkm_ts_mixed_product(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T,
                                  dkm_idx ld, const double *V, double *W);

/** The products below for one instruction set. */
typedef struct dkm_ts_mixed_kernels {
    dkm_ts_mixed_product *gemm_n, *gemm_t;
    void (*gemv_n)(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld, const double *v, double *w);
    void (*gemv_t)(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld, const double *v, double *w);
} dkm_ts_mixed_kernels;

DKM_SIMD_DECLARE(dkm_ts_mixed_kernels, dkm_ts_mixed_kernels);

/** W += T V for an na x nb tile T, column-major: V has nb objects and W na. Local.
 *  @param[in] nrhs_pad  what dkm_ts_mixed_nrhs_pad() says */
static inline void dkm_ts_mixed_gemm_n(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T,
                                       dkm_idx ld, const double *V, double *W)
{
    DKM_SIMD_SELECT(dkm_ts_mixed_kernels)->gemm_n(nrhs_pad, na, nb, T, ld, V, W);
}

/** W += T'V: V has na objects and W nb. Local. */
static inline void dkm_ts_mixed_gemm_t(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T,
                                       dkm_idx ld, const double *V, double *W)
{
    DKM_SIMD_SELECT(dkm_ts_mixed_kernels)->gemm_t(nrhs_pad, na, nb, T, ld, V, W);
}

/** w += T v and w += T'v for one column. Local. */
static inline void dkm_ts_mixed_gemv_n(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                                       const double *v, double *w)
{
    DKM_SIMD_SELECT(dkm_ts_mixed_kernels)->gemv_n(na, nb, T, ld, v, w);
}

static inline void dkm_ts_mixed_gemv_t(dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                                       const double *v, double *w)
{
    DKM_SIMD_SELECT(dkm_ts_mixed_kernels)->gemv_t(na, nb, T, ld, v, w);
}

#endif
