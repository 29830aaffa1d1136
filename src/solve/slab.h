/** @file slab.h  Tall matrices of few columns, spread by rows: each rank holds its slab.
 *
 *  A slab is row-major with a leading dimension of its own, so that columns can be added. Inner
 *  products of columns are small matrices, column-major and the same on every rank.
 */
#ifndef DKMAP_SLAB_H
#define DKMAP_SLAB_H

#include <dkmap/dmat.h>

#include "data/bundle.h"

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

/** A as rows without gaps, and A, whose columns are in use, from them. Local. */
void dkm_slab_pack(const dkm_slab *A, double *rows);
void dkm_slab_unpack(const double *rows, dkm_slab *A);

/** Subtract from every column its mean over all m rows. Collective.
 *  @param[out] means  room for A.cols numbers */
void dkm_slab_center(dkm_slab *A, dkm_idx m, double *means);

/** All m rows of A on every rank, row-major without gaps. Collective.
 *  @param[out] all  m x A.cols numbers */
DKM_NODISCARD
dkm_status dkm_slab_gather(const dkm_slab *A, dkm_idx m, double *all);
/** A = the sum over the ranks of what each has of m rows, row-major without gaps; A.cols says how
 *  wide they are. Collective; @p all is overwritten. */
DKM_NODISCARD
dkm_status dkm_slab_sum(double *all, dkm_idx m, dkm_slab *A);

/** The columns in use as a part of a state, m rows in all; the slab is borrowed. Local. */
DKM_NODISCARD
dkm_local dkm_slab_put(dkm_bundle *state, const char *name, dkm_idx m, const dkm_slab *slab);
/** Those columns again, into a slab with room for them. Local.
 *  @return ok; DKM_ERR_FORMAT when there is no room; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_local dkm_slab_get(const dkm_bundle *state, const char *name, dkm_slab *slab);

/** Frobenius norm over all ranks. Collective. */
double dkm_slab_norm(const dkm_slab *A);

#endif
