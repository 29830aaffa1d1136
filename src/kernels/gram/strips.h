/** @file strips.h  Rows of k(X, C) for the objects X that a rank has and all of a few objects C.
 *
 *  X stays where it is. Rows come in strips that are seen and dropped, for which C is on every rank; or
 *  all of them are stored where memory allows, and C passes by in groups, once. Nothing travels after
 *  opening.
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
    dkm_idx group; /**< columns whose objects are on a rank at a time while strips are stored */
    dkm_panel cols;
    void *strip, *scratch;
    void *stored;        /**< all strips one after the other, or NULL */
    const double *scale; /**< of each row of this rank's slab, or NULL: what it is multiplied by */
} dkm_strips;

/** Strips of k(X, C), to be opened or stored. Local. */
dkm_strips dkm_strips_of(const dkm_prepared *C, dkm_precision precision);

/** Bytes of @p rows of its rows; of the objects of C on a rank while strips are computed, stored or not.
 *  Local. */
double dkm_strips_bytes(const dkm_strips *s, dkm_idx rows);
double dkm_strips_column_bytes(const dkm_strips *s, int stored);

/** Bring C to every rank. Collective; dkm_strips_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_strips_open(dkm_strips *s);

/** Compute and store all strips of this rank's slab of X. Collective; dkm_strips_close() frees, also
 *  after a failure. */
DKM_NODISCARD dkm_status dkm_strips_store(dkm_strips *s, const dkm_prepared *X);

/** Show columns [c0, c1) of k(X, C), strip by strip, for this rank's slab of X, which is the one of
 *  dkm_strips_store() where they are stored. Local.
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
