/** @file gemm_u8.h  Exact inner products of rows of bytes, such as the pixels of images.
 *
 *  Sums of products of bytes are exact in 32 bits as long as they stay below 2^31. Processors with the
 *  dot products of AVX-512 VNNI make them at eight times the rate of dgemm, which gives the same
 *  values to the last bit.
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_U8_H
#define DKMAP_LINALG_KERNELS_GEMM_U8_H

#include <stdint.h>

#include "core/simd.h"

/** Bytes stored per row: @p d, made a multiple of four; those behind are zero. Local. */
static inline dkm_idx dkm_gemm_u8_ld(dkm_idx d)
{
    return (d + 3) / 4 * 4;
}

/** Rows of some objects. */
typedef struct dkm_u8_rows {
    dkm_idx n, width;
    const uint8_t *rows;
} dkm_u8_rows;

/** Whether this processor has the instructions, and they are allowed. Local. */
static inline int dkm_gemm_u8_available(void)
{
#if defined(__x86_64__)
    return dkm_simd_current() == DKM_SIMD_AVX512 && __builtin_cpu_supports("avx512vnni");
#else
    return 0;
#endif
}

/** Keep a row of @p d small integers as bytes. Local.
 *  @pre dkm_gemm_u8_available()
 *  @param[out] to  dkm_gemm_u8_ld(d) bytes
 *  @return whether all of them are such */
int dkm_gemm_u8_pack(dkm_idx d, const int16_t *row, uint8_t *to);

#define DKM_U8_PANEL_ROWS 512 /**< of A that are packed at a time */

/** Bytes that dkm_gemm_u8() takes for rows of this width. Local. */
static inline dkm_idx dkm_gemm_u8_workspace(dkm_idx width)
{
    return DKM_U8_PANEL_ROWS * width;
}

/** C(i, j) = <a_i, b_j>. Local.
 *
 *  @pre dkm_gemm_u8_available(), and width times the largest sizes in A and in B is below 2^31
 *  @param[out] C     column-major, of @p precision
 *  @param      work  dkm_gemm_u8_workspace() bytes
 */
void dkm_gemm_u8(const dkm_u8_rows *A, const dkm_u8_rows *B, dkm_precision precision, void *C,
                 dkm_idx ldc, void *work);

#endif
