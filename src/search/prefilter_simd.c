/* The scan of a tile of values for those below a limit, RUN of them at a time: compiled for each
 * instruction set (core/simd.h). Cost: 2 operations per value. Local. */
#include "search/prefilter.h"

#include <float.h>
#include <math.h>

#define RUN   64 /* values that are looked at together */
#define LANES 32

#define REAL    float
#define UP      nextafterf
#define NAME(x) x##_f32
#include "search/prefilter.inc"
#undef REAL
#undef UP
#undef NAME
#define REAL    double
#define UP      nextafter
#define NAME(x) x##_f64
#include "search/prefilter.inc"

static dkm_idx find(const dkm_prefilter *s, dkm_idx at, double length, double bound, dkm_idx top,
                    int *found)
{
    double error = s->slope * length + s->slack;

    if (s->precision == DKM_F32)
        return find_f32(s, (const float *)(const void *)s->tile + at * s->n, error, bound, top,
                        found);
    return find_f64(s, s->tile + at * s->n, error, bound, top, found);
}

const dkm_prefilter_kernels DKM_SIMD(dkm_prefilter_kernels) = {find};
