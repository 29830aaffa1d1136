/** @file krr_inverse.h  Solves with the factor of a model of krr, some of whose rows may stand for
 *  examples that were forgotten.
 *
 *  With A = L L' for all rows, E the columns of the identity that name the forgotten ones and Q an
 *  orthonormal basis of the range of L^-1 E, stored as rows,
 *    P = L^-T (I - Q'Q) L^-1
 *  is the inverse of the block of A that the other rows and columns make, and zero elsewhere.
 */
#ifndef DKMAP_MODELS_KRR_KRR_INVERSE_H
#define DKMAP_MODELS_KRR_KRR_INVERSE_H

#include "matrix/dmat_impl.h"
#include "matrix/multivec.h"
#include "models/krr/krr_factor.h"

/** The training inputs in the order of the rows of a factor. Rows that stand for no example have some
 *  input and the weight 0. */
typedef struct dkm_krr_base {
    dkm_idx n, m;              /**< rows and examples */
    dkm_idx *place;            /**< of each row, the example; -1: none. NULL: they are the same */
    dkm_idx *live;             /**< of each example, the row; likewise */
    dkm_fitted_kernel *fitted; /**< the model's, borrowed, or this: */
    dkm_fitted_kernel own;
    dkm_example_weights roots; /**< of their weights; root is NULL where all weigh 1 */
} dkm_krr_base;

/** Collective; dkm_krr_base_close() frees, also after a failure. The factor is open.
 *  @param[in] n  rows: those of the factor, or some more for examples that are added */
DKM_NODISCARD dkm_status dkm_krr_base_open(dkm_krr_base *base, const dkm_krr_factor *factor,
                                           dkm_fitted_kernel *fitted, dkm_idx n);
void dkm_krr_base_close(dkm_krr_base *base);

/** A matrix as rows in slabs, and back, in square blocks of the fitted kernel. Collective. */
DKM_NODISCARD dkm_status dkm_krr_rows_of(const dkm_dmat *A, dkm_data **rows);
DKM_NODISCARD dkm_status dkm_krr_matrix_of(const dkm_fitted_kernel *fitted, const dkm_data *rows,
                                           dkm_dmat **A);

/** The same with the rows as columns. Collective. */
DKM_NODISCARD dkm_status dkm_krr_transpose_of(const dkm_fitted_kernel *fitted, const dkm_data *rows,
                                              dkm_dmat **A);

/** The first rows and columns of @p A, which has the numbers. Local. */
dkm_dmat dkm_krr_leading(const dkm_dmat *A, dkm_idx m, dkm_idx n);
/** Rows [from, from + count) as a matrix of their own. Collective. */
DKM_NODISCARD dkm_status dkm_krr_take_rows(const dkm_dmat *A, dkm_idx from, dkm_idx count,
                                           dkm_dmat **part);

/** Rows per example as rows per row of the factor, zero where that stands for no example. Collective.
 *  @param[out] wide  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_krr_base_give(const dkm_krr_base *base, const dkm_multivec *V,
                                           dkm_data **wide);
/** V <- A', less the rows that stand for no example. Collective. */
DKM_NODISCARD dkm_status dkm_krr_base_take(const dkm_krr_base *base, const dkm_dmat *A,
                                           dkm_multivec *V);

/** B <- B L^-T. Collective; as dkm_factor_rows_solve(), and dkm_factor_rows_solve_back(). */
DKM_NODISCARD dkm_status dkm_krr_factor_forward(const dkm_krr_factor *factor,
                                                const dkm_fitted_kernel *fitted, dkm_idx from,
                                                const dkm_idx *first, dkm_dmat *B);
DKM_NODISCARD dkm_status dkm_krr_factor_back(const dkm_krr_factor *factor,
                                             const dkm_fitted_kernel *fitted, dkm_dmat *B);
/** All rows as a new matrix. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_matrix(const dkm_krr_factor *factor,
                                               const dkm_fitted_kernel *fitted, dkm_dmat **L);
/** B <- B (I - Q'Q), for the columns that Q has. Collective. */
DKM_NODISCARD dkm_status dkm_krr_project(const dkm_dmat *Q, dkm_dmat *B);

/** V <- P V: V has a row per example. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_apply_inverse(const dkm_krr_factor *factor,
                                                      const dkm_krr_base *base, dkm_multivec *V);

#endif
