/** @file blas.h  This rank's own dense products: column-major BLAS in either precision. */
#ifndef DKMAP_LINALG_BACKEND_BLAS_H
#define DKMAP_LINALG_BACKEND_BLAS_H

#include <dkmap/context.h>

/** C = alpha op(A) op(B) + beta C, C of m x n. Local. Sizes past 32 bits are a bug of the caller.
 */
void dkm_blas_gemm(dkm_precision precision, char ta, char tb, dkm_idx m, dkm_idx n, dkm_idx k,
                   double alpha, const void *A, dkm_idx lda, const void *B, dkm_idx ldb,
                   double beta, void *C, dkm_idx ldc);

/** C = alpha A A' + beta C ('N', A n x k) or alpha A' A + beta C ('T', A k x n), lower triangle. */
void dkm_blas_syrk(dkm_precision precision, char trans, dkm_idx n, dkm_idx k, double alpha,
                   const void *A, dkm_idx lda, double beta, void *C, dkm_idx ldc);

/** B = B op(L)^-1 with L the lower triangle of an n x n matrix, B of m x n, op by 'N' or 'T'. */
void dkm_blas_trsm_right(dkm_precision precision, char trans, dkm_idx m, dkm_idx n, const void *L,
                         dkm_idx ldl, void *B, dkm_idx ldb);

/** A = L L' in place, lower triangle of order n.
 *  @return 0, or the order of the first leading minor that is not positive definite */
int dkm_blas_potrf(dkm_precision precision, dkm_idx n, void *A, dkm_idx lda);

/** A = A^-1 from the factor that dkm_blas_potrf() left, lower triangle of order n, double. */
void dkm_blas_potri(dkm_idx n, double *A, dkm_idx lda);

/** The upper triangle of a double matrix of order n from the lower one. */
void dkm_blas_symmetrize(dkm_idx n, double *A, dkm_idx lda);

/** Give the BLAS as many threads as the context says, one while it is set serial. Local. */
void dkm_blas_use_threads(const dkm_ctx *ctx);

/** Let the BLAS library use one thread, until dkm_blas_use_threads(): several threads of the rank
 *  call it. Local. */
void dkm_blas_use_one_thread(void);

/** Set the BLAS serial for a rank (@p serial 1), or give it its threads again (0).
 *
 *  Threads that have done their part of a product wait actively for the next: those of OpenMP for
 *  milliseconds, those of OpenBLAS for tens of them. A loop that wakes both in turn runs at half the
 *  speed of either, so one that has threads of its own sets the BLAS serial from before its first
 *  turn to after its last. Local.
 *
 *  @return what was set before, to be set again afterwards */
int dkm_blas_set_serial(dkm_ctx *ctx, int serial);

/** Whether the library is OpenBLAS, which takes a buffer for each thread. Local. */
int dkm_blas_takes_buffers(void);

/** The core whose kernels OpenBLAS uses, such as "SkylakeX"; "" with another library. Local. */
const char *dkm_blas_core(void);

#endif
