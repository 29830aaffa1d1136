/* OpenBLAS on a processor that it does not know: which kernels are in use, and that products stay the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/simd.h"
#include "linalg/backend/blas.h"
#include "support/check.h"

#include <dkmap/blas_memory.h>

enum { N = 96 };

#define CHOICE "OPENBLAS_CORETYPE"

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((weak)) void gotoblas_dynamic_init(void);
__attribute__((weak)) void gotoblas_dynamic_quit(void);

/* What OpenBLAS does at load time with so old a core. */
static int fall_back(const char *core)
{
    if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || !*dkm_blas_core())
        return 0;
    setenv(CHOICE, core, 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv(CHOICE);
    return strcmp(dkm_blas_core(), core) == 0;
}
#else
static int fall_back(const char *core)
{
    (void)core;
    return 0;
}
#endif

static double entry(int i, int j)
{
    return sin(1.0 + i * 0.37 + j * 1.91);
}

/* The largest error of a product against sums in extended precision. */
static double product_error(void)
{
    static double A[N * N], C[N * N];
    double worst = 0;

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            A[i + j * N] = entry(i, j);
    dkm_blas_gemm(DKM_F64, 'N', 'T', N, N, N, 1.0, A, N, A, N, 0.0, C, N);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            long double sum = 0;
            for (int k = 0; k < N; k++)
                sum += (long double)A[i + k * N] * A[j + k * N];
            worst = fmax(worst, fabs(C[i + j * N] - (double)sum));
        }
    return worst;
}

static const char *expected_core(void)
{
    return dkm_simd_current() == DKM_SIMD_AVX512 ? "SkylakeX" : "Haswell";
}

static void an_old_core_gives_way_to_the_instructions_at_hand(dkm_ctx *ctx)
{
    if (!fall_back("Prescott"))
        return;
    CHECK_OK(ctx, dkm_blas_reserve(ctx));
    if (dkm_simd_current() >= DKM_SIMD_AVX2)
        CHECK(strcmp(dkm_blas_core(), expected_core()) == 0);
    else
        CHECK(strcmp(dkm_blas_core(), "Prescott") == 0);
    CHECK(!getenv(CHOICE));
    CHECK(product_error() < N * 2.3e-16 * N);
    CHECK(!dkm_blas_choose_core());
}

static void the_variable_of_openblas_has_the_last_word(dkm_ctx *ctx)
{
    if (!fall_back("Nehalem"))
        return;
    setenv(CHOICE, "Nehalem", 1);
    CHECK_OK(ctx, dkm_blas_reserve(ctx));
    CHECK(strcmp(dkm_blas_core(), "Nehalem") == 0);
    CHECK(product_error() < N * 2.3e-16 * N);
    unsetenv(CHOICE);
}

static void vector_kernels_without_avx2_leave_it_alone(dkm_ctx *ctx)
{
    dkm_simd_level level = dkm_simd_current();

    if (!fall_back("Prescott"))
        return;
    dkm_simd_use(DKM_SIMD_BASELINE);
    CHECK_OK(ctx, dkm_blas_reserve(ctx));
    CHECK(strcmp(dkm_blas_core(), "Prescott") == 0);
    dkm_simd_use(level);
}

static const check_case cases[] = {
    CASE(an_old_core_gives_way_to_the_instructions_at_hand),
    CASE(the_variable_of_openblas_has_the_last_word),
    CASE(vector_kernels_without_avx2_leave_it_alone),
};

CHECK_MAIN(cases)
