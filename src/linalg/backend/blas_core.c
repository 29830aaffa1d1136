/* The kernels of OpenBLAS for this processor.
 *
 * OpenBLAS is built with kernels for many processors and chooses at load time by their model numbers.
 * A processor that came out later than the library has an unknown number. 0.3.21 then takes the
 * kernels of 2004 ("Prescott", SSE3) on model 207 of Intel's family 6, a fifth of the rate of those
 * for AVX-512, and those for AVX2 ("Haswell") on AMD's family 26, half the rate. What the processor
 * can do it says itself, so a choice below that is made anew by the name of a core with the same
 * instructions, as OPENBLAS_CORETYPE would. A value of that variable stands. The functions that
 * choose are OpenBLAS's own entry points, not declared in its headers: where they are missing nothing
 * happens. */
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

/* Cores that OpenBLAS falls back to and their kin, with the best instructions that their kernels use. */
static const struct {
    const char *name;
    dkm_simd_level level;
} cores[] = {
    {"Prescott", DKM_SIMD_BASELINE},  {"Core2", DKM_SIMD_BASELINE},
    {"Penryn", DKM_SIMD_BASELINE},    {"Nehalem", DKM_SIMD_BASELINE},
    {"Barcelona", DKM_SIMD_BASELINE}, {"Sandybridge", DKM_SIMD_BASELINE},
    {"Haswell", DKM_SIMD_AVX2},       {"Excavator", DKM_SIMD_AVX2},
    {"Zen", DKM_SIMD_AVX2},
};

/* Whether the kernels of that core leave instructions of @p level unused. A core that is not in the
 * table is newer than it. */
static int is_below(const char *name, dkm_simd_level level)
{
    for (size_t k = 0; k < sizeof cores / sizeof *cores; k++)
        if (strcmp(name, cores[k].name) == 0)
            return cores[k].level < level;
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

    if (level < DKM_SIMD_AVX2 || (said && *said) || !is_below(dkm_blas_core(), level) ||
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
