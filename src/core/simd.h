/** @file simd.h  The instruction set of the vector kernels, chosen once at run time.
 *
 *  A file of vector kernels is compiled once for each instruction set (dkmap_simd_sources() in
 *  cmake/simd.cmake). Each copy defines one constant table of functions, named by DKM_SIMD(), and
 *  DKM_SIMD_SELECT() is the table for the processor at hand. On x86-64 there are three: baseline
 *  (SSE2), AVX2 with FMA, and AVX-512 (F, BW, DQ, VL). Elsewhere there is the baseline alone, which
 *  the compiler turns into what that machine has, such as NEON.
 *
 *  The environment variable DKMAP_SIMD (baseline, avx2 or avx512) selects a lower one. Contexts
 *  agree on the lowest of their ranks, so that all of them round alike.
 */
#ifndef DKMAP_CORE_SIMD_H
#define DKMAP_CORE_SIMD_H

#include <dkmap/types.h>

typedef enum dkm_simd_level { DKM_SIMD_BASELINE, DKM_SIMD_AVX2, DKM_SIMD_AVX512 } dkm_simd_level;

#define DKM_SIMD_JOIN_(name, level) name##_##level
#define DKM_SIMD_JOIN(name, level)  DKM_SIMD_JOIN_(name, level)

/** In a file of vector kernels: @p name with the suffix of the instruction set it is compiled for.
 */
#define DKM_SIMD(name) DKM_SIMD_JOIN(name, DKMAP_SIMD_LEVEL)

/** Declare the tables @p name of all instruction sets, and the one for this processor. */
#if defined(__x86_64__)
#define DKM_SIMD_DECLARE(type, name) extern const type name##_baseline, name##_avx2, name##_avx512
#define DKM_SIMD_SELECT(name)                                                                      \
    (dkm_simd_current() == DKM_SIMD_AVX512 ? &name##_avx512                                        \
     : dkm_simd_current() == DKM_SIMD_AVX2 ? &name##_avx2                                          \
                                           : &name##_baseline)
#else
#define DKM_SIMD_DECLARE(type, name) extern const type name##_baseline
#define DKM_SIMD_SELECT(name)        (&name##_baseline)
#endif

/** Bytes of a vector register, in a file of vector kernels. */
#if defined(__AVX512F__)
#define DKM_SIMD_BYTES 64
#elif defined(__AVX2__)
#define DKM_SIMD_BYTES 32
#else
#define DKM_SIMD_BYTES 16
#endif

/** The instruction set in use. Local. */
dkm_simd_level dkm_simd_current(void);

/** The best one that the processor has, whatever DKMAP_SIMD says. Local. */
dkm_simd_level dkm_simd_best(void);

/** Use @p level, or the best that the processor has where that is lower. Local; no kernel may be
 *  running. */
void dkm_simd_use(dkm_simd_level level);

/** Its name in DKMAP_SIMD. */
const char *dkm_simd_name(dkm_simd_level level);

/** The value of DKMAP_SIMD where it is none of the names, or one of an instruction set that the
 *  processor lacks; else NULL. Local. */
const char *dkm_simd_refused(void);

#endif
