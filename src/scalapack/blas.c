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

/* c = alpha a B + beta c with rows a and c, which gemm is slow at. */
static void row_times_matrix(dkm_precision precision, char ta, char tb, int n, int k, double alpha,
                             const void *a, int lda, const void *B, int ldb, double beta, void *c,
                             int ldc)
{
    const int rows = tb == 'N' ? k : n, cols = tb == 'N' ? n : k, step = ta == 'N' ? lda : 1;
    const char flip = tb == 'N' ? 'T' : 'N';
    const float salpha = (float)alpha, sbeta = (float)beta;

    if (precision == DKM_F64)
        dgemv_(&flip, &rows, &cols, &alpha, B, &ldb, a, &step, &beta, c, &ldc);
    else
        sgemv_(&flip, &rows, &cols, &salpha, B, &ldb, a, &step, &sbeta, c, &ldc);
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
    if (m == 1 && k > 0) {
        row_times_matrix(precision, ta, tb, n_, k_, alpha, A, lda_, B, ldb_, beta, C, ldc_);
        return;
    }
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

void dkm_blas_lower_solve_right(dkm_precision precision, char trans, dkm_idx m, dkm_idx n,
                                const void *L, dkm_idx ldl, void *B, dkm_idx ldb)
{
    const int m_ = to_int(m), n_ = to_int(n), ldl_ = to_int(ldl), ldb_ = to_int(ldb);
    const double one = 1;
    const float sone = 1;

    if (precision == DKM_F64)
        dtrsm_("R", "L", &trans, "N", &m_, &n_, &one, L, &ldl_, B, &ldb_);
    else
        strsm_("R", "L", &trans, "N", &m_, &n_, &sone, L, &ldl_, B, &ldb_);
}

int dkm_blas_potrf(dkm_precision precision, dkm_idx n, void *A, dkm_idx lda)
{
    const int n_ = to_int(n), lda_ = to_int(lda);
    int info = 0;

    if (precision == DKM_F64)
        dpotrf_("L", &n_, A, &lda_, &info);
    else
        spotrf_("L", &n_, A, &lda_, &info);
    return info;
}

int dkm_blas_potri(dkm_precision precision, dkm_idx n, void *A, dkm_idx lda)
{
    const int n_ = to_int(n), lda_ = to_int(lda);
    int info = 0;

    if (precision == DKM_F64)
        dpotri_("L", &n_, A, &lda_, &info);
    else
        spotri_("L", &n_, A, &lda_, &info);
    return info;
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
