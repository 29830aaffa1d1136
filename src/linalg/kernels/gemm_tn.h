/** @file gemm_tn.h  C = A'B where the columns of A and B are rows of data: inner products of rows.
 *
 *  What dgemm and sgemm ('T', 'N') compute, for the tiles of kernel matrices. Every element is one sum
 *  in the order of the columns of the data, whatever tile it is in, so that it is the same for (i, j)
 *  and (j, i) and does not depend on how a matrix is cut into tiles.
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_TN_H
#define DKMAP_LINALG_KERNELS_GEMM_TN_H

#include "core/simd.h"

/** Rows of data: @p n of them, each @p ld numbers after the one before. */
typedef struct dkm_tn_rows {
    dkm_idx n, ld;
    const void *rows;
} dkm_tn_rows;

/** C(i, j) = <a_i, b_j> for rows of @p d numbers. */
typedef struct dkm_tn_product {
    dkm_precision precision;
    dkm_idx d;
    dkm_tn_rows A, B;
    void *C; /**< A.n x B.n, column-major */
    dkm_idx ldc;
} dkm_tn_product;

/** The product for one instruction set. */
typedef struct dkm_tn_kernels {
    void (*gemm)(const dkm_tn_product *p, void *work);
} dkm_tn_kernels;

DKM_SIMD_DECLARE(dkm_tn_kernels, dkm_tn_kernels);

#define DKM_TN_WORKSPACE ((dkm_idx)400 << 10) /**< bytes that dkm_gemm_tn() takes */
#define DKM_TN_LEAST     16                   /**< rows on both sides from which on it gains */

/** Whether it is faster on this machine than the BLAS. Local. */
static inline int dkm_gemm_tn_available(void)
{
    return dkm_simd_current() >= DKM_SIMD_AVX512;
}

/** Compute a product. Local.
 *  @param work  DKM_TN_WORKSPACE bytes, aligned to 64 */
static inline void dkm_gemm_tn(const dkm_tn_product *p, void *work)
{
    DKM_SIMD_SELECT(dkm_tn_kernels)->gemm(p, work);
}

#endif
