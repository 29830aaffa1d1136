/** @file symm_multivec.h  W = K V for a symmetric K that is seen once, tile by tile, and stays
 *  where it is.
 *
 *  Only one triangle is read: a tile T of it in rows I and columns J serves twice, W_I += T V_J and
 *  W_J += T'V_I. Multivectors come and go as row slabs; during a product each rank holds p columns
 *  of V for its own rows and columns of K, in the precision of K.
 */
#ifndef DKMAP_LINALG_SYMM_SYMM_MULTIVEC_H
#define DKMAP_LINALG_SYMM_SYMM_MULTIVEC_H

#include <dkmap/dmat.h>

#include "matrix/multivec.h"
#include "matrix/multivec_map.h"

typedef struct dkm_symm {
    const dkm_dmat *shape; /**< borrowed: the distribution of the elements of K */
    dkm_idx p, width;      /**< columns of V; numbers stored per object, the first p of them used */
    dkm_multivec_map rows, cols;             /**< of V and W, along the rows and the columns of K */
    void *V_rows, *V_cols, *W_rows, *W_cols; /**< width numbers per local row or column */
    double *local; /**< p numbers per local row or column on their way, where those are padded */
} dkm_symm;

/** Columns of V that a product over a matrix of m rows may take at a time. Local; the same on every
 *  rank. */
dkm_idx dkm_symm_max_cols(dkm_idx m);

/** Begin with W = 0 and V = this rank's slab, p columns, row-major.
 *
 *  Collective; dkm_symm_free() frees, also after a failure.
 *
 *  @param[in,out] sweep  zeros, or of an earlier product, whose memory serves again where shape and
 *                        @p p are the same
 *  @param[in] shape  square, in square blocks; its elements are not touched
 *  @param[in] rows   ld = @p ld
 */
DKM_NODISCARD dkm_status dkm_symm_begin(dkm_symm *sweep, const dkm_dmat *shape, dkm_idx p,
                                        const double *rows, dkm_idx ld);

/** Add what an na x nb tile from local place (il, jl) on, column-major, gives to W. Where it
 *  crosses the diagonal it must be zero on the other side; its diagonal elements are set to zero.
 *  Local. */
void dkm_symm_accumulate_tile(dkm_symm *sweep, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb,
                              void *tile, dkm_idx ld);

/** Add all of a matrix that is held, laid out like the shape: its triangle @p uplo ('L' or 'U') is
 *  read, and nothing is written. Local. */
void dkm_symm_accumulate(dkm_symm *sweep, char uplo, const dkm_dmat *K);

/** W, added up over the ranks, as this rank's slab. Collective. */
void dkm_symm_finish(dkm_symm *sweep, double *rows, dkm_idx ld);

void dkm_symm_free(dkm_symm *sweep);

/** W <- K V for a matrix that is held, of which the triangle @p uplo is read. As many columns at a
 *  time as dkm_symm_max_cols() allows. Collective.
 *  @param[out] W  has space for the columns of V, and may be V */
DKM_NODISCARD dkm_status dkm_symm_apply(char uplo, const dkm_dmat *K, const dkm_multivec *V,
                                        dkm_multivec *W);

/** The same, where products with one K follow each other: their memory stays in @p sweep, zeros
 *  before the first, until dkm_symm_free(). Collective. */
DKM_NODISCARD dkm_status dkm_symm_apply_again(dkm_symm *sweep, char uplo, const dkm_dmat *K,
                                              const dkm_multivec *V, dkm_multivec *W);

/** rows <- K rows, this rank's slab of @p p columns, row-major without gaps. Collective. */
DKM_NODISCARD dkm_status dkm_symm_multivec(char uplo, const dkm_dmat *K, dkm_idx p, double *rows);

#endif
