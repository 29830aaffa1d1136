/* The kernels of OpenBLAS for this processor.
 *
 * OpenBLAS is built with kernels for many processors and chooses at load time by their model numbers. A
 * processor that came out later than the library has an unknown number, and some versions then fall
 * back to the kernels of 2004 ("Prescott", SSE3), a fifth of the rate of those for AVX-512: 0.3.21 does on
 * model 207 of family 6. What the processor can do it says itself, so such a choice is made anew by
 * the name of a core with the same instructions, as OPENBLAS_CORETYPE would. A value of that variable
 * stands. The functions that choose are OpenBLAS's own entry points, not declared in its headers:
 * where they are missing nothing happens. */
#include <dkmap/blas_memory.h>

#include <stdlib.h>
#include <string.h>

#include "core/simd.h"
#include "linalg/backend/blas.h"

#if defined(__GNUC__) && defined(__x86_64__)

#define CHOICE "OPENBLAS_CORETYPE"

__attribute__((weak)) char *openblas_get_corename(void);
__attribute__((weak)) void gotoblas_dynamic_init(void);
__attribute__((weak)) void gotoblas_dynamic_quit(void);

/* Cores without AVX2, among them those that OpenBLAS falls back to. */
static int is_old_core(const char *name)
{
    static const char *const old[] = {"Prescott", "Core2", "Penryn", "Nehalem", "Sandybridge"};

    for (size_t k = 0; k < sizeof old / sizeof *old; k++)
        if (strcmp(name, old[k]) == 0)
            return 1;
    return 0;
}

const char *dkm_blas_core(void)
{
    return openblas_get_corename ? openblas_get_corename() : "";
}

int dkm_blas_choose_core(void)
{
    dkm_simd_level level = dkm_simd_current();
    const char *said = getenv(CHOICE);

    if (level < DKM_SIMD_AVX2 || (said && *said) || !is_old_core(dkm_blas_core()) ||
        !gotoblas_dynamic_init || !gotoblas_dynamic_quit)
        return 0;
    if (setenv(CHOICE, level == DKM_SIMD_AVX512 ? "SkylakeX" : "Haswell", 1) != 0)
        return 0;
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv(CHOICE);
    return 1;
}

#else

const char *dkm_blas_core(void)
{
    return "";
}

int dkm_blas_choose_core(void)
{
    return 0;
}

#endif
