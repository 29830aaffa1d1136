/* Sums for a few objects of W at a time stay in registers, twelve of them, while one object after
 * the other of V is taken in: two vectors of lanes at a time, which leaves registers enough. */
#include "scalapack/narrow.h"

#define BYTES 32 /* of a vector */
#define SUMS  12 /* vectors of sums at a time */
#define TAKEN 64 /* objects of V at a time: they stay in the first cache */

/* How many vectors and objects there are is a constant in each copy of the loops. */
#define INLINE static inline __attribute__((always_inline))

typedef struct strides {
    dkm_idx lanes;
    dkm_idx outs, ins; /* objects of W and of V */
    dkm_idx by_out, by_in;
} strides;

#define REAL    double
#define NAME(x) x##_f64
#include "scalapack/narrow.inc"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include "scalapack/narrow.inc"

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static const void *element(const dkm_narrow *t, dkm_idx i, dkm_idx j)
{
    dkm_idx k = i + j * t->ld;

    return t->precision == DKM_F64 ? (const void *)((const double *)t->T + k)
                                   : (const void *)((const float *)t->T + k);
}

static const void *object(const dkm_narrow *t, dkm_idx lanes, const void *V, dkm_idx k)
{
    return t->precision == DKM_F64 ? (const void *)((const double *)V + k * lanes)
                                   : (const void *)((const float *)V + k * lanes);
}

static void add(const dkm_narrow *t, const strides *s, const void *T, const void *V, void *W)
{
    if (t->precision == DKM_F64)
        add_f64(s, T, V, W);
    else
        add_f32(s, T, V, W);
}

void dkm_narrow_rows(const dkm_narrow *t, dkm_idx lanes, const void *V, void *W)
{
    for (dkm_idx j = 0; j < t->nb; j += TAKEN) {
        strides s = {lanes, t->na, least(TAKEN, t->nb - j), 1, t->ld};
        add(t, &s, element(t, 0, j), object(t, lanes, V, j), W);
    }
}

void dkm_narrow_cols(const dkm_narrow *t, dkm_idx lanes, const void *V, void *W)
{
    for (dkm_idx i = 0; i < t->na; i += TAKEN) {
        strides s = {lanes, t->nb, least(TAKEN, t->na - i), t->ld, 1};
        add(t, &s, element(t, i, 0), object(t, lanes, V, i), W);
    }
}
