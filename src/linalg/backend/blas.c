#include "linalg/backend/blas.h"

#include <assert.h>
#include <limits.h>

#include "core/ctx_private.h"
#include "linalg/backend/fortran.h"

#define SMALL_TRIANGLE   64 /* order that the library inverts itself */
#define SYMMETRIZE_BLOCK 64 /* of a tile while a triangle is mirrored */

/* How the libraries take their number of threads: whichever is linked has its own. */
#if defined(__GNUC__)
__attribute__((weak)) void openblas_set_num_threads(int threads);
__attribute__((weak)) void MKL_Set_Num_Threads(int threads);
__attribute__((weak)) void bli_thread_set_num_threads(int64_t threads);
#endif

static int blas_int(dkm_idx value)
{
    assert(value >= 0 && value <= INT_MAX);
    return (int)value;
}

/* c = alpha a B + beta c with rows a and c, which gemm is slow at. */
static void blas_row_gemv(dkm_precision precision, char ta, char tb, int n, int k, double alpha,
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
    const int m_ = blas_int(m), n_ = blas_int(n), k_ = blas_int(k);
    const int lda_ = blas_int(lda), ldb_ = blas_int(ldb), ldc_ = blas_int(ldc);
    const float salpha = (float)alpha, sbeta = (float)beta;

    if (m == 0 || n == 0)
        return;
    if (m == 1 && k > 0) {
        blas_row_gemv(precision, ta, tb, n_, k_, alpha, A, lda_, B, ldb_, beta, C, ldc_);
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
    const int n_ = blas_int(n), k_ = blas_int(k), lda_ = blas_int(lda), ldc_ = blas_int(ldc);
    const float salpha = (float)alpha, sbeta = (float)beta;

    if (n == 0)
        return;
    if (precision == DKM_F64)
        dsyrk_("L", &trans, &n_, &k_, &alpha, A, &lda_, &beta, C, &ldc_);
    else
        ssyrk_("L", &trans, &n_, &k_, &salpha, A, &lda_, &sbeta, C, &ldc_);
}

void dkm_blas_trsm_right(dkm_precision precision, char trans, dkm_idx m, dkm_idx n, const void *L,
                         dkm_idx ldl, void *B, dkm_idx ldb)
{
    const int m_ = blas_int(m), n_ = blas_int(n), ldl_ = blas_int(ldl), ldb_ = blas_int(ldb);
    const double one = 1;
    const float sone = 1;

    if (precision == DKM_F64)
        dtrsm_("R", "L", &trans, "N", &m_, &n_, &one, L, &ldl_, B, &ldb_);
    else
        strsm_("R", "L", &trans, "N", &m_, &n_, &sone, L, &ldl_, B, &ldb_);
}

int dkm_blas_potrf(dkm_precision precision, dkm_idx n, void *A, dkm_idx lda)
{
    const int n_ = blas_int(n), lda_ = blas_int(lda);
    int info = 0;

    if (precision == DKM_F64)
        dpotrf_("L", &n_, A, &lda_, &info);
    else
        spotrf_("L", &n_, A, &lda_, &info);
    return info;
}

/* L = L^-1 by halves, in products of triangles: the library's own has no large ones.
 *
 *     [A  ]^-1   [  A^-1            ]
 *     [B D]    = [-D^-1 B A^-1  D^-1]
 */
static void blas_trtri_lower(int n, double *A, int lda)
{
    const double one = 1, minus = -1;
    int h = n / 2, g = n - h, info = 0;
    double *B = A + h, *D = B + (size_t)h * (size_t)lda;

    if (n <= SMALL_TRIANGLE) {
        dtrtri_("L", "N", &n, A, &lda, &info);
        return;
    }
    blas_trtri_lower(h, A, lda);
    blas_trtri_lower(g, D, lda);
    dtrmm_("R", "L", "N", "N", &g, &h, &minus, A, &lda, B, &lda);
    dtrmm_("L", "L", "N", "N", &g, &h, &one, D, &lda, B, &lda);
}

void dkm_blas_potri(dkm_idx n, double *A, dkm_idx lda)
{
    const int n_ = blas_int(n), lda_ = blas_int(lda);
    int info = 0;

    blas_trtri_lower(n_, A, lda_);
    dlauum_("L", &n_, A, &lda_, &info);
}

void dkm_blas_symmetrize(dkm_idx n, double *A, dkm_idx lda)
{
    for (dkm_idx j0 = 0; j0 < n; j0 += SYMMETRIZE_BLOCK)
        for (dkm_idx i0 = j0; i0 < n; i0 += SYMMETRIZE_BLOCK)
            for (dkm_idx j = j0; j < n && j < j0 + SYMMETRIZE_BLOCK; j++)
                for (dkm_idx i = i0 > j ? i0 : j + 1; i < n && i < i0 + SYMMETRIZE_BLOCK; i++)
                    A[i * lda + j] = A[j * lda + i];
}

int dkm_blas_takes_buffers(void)
{
#if defined(__GNUC__)
    return openblas_set_num_threads != NULL;
#else
    return 0;
#endif
}

static void blas_set_threads(int threads)
{
#if defined(__GNUC__)
    if (openblas_set_num_threads)
        openblas_set_num_threads(threads);
    if (MKL_Set_Num_Threads)
        MKL_Set_Num_Threads(threads);
    if (bli_thread_set_num_threads)
        bli_thread_set_num_threads(threads);
#else
    (void)threads;
#endif
}

void dkm_blas_use_threads(const dkm_ctx *ctx)
{
    blas_set_threads(dkm_ctx_blas_serial(ctx) ? 1 : dkm_ctx_threads(ctx));
}

void dkm_blas_use_one_thread(void)
{
    blas_set_threads(1);
}

int dkm_blas_set_serial(dkm_ctx *ctx, int serial)
{
    int before = dkm_ctx_blas_serial(ctx);

    dkm_ctx_set_blas_serial(ctx, serial);
    dkm_blas_use_threads(ctx);
    return before;
}
