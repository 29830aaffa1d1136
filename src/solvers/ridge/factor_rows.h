/** @file factor_rows.h  Triangular solves with a Cholesky factor that is read row panel by row panel,
 *  from a model file or from memory, and never held as a whole by those who solve.
 */
#ifndef DKMAP_SOLVERS_RIDGE_FACTOR_ROWS_H
#define DKMAP_SOLVERS_RIDGE_FACTOR_ROWS_H

#include "io/archive/matrix_entry.h"

/** A lower triangle of order n in pieces, all borrowed: rows [0, h) in a file or in a matrix, rows
 *  [h, n) in another matrix. */
typedef struct dkm_factor_rows {
    dkm_grid *grid;
    dkm_idx n, h;
    dkm_idx nb;                   /**< blocks of columns in all of them */
    const dkm_matrix_entry *file; /**< rows of double numbers; or... */
    const dkm_dmat *head;         /**< ...h rows and columns; NULL both: h is 0 */
    const dkm_dmat *tail;         /**< n - h rows of n columns; NULL: h is n */
} dkm_factor_rows;

/** B <- B L^-T: forward substitution with the rows of B.
 *
 *  Collective.
 *
 *  @param[in]     from   the columns of B before it are solved for already: those of the factor that L
 *                        goes on from
 *  @param[in]     first  for each row of B its first column that is not zero, ascending, the same on
 *                        every rank; NULL: 0
 *  @param[in,out] B      double, of n columns or more, of which the first n are solved for, in the
 *                        blocks of columns of L
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_factor_rows_solve(const dkm_factor_rows *L, dkm_idx from,
                                               const dkm_idx *first, dkm_dmat *B);

/** B <- B L^-1: back substitution with the rows of B. Collective; as dkm_factor_rows_solve(). */
DKM_NODISCARD dkm_status dkm_factor_rows_solve_back(const dkm_factor_rows *L, dkm_dmat *B);

/** All rows as one matrix, n x n in square blocks of nb; what lies above the diagonal stays as it is.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_factor_rows_copy(const dkm_factor_rows *L, dkm_dmat *A);

#endif
