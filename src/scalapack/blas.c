#include "scalapack/blas.h"

#include <assert.h>
#include <limits.h>

#include "scalapack/fortran.h"

#if defined(__GNUC__)
__attribute__((weak)) void openblas_set_num_threads(int threads);
#endif

static int to_int(dkm_idx value)
{
    assert(value >= 0 && value <= INT_MAX);
    return (int)value;
}

void dkm_blas_gemm(dkm_precision precision, char ta, char tb, dkm_idx m, dkm_idx n, dkm_idx k,
                   double alpha, const void *A, dkm_idx lda, const void *B, dkm_idx ldb,
                   double beta, void *C, dkm_idx ldc)
{
    const int m_ = to_int(m), n_ = to_int(n), k_ = to_int(k);
    const int lda_ = to_int(lda), ldb_ = to_int(ldb), ldc_ = to_int(ldc);
    const float salpha = (float)alpha, sbeta = (float)beta;

    if (m == 0 || n == 0)
        return;
    if (precision == DKM_F64)
        dgemm_(&ta, &tb, &m_, &n_, &k_, &alpha, A, &lda_, B, &ldb_, &beta, C, &ldc_);
    else
        sgemm_(&ta, &tb, &m_, &n_, &k_, &salpha, A, &lda_, B, &ldb_, &sbeta, C, &ldc_);
}

void dkm_blas_syrk(dkm_precision precision, char trans, dkm_idx n, dkm_idx k, double alpha,
                   const void *A, dkm_idx lda, double beta, void *C, dkm_idx ldc)
{
    const int n_ = to_int(n), k_ = to_int(k), lda_ = to_int(lda), ldc_ = to_int(ldc);
    const float salpha = (float)alpha, sbeta = (float)beta;

    if (n == 0)
        return;
    if (precision == DKM_F64)
        dsyrk_("L", &trans, &n_, &k_, &alpha, A, &lda_, &beta, C, &ldc_);
    else
        ssyrk_("L", &trans, &n_, &k_, &salpha, A, &lda_, &sbeta, C, &ldc_);
}

void dkm_blas_use_threads(const dkm_ctx *ctx)
{
#if defined(__GNUC__)
    if (openblas_set_num_threads)
        openblas_set_num_threads(dkm_ctx_threads(ctx));
#else
    (void)ctx;
#endif
}
