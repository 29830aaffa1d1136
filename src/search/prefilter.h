/** @file prefilter.h  Which of a block of candidates may be among the nearest of a point.
 *
 *  A candidate counts norm_c - 2 q.z_c for a point q: its squared distance less q.q. A prefilter
 * has values s (norm_c - o) - 2 (a q).(b z_c), s = a b, in either precision, with a, b powers of
 * two and an offset o that keep all terms within 1. With u the unit roundoff and g(n) = n u / (1 -
 * n u), a value differs from the true one by no more than
 *
 *      2 s (g(p + 2) + 2 u) ||q|| max ||z_c||  +  3 u s max |norm_c - o|  +  16 (p + 1) t,
 *
 *  t the least normal number, whatever the order in which a product is added up, with fused steps
 * or without: p products and sums and the rounding of both factors; the sum with the norm; what
 *  underflows. The same holds of distances in double (u and t of double, o = 0), which come after.
 *  A candidate whose value is above what it would need by more than both is passed over.
 */
#ifndef DKMAP_SEARCH_PREFILTER_H
#define DKMAP_SEARCH_PREFILTER_H

#include <dkmap/context.h>

#include "core/simd.h"

/** Candidates and points that are looked at together: the tile of their values stays in cache. */
enum { DKM_PREFILTER_BLOCK = 1024, DKM_PREFILTER_POINTS = 128 };

/** The points. */
typedef struct dkm_query_points {
    dkm_idx n, p;
    double *values;  /**< n x p */
    double *lengths; /**< ||q|| of each */
    double scale;    /**< a: brings them all below 1/2 */
    float *single;   /**< a q in single precision; NULL where single precision is out of question */
} dkm_query_points;

/** Lengths, scale and single precision of points whose values are there. Local;
 *  dkm_query_points_close() frees all, also after a failure. */
DKM_NODISCARD dkm_local dkm_query_points_open(dkm_query_points *points, dkm_ctx *ctx);
void dkm_query_points_close(dkm_query_points *points);

/** A block of candidates, in one precision. */
typedef struct dkm_prefilter {
    dkm_precision precision;
    dkm_idx n, p;
    const void *Z;            /**< b z_c, n x p */
    const void *norms;        /**< s (norm_c - o) */
    double scale, offset;     /**< s and o */
    double slope, slack;      /**< a value is off by slope ||q|| + slack at the most */
    float *own_Z, *own_norms; /**< space for those of single precision */
    double *tile; /**< space for the values of DKM_PREFILTER_POINTS points, in either precision */
    double *best; /**< space for the @p top least of them */
} dkm_prefilter;

/** dkm_prefilter_find() for one instruction set. */
typedef struct dkm_prefilter_kernels {
    dkm_idx (*find)(const dkm_prefilter *screen, dkm_idx at, double length, double bound,
                    dkm_idx top, int *found);
} dkm_prefilter_kernels;

DKM_SIMD_DECLARE(dkm_prefilter_kernels, dkm_prefilter_kernels);

/** Memory for blocks of p coordinates and lists of @p top. Local; dkm_prefilter_close() frees, also
 *  after a failure. */
DKM_NODISCARD dkm_local dkm_prefilter_open(dkm_prefilter *screen, dkm_ctx *ctx, dkm_idx p,
                                           dkm_idx top);
void dkm_prefilter_close(dkm_prefilter *screen);

/** Take up a block of at most DKM_PREFILTER_BLOCK candidates, which stay where they are.
 *  @return whether the precision will do; double always does. Local. */
int dkm_prefilter_load_block(dkm_prefilter *screen, dkm_precision precision,
                             const dkm_query_points *points, dkm_idx n, const double *Z,
                             const double *norms);

/** Values of points [first, first + count), at most DKM_PREFILTER_POINTS of them. Local. */
void dkm_prefilter_values(dkm_prefilter *screen, const dkm_query_points *points, dkm_idx first,
                          dkm_idx count);

/** The candidates that may be nearer to a point than @p bound, or one of the @p top nearest where
 *  that is INFINITY, in ascending order. Local.
 *  @param[in]  at     which of the points of dkm_prefilter_values() it is
 *  @param[in]  length  ||q||
 *  @param[out] found  space for all of the block
 *  @return how many there are */
dkm_idx dkm_prefilter_find(const dkm_prefilter *screen, dkm_idx at, double length, double bound,
                           dkm_idx top, int *found);

#endif
