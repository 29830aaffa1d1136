/** @file strips.h  Rows of k(X, C) for the objects X that a rank has and all of a few objects C.
 *
 *  C is replicated on every rank, once; X stays where it is. Rows come in strips that are seen
 *  and dropped, or stored where memory allows. Nothing travels after opening.
 */
#ifndef DKMAP_KERNELS_GRAM_STRIPS_H
#define DKMAP_KERNELS_GRAM_STRIPS_H

#include "kernels/evaluation/panel.h"

typedef struct dkm_strip_visitor dkm_strip_visitor;

/** Sees every strip once. */
struct dkm_strip_visitor {
    /** K holds rows from @p il on of those the pass is over, and the columns that were asked for.
     *  It must be left as it is. Local. */
    void (*visit)(dkm_strip_visitor *visitor, dkm_idx il, const dkm_tile *K);
};

typedef struct dkm_strips {
    const dkm_prepared *C;
    dkm_precision precision;
    dkm_idx n;          /**< columns */
    dkm_idx rows, wide; /**< of a strip, and columns evaluated at a time */
    dkm_panel cols;
    void *strip, *scratch;
    void *cache;         /**< all strips one after the other, or NULL */
    dkm_idx cached_cols; /**< how many of their columns are known */
} dkm_strips;

/** Bring C to every rank. Collective; dkm_strips_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_strips_open(dkm_strips *s, const dkm_prepared *C,
                                         dkm_precision precision);

/** Bytes that keeping @p rows rows would take. Local. */
double dkm_strips_bytes(const dkm_strips *s, dkm_idx rows);

/** Keep all strips of one slab of @p rows objects, from when they are first computed. Local. */
DKM_NODISCARD dkm_local dkm_strips_cache(dkm_strips *s, dkm_idx rows);

/** Show columns [c0, c1) of k(X, C), strip by strip, for this rank's slab of X.
 *
 *  Local. Where strips are stored X must be the same each time, and columns are first asked for in
 *  order.
 *
 *  @param[in] X      objects prepared to be compared with C
 *  @param[in] first  the place that the first row of the slab has for the visitor
 */
DKM_NODISCARD dkm_local dkm_strips_run(dkm_strips *s, const dkm_prepared *X, dkm_idx first,
                                       dkm_idx c0, dkm_idx c1, dkm_strip_visitor *visitor);

void dkm_strips_close(dkm_strips *s);

/** How many columns the products below are fastest with where p are wanted: p, or more, the rest of
 *  which are zeros. Local. */
dkm_idx dkm_strip_columns(dkm_precision precision, dkm_idx p);

/** U += K V for a strip K, with V of K.nb x p and U of K.na x p, both row-major and double.
 *  Products of single precision values are added up in double, on up to @p threads threads, or
 *  those of the BLAS library. Local.
 *  @param[in] workspace  DKM_STRIP_WORKSPACE numbers of scratch */
void dkm_strip_gemm(int threads, const dkm_tile *K, dkm_idx p, const double *V, double *U,
                    double *workspace);
/** W += K'U for a strip K, with U of K.na x p and W of K.nb x p. Local. */
void dkm_strip_gemm_t(int threads, const dkm_tile *K, dkm_idx p, const double *U, double *W,
                      double *workspace);
enum { DKM_STRIP_WORKSPACE = 65536 };

#endif
