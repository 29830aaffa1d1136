/** @file gemm_i16.h  Exact inner products of rows of small integers, such as the bytes of images.
 *
 *  Sums of products of 16-bit integers are exact in 32 bits as long as they stay below 2^31; dgemm
 *  gives the same values to the last bit and takes three to four times as long.
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_I16_H
#define DKMAP_LINALG_KERNELS_GEMM_I16_H

#include "core/simd.h"

/** Numbers stored per row: @p d, made even. Local. */
static inline dkm_idx dkm_gemm_i16_ld(dkm_idx d)
{
    return d + d % 2;
}

/** Whether this machine has the instructions that make it worth while. Local. */
static inline int dkm_gemm_i16_available(void)
{
    return dkm_simd_current() >= DKM_SIMD_AVX2;
}

/** Rows of some objects as dkm_gemm_i16_pack() left them. */
typedef struct dkm_i16_rows {
    dkm_idx n, width;
    const int16_t *rows;
} dkm_i16_rows;

/** The functions below for one instruction set. */
typedef struct dkm_i16_kernels {
    double (*pack)(dkm_idx n, dkm_idx d, const double *rows, int16_t *to);
    void (*gemm)(const dkm_i16_rows *A, const dkm_i16_rows *B, dkm_precision precision, void *C,
                 dkm_idx ldc, int16_t *work);
} dkm_i16_kernels;

DKM_SIMD_DECLARE(dkm_i16_kernels, dkm_i16_kernels);

/** Keep @p n rows of @p d numbers as 16-bit ones.
 *
 *  Local.
 *
 *  @param[out] to    dkm_gemm_i16_ld(d) numbers per row
 *  @return the largest size among them; -1 when some are not integers, or too large for 16 bits
 */
static inline double dkm_gemm_i16_pack(dkm_idx n, dkm_idx d, const double *rows, int16_t *to)
{
    return DKM_SIMD_SELECT(dkm_i16_kernels)->pack(n, d, rows, to);
}

#define DKM_I16_PANEL_ROWS 256 /**< of A that are packed at a time */

/** Memory that dkm_gemm_i16() takes for rows of this width, in numbers. Local. */
static inline dkm_idx dkm_gemm_i16_workspace(dkm_idx width)
{
    return DKM_I16_PANEL_ROWS * width;
}

/** C(i, j) = <a_i, b_j>. Local.
 *
 *  @pre width times the largest sizes in A and in B is below 2^31
 *  @param[out] C     column-major, of @p precision
 *  @param      work  dkm_gemm_i16_workspace() numbers
 */
static inline void dkm_gemm_i16(const dkm_i16_rows *A, const dkm_i16_rows *B,
                                dkm_precision precision, void *C, dkm_idx ldc, int16_t *work)
{
    DKM_SIMD_SELECT(dkm_i16_kernels)->gemm(A, B, precision, C, ldc, work);
}

#endif
