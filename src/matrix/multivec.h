/** @file multivec.h  Multivectors: tall matrices of few columns, distributed by rows, each rank
 *  holding its slab of consecutive rows (PETSc: BV, Trilinos: MultiVector).
 *
 *  A multivector is row-major with a leading dimension of its own, so that columns can be added.
 *  Inner products of columns are small matrices, column-major and the same on every rank.
 */
#ifndef DKMAP_MATRIX_MULTIVEC_H
#define DKMAP_MATRIX_MULTIVEC_H

#include <dkmap/dmat.h>

typedef struct dkm_multivec {
    dkm_ctx *ctx;
    dkm_idx n;    /**< rows of this rank */
    dkm_idx cols; /**< in use */
    dkm_idx ld;   /**< columns of memory */
    double *a;
} dkm_multivec;

/** Memory for @p capacity columns of m rows, none in use. Local; dkm_multivec_free() frees it. */
DKM_NODISCARD dkm_local dkm_multivec_init(dkm_multivec *slab, dkm_ctx *ctx, dkm_idx m,
                                          dkm_idx capacity);
void dkm_multivec_free(dkm_multivec *slab);

/** Rows that are held elsewhere without gaps, @p cols columns of them, as a multivector that
 * borrows them. Local. */
static inline dkm_multivec dkm_multivec_view(dkm_ctx *ctx, dkm_idx m, dkm_idx cols, double *rows)
{
    return (dkm_multivec){.ctx = ctx,
                          .n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)),
                          .cols = cols,
                          .ld = cols,
                          .a = rows};
}

/** B <- A. Local; B has space for the columns of A. */
void dkm_multivec_copy(const dkm_multivec *A, dkm_multivec *B);
/** B <- scale B. Local. */
void dkm_multivec_scale(double scale, dkm_multivec *B);
/** B <- B + scale A. Local. */
void dkm_multivec_axpy(double scale, const dkm_multivec *A, dkm_multivec *B);
/** B_j <- B_j + sign scale[j] A_j for every column. Local. */
void dkm_multivec_axpy_columns(double sign, const double *scale, const dkm_multivec *A,
                               dkm_multivec *B);
/** B_j <- A_j + scale[j] B_j for every column. Local. */
void dkm_multivec_xpay_columns(const double *scale, const dkm_multivec *A, dkm_multivec *B);
/** dots[j] = A_j'B_j for every column, over all ranks. Collective. */
void dkm_multivec_dots(const dkm_multivec *A, const dkm_multivec *B, double *dots);

/** Append the columns of B to A, whose ld must allow it. Local. */
void dkm_multivec_append(dkm_multivec *A, const dkm_multivec *B);

/** A as rows without gaps, and A, whose columns are in use, from them. Local. */
void dkm_multivec_pack(const dkm_multivec *A, double *rows);
void dkm_multivec_unpack(const double *rows, dkm_multivec *A);

/** Subtract from every column its mean over all m rows. Collective.
 *  @param[out] means  space for A.cols numbers */
void dkm_multivec_center(dkm_multivec *A, dkm_idx m, double *means);

/** All m rows of A on every rank, row-major without gaps. Collective.
 *  @param[out] all  m x A.cols numbers */
DKM_NODISCARD dkm_status dkm_multivec_allgather(const dkm_multivec *A, dkm_idx m, double *all);
/** A = the sum over the ranks of what each has of m rows, row-major without gaps; A.cols says how
 *  wide they are. Collective; @p all is overwritten. */
DKM_NODISCARD dkm_status dkm_multivec_reduce_scatter(double *all, dkm_idx m, dkm_multivec *A);

/** Frobenius norm over all ranks. Collective. */
double dkm_multivec_norm(const dkm_multivec *A);

#endif
