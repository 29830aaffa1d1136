/** @file dmat.h  The distributed matrix: m x n numbers, block-cyclic over a process grid.
 *
 *  Element (ig, jg) lies in block (ig / mb, jg / nb), which belongs to the process in grid row
 *  (ig / mb) mod P and grid column (jg / nb) mod Q. Each process keeps its blocks in one
 *  column-major array with a leading dimension. Double or single, chosen at creation.
 */
#ifndef DKMAP_DMAT_H
#define DKMAP_DMAT_H

#include <dkmap/grid.h>

DKM_API_BEGIN

typedef struct dkm_dmat dkm_dmat;

/** Make an m x n matrix in blocks of mb x nb, all zero.
 *
 *  Collective. The grid is borrowed and must outlive the matrix.
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] m  rows, of all ranks
 *  @param[in] n  columns, of all ranks
 *  @param[in] mb  rows of a block, > 0
 *  @param[in] nb  columns of a block, > 0
 *  @param[in] precision  of the elements
 *  @param[out] A  new matrix, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_SIZE when a local array passes what
 *          ScaLAPACK can index (the message says how many ranks would do) */
DKM_NODISCARD dkm_status dkm_dmat_create(dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_idx mb,
                                         dkm_idx nb, dkm_precision precision, dkm_dmat **A);

dkm_grid *dkm_dmat_grid(const dkm_dmat *A);
dkm_idx dkm_dmat_rows(const dkm_dmat *A);
dkm_idx dkm_dmat_cols(const dkm_dmat *A);
dkm_idx dkm_dmat_row_block(const dkm_dmat *A);
dkm_idx dkm_dmat_col_block(const dkm_dmat *A);
dkm_precision dkm_dmat_precision(const dkm_dmat *A);

/** Local rows and columns, leading dimension (at least 1), and the array itself. Local. */
dkm_idx dkm_dmat_local_rows(const dkm_dmat *A);
dkm_idx dkm_dmat_local_cols(const dkm_dmat *A);
dkm_idx dkm_dmat_ld(const dkm_dmat *A);
/** The local array of a double matrix; NULL for a single one. Local. */
double *dkm_dmat_f64(dkm_dmat *A);
const double *dkm_dmat_f64_const(const dkm_dmat *A);
/** The local array of a single matrix; NULL for a double one. Local. */
float *dkm_dmat_f32(dkm_dmat *A);
const float *dkm_dmat_f32_const(const dkm_dmat *A);
/** Global row of local row @p il, and global column of local column @p jl. Local. */
dkm_idx dkm_dmat_global_row(const dkm_dmat *A, dkm_idx il);
dkm_idx dkm_dmat_global_col(const dkm_dmat *A, dkm_idx jl);

/** Set every element to value(user, ig, jg). Local on each rank; not collective. */
void dkm_dmat_fill(dkm_dmat *A, double (*value)(void *user, dkm_idx ig, dkm_idx jg), void *user);

/** Fill A from row slabs, one slab of consecutive rows per rank.
 *
 *  Collective.
 *
 *  @param[out] A  double; every element is set
 *  @param[in] rows  this rank's slab of an m x n matrix (dkm_slab_first), row-major, ld = n
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_dmat_from_rows(dkm_dmat *A, const double *rows);

/** Hand every rank its row slab of A; the inverse of dkm_dmat_from_rows(). Collective.
 *  @param[in] A  double
 *  @param[out] rows  this rank's slab, row-major, ld = n */
DKM_NODISCARD dkm_status dkm_dmat_to_rows(const dkm_dmat *A, double *rows);

/** B = A in another precision, same layout. Collective. */
DKM_NODISCARD dkm_status dkm_dmat_convert(const dkm_dmat *A, dkm_precision precision, dkm_dmat **B);

/** The same for the lower triangle alone; the strict upper one of B is zero and never touched.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_dmat_convert_lower(const dkm_dmat *A, dkm_precision precision,
                                                dkm_dmat **B);

/** A new matrix of the layout of A, with n columns in blocks of nb, all zero. Collective. */
DKM_NODISCARD dkm_status dkm_dmat_create_like(const dkm_dmat *A, dkm_idx n, dkm_idx nb,
                                              dkm_precision precision, dkm_dmat **B);

/** Copy or set the diagonal of a square matrix: @p diagonal holds this rank's local diagonal
 *  elements in local column order (dkm_dmat_local_cols() is always enough). Local. */
void dkm_dmat_get_diagonal(const dkm_dmat *A, double *diagonal);
void dkm_dmat_set_diagonal(dkm_dmat *A, const double *diagonal);
/** A(i, i) += shift. Local. */
void dkm_dmat_shift_diagonal(dkm_dmat *A, double shift);

/** Frobenius norm of A. Collective. */
double dkm_dmat_norm(const dkm_dmat *A);
/** Mean of the diagonal. Collective. */
double dkm_dmat_mean_diagonal(const dkm_dmat *A);

/** Means of the columns of A, all n of them on every rank. Collective.
 *  @param[in] A  double
 *  @param[out] means  n numbers */
DKM_NODISCARD dkm_status dkm_dmat_column_means(const dkm_dmat *A, double *means);
/** A(i, j) += scale * row[j]: @p row holds all n numbers on every rank. Local. */
void dkm_dmat_add_row(dkm_dmat *A, double scale, const double *row);

/** Free the matrix. Local; takes NULL and nulls. */
void dkm_dmat_destroy(dkm_dmat **A);

DKM_API_END

#endif
