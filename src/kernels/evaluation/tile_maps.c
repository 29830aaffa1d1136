#include "kernels/evaluation/tile_maps.h"

#include <math.h>
#include <string.h>

#define CHUNK 512 /* elements of a column at a time: what is kept beside them stays in cache */

static double tile_maps_inverse_root(double x)
{
    return x > 0 ? 1.0 / sqrt(x) : 0.0;
}

#define STEP(a, b, c) FMA(a, b, (REAL)(c))

#ifdef FP_FAST_FMA
#define FMA(a, b, c) fma((a), (b), (c))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define REAL      double
#define NAME(x)   x##_f64
#define BITS      uint64_t
#define FRACTION  52
#define BIAS      1023
#define ROUNDER   0x1.8p52
#define LN2_HIGH  0x1.62e42fefa39efp-1
#define LN2_LOW   0x1.abc9e3b39803fp-56
#define EXP_LEAST (-708.0)
#define EXP_MOST  709.78271289338397
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
#undef TAYLOR

#ifdef FP_FAST_FMAF
#define FMA(a, b, c) fmaf((a), (b), (c))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define REAL      float
#define NAME(x)   x##_f32
#define BITS      uint32_t
#define FRACTION  23
#define BIAS      127
#define ROUNDER   0x1.8p23f
#define LN2_HIGH  0x1.62e43p-1f
#define LN2_LOW   (-0x1.05c61p-29f)
#define EXP_LEAST (-86.5f)
#define EXP_MOST  88.7228394f
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

#define BOTH(name, C, ...)                                                                         \
    do {                                                                                           \
        if ((C)->precision == DKM_F64)                                                             \
            name##_f64((C), __VA_ARGS__);                                                          \
        else                                                                                       \
            name##_f32((C), __VA_ARGS__);                                                          \
    } while (0)

void dkm_map_gauss(const dkm_tile *C, const double *a, const double *b, double rate)
{
    BOTH(gauss, C, a, b, rate);
}

void dkm_map_exp(const dkm_tile *C, double rate)
{
    BOTH(exp_map, C, rate);
}

void dkm_map_power(const dkm_tile *C, double shift, dkm_idx degree)
{
    BOTH(power, C, shift, degree);
}

void dkm_map_sides(const dkm_tile *C, const double *a, const double *b)
{
    BOTH(sides, C, a, b);
}

void dkm_map_normalize(const dkm_tile *C, const double *a, const double *b)
{
    if (C->precision == DKM_F64)
        normalize_f64(C, a, b);
    else
        normalize_f32(C, a, b);
}

void dkm_map_zero_pairs(const dkm_tile *C, const double *a, const double *b, const double *id_a,
                        const double *id_b)
{
    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; b[j] == 0 && i < C->na; i++)
            if (a[i] == 0 && (!id_a || id_a[i] == id_b[j]))
                dkm_tile_put(C, i, j, 1.0);
}

void dkm_map_scale(const dkm_tile *C, double by)
{
    BOTH(scale, C, by);
}

void dkm_map_add(const dkm_tile *C, const dkm_tile *D)
{
    BOTH(add, C, D);
}

void dkm_map_multiply(const dkm_tile *C, const dkm_tile *D)
{
    BOTH(multiply, C, D);
}

void dkm_map_store(const dkm_tile *C, dkm_idx i, dkm_idx j, dkm_idx count, const double *values)
{
    BOTH(store, C, i, j, count, values);
}

void dkm_exp_f64(dkm_idx n, const double *x, double *y)
{
    exp_all_f64(n, x, y);
}

void dkm_exp_f32(dkm_idx n, const float *x, float *y)
{
    exp_all_f32(n, x, y);
}

void dkm_tile_widen(const dkm_tile *C, dkm_idx first, dkm_idx count, double *to)
{
    for (dkm_idx j = 0; j < count; j++) {
        const float *restrict from = dkm_tile_at(C, 0, first + j);
        double *restrict column = to + j * C->na;
        for (dkm_idx i = 0; i < C->na; i++)
            column[i] = from[i];
    }
}
