/** @file multivec.h  Multivectors: tall matrices of few columns, distributed by rows, each rank
 *  holding its slab of consecutive rows (PETSc: BV, Trilinos: MultiVector).
 *
 *  A multivector is row-major with a leading dimension of its own, so that columns can be added.
 *  Inner products of columns are small matrices, column-major and the same on every rank.
 */
#ifndef DKMAP_SOLVERS_OPERATORS_MULTIVEC_H
#define DKMAP_SOLVERS_OPERATORS_MULTIVEC_H

#include <dkmap/dmat.h>

#include "io/archive/archive.h"

typedef struct dkm_multivec {
    dkm_ctx *ctx;
    dkm_idx n;    /**< rows of this rank */
    dkm_idx cols; /**< in use */
    dkm_idx ld;   /**< columns there is room for */
    double *a;
} dkm_multivec;

/** Room for @p capacity columns of m rows, none in use. Local; dkm_multivec_free() frees it. */
DKM_NODISCARD
dkm_local dkm_multivec_init(dkm_multivec *slab, dkm_ctx *ctx, dkm_idx m, dkm_idx capacity);
void dkm_multivec_free(dkm_multivec *slab);

/** G = A' B, A.cols x B.cols, the same on every rank. Collective.
 *  @param work  room for as many numbers as G, to send less; or NULL */
void dkm_multivec_inner(const dkm_multivec *A, const dkm_multivec *B, double *G, double *work);

/** This rank's part of it. Local. */
void dkm_multivec_inner_local(const dkm_multivec *A, const dkm_multivec *B, double *G);

/** C = A S + beta C with S of A.cols x k, column-major, ld = lds; C gets k columns. Local. */
void dkm_multivec_combine(const dkm_multivec *A, dkm_idx k, const double *S, dkm_idx lds,
                          double scale, double beta, dkm_multivec *C);

/** Append the columns of B to A, which must have room. Local. */
void dkm_multivec_append(dkm_multivec *A, const dkm_multivec *B);

/** A as rows without gaps, and A, whose columns are in use, from them. Local. */
void dkm_multivec_pack(const dkm_multivec *A, double *rows);
void dkm_multivec_unpack(const double *rows, dkm_multivec *A);

/** Subtract from every column its mean over all m rows. Collective.
 *  @param[out] means  room for A.cols numbers */
void dkm_multivec_center(dkm_multivec *A, dkm_idx m, double *means);

/** All m rows of A on every rank, row-major without gaps. Collective.
 *  @param[out] all  m x A.cols numbers */
DKM_NODISCARD
dkm_status dkm_multivec_allgather(const dkm_multivec *A, dkm_idx m, double *all);
/** A = the sum over the ranks of what each has of m rows, row-major without gaps; A.cols says how
 *  wide they are. Collective; @p all is overwritten. */
DKM_NODISCARD
dkm_status dkm_multivec_reduce_scatter(double *all, dkm_idx m, dkm_multivec *A);

/** The columns in use as a part of a state, m rows in all; the slab is borrowed. Local. */
DKM_NODISCARD
dkm_local dkm_multivec_save(dkm_archive *state, const char *name, dkm_idx m,
                            const dkm_multivec *slab);
/** Those columns again, into a slab with room for them. Local.
 *  @return ok; DKM_ERR_FORMAT when there is no room; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_local dkm_multivec_restore(const dkm_archive *state, const char *name, dkm_multivec *slab);

/** Frobenius norm over all ranks. Collective. */
double dkm_multivec_norm(const dkm_multivec *A);

#endif
