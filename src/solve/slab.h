/** @file slab.h  Tall matrices of few columns, spread by rows: each rank holds its slab.
 *
 *  A slab is row-major with a leading dimension of its own, so that columns can be added. Inner
 *  products of columns are small matrices, column-major and the same on every rank.
 */
#ifndef DKMAP_SLAB_H
#define DKMAP_SLAB_H

#include <dkmap/dmat.h>

typedef struct dkm_slab {
    dkm_ctx *ctx;
    dkm_idx n;    /**< rows of this rank */
    dkm_idx cols; /**< in use */
    dkm_idx ld;   /**< columns there is room for */
    double *a;
} dkm_slab;

/** Room for @p capacity columns of m rows, none in use. Local; dkm_slab_free() frees it. */
DKM_NODISCARD
dkm_local dkm_slab_init(dkm_slab *slab, dkm_ctx *ctx, dkm_idx m, dkm_idx capacity);
void dkm_slab_free(dkm_slab *slab);

/** G = A' B, A.cols x B.cols, the same on every rank. Collective. */
void dkm_slab_inner(const dkm_slab *A, const dkm_slab *B, double *G);

/** C = A S + beta C with S of A.cols x k, column-major, ld = lds; C gets k columns. Local. */
void dkm_slab_combine(const dkm_slab *A, dkm_idx k, const double *S, dkm_idx lds, double scale,
                      double beta, dkm_slab *C);

/** Append the columns of B to A, which must have room. Local. */
void dkm_slab_append(dkm_slab *A, const dkm_slab *B);

/** Subtract from every column its mean over all m rows. Collective.
 *  @param[out] means  room for A.cols numbers */
void dkm_slab_center(dkm_slab *A, dkm_idx m, double *means);

/** Frobenius norm over all ranks. Collective. */
double dkm_slab_norm(const dkm_slab *A);

#endif
