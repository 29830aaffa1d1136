/** @file normal_equations.h  Sums over rows of numbers, dense or sparse: X'X and X'T. */
#ifndef DKMAP_SOLVERS_OPERATORS_NORMAL_EQUATIONS_H
#define DKMAP_SOLVERS_OPERATORS_NORMAL_EQUATIONS_H

#include <dkmap/data.h>

#include "matrix/multivec.h"

/** C = X'X, d x d, lower triangle; the strict upper one is left zero.
 *
 *  Collective. Each rank multiplies its own rows; panels of bounded size are added up. Sparse rows
 *  take as many operations as they have pairs of entries.
 *
 *  @param[out] C  new double matrix in blocks of nb, owned by the caller; NULL on failure
 */
DKM_NODISCARD dkm_status dkm_normal_equations_matrix(dkm_grid *grid, const dkm_data *X, dkm_idx nb,
                                                     dkm_dmat **C);

/** R = X'T for T of as many rows as X. Collective.
 *  @param[out] R  slab of d rows with space for the columns of T */
DKM_NODISCARD dkm_status dkm_normal_equations_rhs(const dkm_data *X, const dkm_multivec *T,
                                                  dkm_multivec *R);

/** Rows [first, first + count) of this rank's slab as dense rows of @p d numbers. Rows past the
 *  slab are zero, and so are columns that X does not have; columns past d are left out. Local.
 *  @param[out] rows  count x d numbers, row-major */
void dkm_normal_equations_rows(const dkm_data *X, dkm_idx first, dkm_idx count, dkm_idx d,
                               double *rows);

#endif
