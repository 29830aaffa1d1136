/* Values of a block of candidates in one precision, and those that may be among the nearest: see
 * prefilter.h for the bound (standard inner-product error analysis, Higham 2002, Accuracy and
 * Stability of Numerical Algorithms, section 3.1, doi:10.1137/1.9780898718027). Local. */
#include "search/prefilter.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"

#define MOST   (1 << 20) /* coordinates for which p u is small in single precision */
#define SCALES 400       /* powers of two that points and candidates may be scaled by */

/* ||x||, from above. */
static double prefilter_length_of(dkm_idx p, const double *x)
{
    double sum = 0;

    for (dkm_idx j = 0; j < p; j++)
        sum += x[j] * x[j];
    return sqrt(sum) * (1.0 + (double)(p + 2) * DBL_EPSILON) + DBL_MIN;
}

/* The largest power of two that brings @p most below 1/2; 0 where none will do. */
static double within_half(double most)
{
    int exponent = 0;

    if (!isfinite(most))
        return 0.0;
    frexp(most, &exponent);
    return exponent > SCALES ? 0.0 : ldexp(1.0, exponent < -SCALES ? SCALES : -exponent - 1);
}

dkm_local dkm_query_points_open(dkm_query_points *points, dkm_ctx *ctx)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = points->n, p = points->p;
    double most = 0;

    DKM_STEP(dkm_alloc(ctx, n, &points->lengths));
    for (dkm_idx q = 0; q < n; q++) {
        points->lengths[q] = prefilter_length_of(p, points->values + q * p);
        most = isnan(points->lengths[q]) ? INFINITY : fmax(most, points->lengths[q]);
    }
    points->scale = within_half(most);
    if (points->scale == 0.0 || p > MOST)
        return DKM_LOCAL_OK;
    DKM_STEP(dkm_alloc(ctx, n * p, &points->single));
    for (dkm_idx k = 0; k < n * p; k++)
        points->single[k] = (float)(points->scale * points->values[k]);
out:
    return local;
}

void dkm_query_points_close(dkm_query_points *points)
{
    DKM_FREE(points->values);
    DKM_FREE(points->lengths);
    DKM_FREE(points->single);
}

dkm_local dkm_prefilter_open(dkm_prefilter *s, dkm_ctx *ctx, dkm_idx p, dkm_idx top)
{
    dkm_local local = DKM_LOCAL_OK;

    *s = (dkm_prefilter){.p = p};
    DKM_STEP(dkm_alloc(ctx, DKM_PREFILTER_BLOCK * p, &s->own_Z));
    DKM_STEP(dkm_alloc(ctx, DKM_PREFILTER_BLOCK, &s->own_norms));
    DKM_STEP(dkm_alloc(ctx, DKM_PREFILTER_BLOCK * DKM_PREFILTER_POINTS, &s->tile));
    DKM_STEP(dkm_alloc(ctx, top, &s->best));
out:
    return local;
}

void dkm_prefilter_close(dkm_prefilter *s)
{
    DKM_FREE(s->own_Z);
    DKM_FREE(s->own_norms);
    DKM_FREE(s->tile);
    DKM_FREE(s->best);
}

/* What a block is like. */
typedef struct block {
    double longest;   /* max ||z_c|| */
    double low, high; /* of the norms */
} block;

static block prefilter_measure(dkm_idx n, dkm_idx p, const double *Z, const double *norms)
{
    block b = {.low = INFINITY, .high = -INFINITY};

    for (dkm_idx c = 0; c < n; c++) {
        double length = prefilter_length_of(p, Z + c * p);
        b.longest = isnan(length) || isnan(norms[c]) ? INFINITY : fmax(b.longest, length);
        b.low = fmin(b.low, norms[c]);
        b.high = fmax(b.high, norms[c]);
    }
    return b;
}

/* Add the bound at the top of prefilter.h, with the largest |norm - o|. */
static void add_error(dkm_prefilter *s, double u, double tiny, double longest, double largest)
{
    double n = (double)(s->p + 2) * u;

    s->slope += 2.0 * s->scale * (n / (1.0 - n) + 2.0 * u) * longest;
    s->slack += 3.0 * u * s->scale * largest + 16.0 * (double)(s->p + 1) * tiny;
}

static void take_double(dkm_prefilter *s, const block *b, const double *Z, const double *norms)
{
    s->Z = Z;
    s->norms = norms;
    s->scale = 1.0;
    s->offset = 0.0;
    add_error(s, 0.5 * DBL_EPSILON, DBL_MIN, b->longest, fmax(fabs(b->low), fabs(b->high)));
}

static int take_single(dkm_prefilter *s, const dkm_query_points *points, const block *b,
                       const double *Z, const double *norms)
{
    double spread = b->high - b->low;
    double scale = fmin(within_half(b->longest), within_half(points->scale * spread));

    if (!points->single || scale == 0.0)
        return 0;
    s->Z = s->own_Z;
    s->norms = s->own_norms;
    s->scale = points->scale * scale;
    s->offset = b->low;
    for (dkm_idx k = 0; k < s->n * s->p; k++)
        s->own_Z[k] = (float)(scale * Z[k]);
    for (dkm_idx c = 0; c < s->n; c++)
        s->own_norms[c] = (float)(s->scale * (norms[c] - s->offset));
    add_error(s, 0.5 * FLT_EPSILON, FLT_MIN, b->longest, spread * (1.0 + DBL_EPSILON));
    return 1;
}

int dkm_prefilter_load_block(dkm_prefilter *s, dkm_precision precision,
                             const dkm_query_points *points, dkm_idx n, const double *Z,
                             const double *norms)
{
    block b = prefilter_measure(n, s->p, Z, norms);

    s->precision = precision;
    s->n = n;
    s->slope = s->slack = 0.0;
    if (precision == DKM_F32 && !take_single(s, points, &b, Z, norms))
        return 0;
    if (precision == DKM_F64)
        take_double(s, &b, Z, norms);
    /* of the distance that is worked out in double afterwards */
    add_error(s, 0.5 * DBL_EPSILON, DBL_MIN, b.longest, fmax(fabs(b.low), fabs(b.high)));
    return 1;
}

void dkm_prefilter_values(dkm_prefilter *s, const dkm_query_points *points, dkm_idx first,
                          dkm_idx count)
{
    const void *Q = s->precision == DKM_F32 ? (const void *)(points->single + first * s->p)
                                            : (const void *)(points->values + first * s->p);

    dkm_blas_gemm(s->precision, 'T', 'N', s->n, count, s->p, -2.0, s->Z, s->p, Q, s->p, 0.0,
                  s->tile, s->n);
}

dkm_idx dkm_prefilter_find(const dkm_prefilter *s, dkm_idx at, double length, double bound,
                           dkm_idx top, int *found)
{
    return DKM_SIMD_SELECT(dkm_prefilter_kernels)->find(s, at, length, bound, top, found);
}
