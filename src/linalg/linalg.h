/** @file linalg.h  Dense algebra on distributed matrices, in either precision.
 *
 *  All matrices of one call share a grid and a precision, and their blocks fit each other. Every
 *  call is collective on the context of the grid: ranks outside the grid take part in agreement and
 *  do nothing else.
 */
#ifndef DKMAP_LINALG_LINALG_H
#define DKMAP_LINALG_LINALG_H

#include <dkmap/dmat.h>

#include "linalg/kernels/gemm_tallskinny.h"
#include "matrix/symmetrize.h"

/** C = alpha op(A) op(B) + beta C, op by 'N' or 'T'. */
void dkm_la_gemm(char ta, char tb, double alpha, const dkm_dmat *A, const dkm_dmat *B, double beta,
                 dkm_dmat *C);

/** C = alpha A B + beta C with A symmetric, given by its @p uplo triangle ('L' or 'U'). */
void dkm_la_symm(char uplo, double alpha, const dkm_dmat *A, const dkm_dmat *B, double beta,
                 dkm_dmat *C);

/** C = alpha A' A + beta C ('T') or alpha A A' + beta C ('N'), lower triangle. */
void dkm_la_syrk(char trans, double alpha, const dkm_dmat *A, double beta, dkm_dmat *C);

/** B = A'. B has the shape of A' and blocks nb x mb. */
void dkm_la_transpose(const dkm_dmat *A, dkm_dmat *B);

/** B = the columns of A from @p first on, as many as B has. Rows are in the same blocks. */
void dkm_la_lacpy_cols(const dkm_dmat *A, dkm_idx first, dkm_dmat *B);

/** A row and a column. */
typedef struct dkm_place {
    dkm_idx i, j;
} dkm_place;

/** m x n elements of B from @p to on = those of A from @p from on, wherever blocks end. */
void dkm_la_lacpy(const dkm_dmat *A, dkm_place from, dkm_dmat *B, dkm_place to, dkm_idx m,
                  dkm_idx n);

/** A = L L' in place, lower triangle; the strict upper one is neither read nor written.
 *
 *  @param[out] info  0, or the order of the first leading minor that is not positive definite, in
 *                     which case the lower triangle of A is overwritten; the same on every rank
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_la_potrf(dkm_dmat *A, dkm_idx *info);

/** Looks on while a matrix is factored, panel of columns by panel. */
typedef struct dkm_la_monitor {
    void *user;
    /** Whether it wants to see the state with @p done columns. Collective, the same on all ranks.
     */
    int (*want)(void *user, dkm_idx done);
    /** The first @p done columns are those of the factor; the rest is what is left to be factored.
     *  Collective; what it returns, other than DKM_OK, ends the factorization there. */
    dkm_status (*on_panel)(void *user, dkm_idx done);
} dkm_la_monitor;

/** The same from a state in which @p from columns were done, a multiple of the block size.
 *  @return also what @p monitor returns, which may be NULL */
DKM_NODISCARD dkm_status dkm_la_potrf_from(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                                           dkm_idx *info);

/** B = op(L)^-1 B with L the lower triangle of A, op by 'N' or 'T'. */
void dkm_la_trsm(char trans, const dkm_dmat *L, dkm_dmat *B);

/** rows = (L L')^-1 rows for columns spread as row slabs: row-major, ld = p. L is read once for every
 *  DKM_NRHS_BLOCK of them; for many columns dkm_la_trsm() is faster. Each rank holds all rows of a block
 *  of columns for as long as it lasts.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_la_potrs_multivec(const dkm_dmat *L, dkm_idx p, double *rows);

/** B = B L^-T with L the lower triangle of A; the columns of B are in blocks like those of L. */
void dkm_la_trsm_right(const dkm_dmat *L, dkm_dmat *B);

/** L <- L^-1 in place, lower triangle; the strict upper one is neither read nor written. Its
 *  diagonal has no zeros. */
void dkm_la_trtri(dkm_dmat *L);

/** The lower triangle of L'L in place of the lower triangle L; the strict upper one stays. */
void dkm_la_lauum(dkm_dmat *L);

/** L = (L L')^-1, lower triangle. */
void dkm_la_potri(dkm_dmat *L);

#endif
