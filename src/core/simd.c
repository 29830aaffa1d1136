#include "core/simd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN (-1)

static const char *const names[] = {"baseline", "avx2", "avx512"};

static _Atomic int chosen = UNKNOWN;

dkm_simd_level dkm_simd_best(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return DKM_SIMD_BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return DKM_SIMD_AVX512;
    return DKM_SIMD_AVX2;
#else
    return DKM_SIMD_BASELINE;
#endif
}

/* The level that DKMAP_SIMD names; UNKNOWN where it names none. */
static int named_level(const char *name)
{
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
        if (strcmp(name, names[k]) == 0)
            return k;
    return UNKNOWN;
}

const char *dkm_simd_refused(void)
{
    const char *name = getenv("DKMAP_SIMD");
    int level = name && *name ? named_level(name) : DKM_SIMD_BASELINE;

    return level == UNKNOWN || level > (int)dkm_simd_best() ? name : NULL;
}

void dkm_simd_use(dkm_simd_level level)
{
    dkm_simd_level best = dkm_simd_best();

    atomic_store(&chosen, (int)(level < best ? level : best));
}

dkm_simd_level dkm_simd_current(void)
{
    int level = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (level == UNKNOWN) {
        const char *name = getenv("DKMAP_SIMD");
        int named = name && *name ? named_level(name) : UNKNOWN;
        dkm_simd_use(named == UNKNOWN ? dkm_simd_best() : (dkm_simd_level)named);
        level = atomic_load(&chosen);
    }
    return (dkm_simd_level)level;
}

const char *dkm_simd_name(dkm_simd_level level)
{
    return names[level];
}
