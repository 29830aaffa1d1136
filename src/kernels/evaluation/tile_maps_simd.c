/* The maps of tile_maps.h for one instruction set: compiled for each of them (core/simd.h). Local,
 * no workspace. */
#include "kernels/evaluation/tile_maps.h"

#include <math.h>
#include <string.h>

#define CHUNK 512 /* elements of a column at a time: what is stored beside them stays in cache */

static double tile_maps_inverse_root(double x)
{
    return x > 0 ? 1.0 / sqrt(x) : 0.0;
}

#define STEP(a, b, c) FMA(a, b, (REAL)(c))

/* ln 2 in two parts. Without fused multiplication the upper one has so few digits that its multiples
 * are exact (Cody and Waite). */
#ifdef FP_FAST_FMA
#define FMA(a, b, c) fma((a), (b), (c))
#define LN2_HIGH     0x1.62e42fefa39efp-1
#define LN2_LOW      0x1.abc9e3b39803fp-56
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define LN2_HIGH     0x1.62e42feep-1
#define LN2_LOW      0x1.a39ef35793c76p-33
#endif
#define REAL      double
#define NAME(x)   x##_f64
#define BITS      uint64_t
#define FRACTION  52
#define BIAS      1023
#define ROUNDER   0x1.8p52
#define EXP_LEAST (-708.0)
#define EXP_MOST  709.78271289338397
#define ROOT(x)   sqrt(x)
#define TAYLOR(r) taylor_f64(r)

/* The terms up to r^13: what is left out is below 5e-18. */
static inline double taylor_f64(double r)
{
    double y = STEP(1.0 / 6227020800.0, r, 1.0 / 479001600.0);

    y = STEP(y, r, 1.0 / 39916800.0);
    y = STEP(y, r, 1.0 / 3628800.0);
    y = STEP(y, r, 1.0 / 362880.0);
    y = STEP(y, r, 1.0 / 40320.0);
    y = STEP(y, r, 1.0 / 5040.0);
    y = STEP(y, r, 1.0 / 720.0);
    y = STEP(y, r, 1.0 / 120.0);
    y = STEP(y, r, 1.0 / 24.0);
    y = STEP(y, r, 1.0 / 6.0);
    y = STEP(y, r, 0.5);
    y = STEP(y, r, 1.0);
    return STEP(y, r, 1.0);
}

#include "kernels/evaluation/tile_maps.inc"

#undef FMA
#undef REAL
#undef NAME
#undef BITS
#undef FRACTION
#undef BIAS
#undef ROUNDER
#undef LN2_HIGH
#undef LN2_LOW
#undef EXP_LEAST
#undef EXP_MOST
#undef ROOT
#undef TAYLOR

#ifdef FP_FAST_FMAF
#define FMA(a, b, c) fmaf((a), (b), (c))
#define LN2_HIGH     0x1.62e43p-1f
#define LN2_LOW      (-0x1.05c61p-29f)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define LN2_HIGH     0x1.62e4p-1f
#define LN2_LOW      0x1.7f7d1cp-20f
#endif
#define REAL      float
#define NAME(x)   x##_f32
#define BITS      uint32_t
#define FRACTION  23
#define BIAS      127
#define ROUNDER   0x1.8p23f
#define EXP_LEAST (-86.5f)
#define EXP_MOST  88.7228394f
#define ROOT(x)   sqrtf(x)
#define TAYLOR(r) taylor_f32(r)

/* The terms up to r^7: what is left out is below 6e-9. */
static inline float taylor_f32(float r)
{
    float y = STEP(1.0f / 5040.0f, r, 1.0f / 720.0f);

    y = STEP(y, r, 1.0f / 120.0f);
    y = STEP(y, r, 1.0f / 24.0f);
    y = STEP(y, r, 1.0f / 6.0f);
    y = STEP(y, r, 0.5f);
    y = STEP(y, r, 1.0f);
    return STEP(y, r, 1.0f);
}

#include "kernels/evaluation/tile_maps.inc"

/* One function of the table, for tiles of either precision. */
#define MAP(name, parameters, ...)                                                                 \
    static void name parameters                                                                    \
    {                                                                                              \
        if (C->precision == DKM_F64)                                                               \
            name##_f64(C, __VA_ARGS__);                                                            \
        else                                                                                       \
            name##_f32(C, __VA_ARGS__);                                                            \
    }

MAP(gauss, (const dkm_tile *C, const double *a, const double *b, double rate), a, b, rate)
MAP(matern, (const dkm_tile *C, const double *a, const double *b, double rate, const double by[2]),
    a, b, rate, by)
MAP(exp_map, (const dkm_tile *C, double rate), rate)
MAP(power, (const dkm_tile *C, double shift, dkm_idx degree), shift, degree)
MAP(sides, (const dkm_tile *C, const double *a, const double *b), a, b)
MAP(normalize, (const dkm_tile *C, const double *a, const double *b), a, b)
MAP(scale, (const dkm_tile *C, double by), by)
MAP(add, (const dkm_tile *C, const dkm_tile *D), D)
MAP(multiply, (const dkm_tile *C, const dkm_tile *D), D)

static void widen(const dkm_tile *C, dkm_idx first, dkm_idx count, double *to)
{
    for (dkm_idx j = 0; j < count; j++) {
        const float *restrict from = dkm_tile_at(C, 0, first + j);
        double *restrict column = to + j * C->na;
        for (dkm_idx i = 0; i < C->na; i++)
            column[i] = from[i];
    }
}

const dkm_map_kernels DKM_SIMD(dkm_map_kernels) = {
    gauss, matern, exp_map,  power, sides,       normalize,
    scale, add,    multiply, widen, exp_all_f64, exp_all_f32,
};
