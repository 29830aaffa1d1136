/** @file blas.h  This rank's own dense products: column-major BLAS in either precision. */
#ifndef DKMAP_BLAS_H
#define DKMAP_BLAS_H

#include <dkmap/context.h>

/** C = alpha op(A) op(B) + beta C, C of m x n. Local. Sizes past 32 bits are a bug of the caller.
 */
void dkm_blas_gemm(dkm_precision precision, char ta, char tb, dkm_idx m, dkm_idx n, dkm_idx k,
                   double alpha, const void *A, dkm_idx lda, const void *B, dkm_idx ldb,
                   double beta, void *C, dkm_idx ldc);

/** C = alpha A A' + beta C ('N', A n x k) or alpha A' A + beta C ('T', A k x n), lower triangle. */
void dkm_blas_syrk(dkm_precision precision, char trans, dkm_idx n, dkm_idx k, double alpha,
                   const void *A, dkm_idx lda, double beta, void *C, dkm_idx ldc);

/** Give the BLAS as many threads as the context says. Local. */
void dkm_blas_use_threads(const dkm_ctx *ctx);

#endif
