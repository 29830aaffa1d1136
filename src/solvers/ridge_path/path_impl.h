/** @file path_impl.h  One run over a list of gammas, shared by its solvers.
 *
 *  In the dual the system is (K + gamma I) B = T, of order k = m. In the primal it is
 *  (X'X + gamma I) W = X'T, of order k = d; the fit X W then comes from inputs that pass by in
 *  chunks of rows.
 */
#ifndef DKMAP_SOLVERS_RIDGE_PATH_PATH_IMPL_H
#define DKMAP_SOLVERS_RIDGE_PATH_PATH_IMPL_H

#include <dkmap/ridge_path.h>

#include "solvers/operators/linop.h"
#include "solvers/ridge_path/loo.h"

typedef struct dkm_path_run {
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_idx nb, m, k;
    const dkm_path_settings *settings;
    int errors;            /**< wanted */
    const dkm_data *X;     /**< inputs of the primal; NULL in the dual */
    dkm_dmat *A;           /**< K or X'X, lower triangle; a solver destroys it */
    dkm_kernel_op product; /**< multiplies by the same for as long as the run lasts */
    dkm_multivec T;        /**< right-hand sides, m rows */
    dkm_multivec R;        /**< right-hand sides of the system, k rows: in the dual T itself */
    dkm_multivec one; /**< a right-hand side of ones, as the system has it; where means were taken
                       off and errors are wanted */
    dkm_loo loo;
    dkm_path_point *points;
    dkm_idx best;
    dkm_multivec B;       /**< solution for the best gamma, k rows */
    dkm_ridge_info ridge; /**< of it */
} dkm_path_run;

/** What stands for one at a row of this rank's slab: the root of its weight. Local. */
static inline double dkm_path_one(const dkm_path_run *run, dkm_idx row)
{
    return run->settings->roots && row < run->T.n ? run->settings->roots[row] : 1.0;
}

/** Whether the penalty is on the coefficients. */
static inline int dkm_path_penalizes_coefficients(const dkm_path_run *run)
{
    return run->settings->penalty == DKM_PENALTY_COEFFICIENTS;
}

/** The faster solver, or the only one that memory allows. Collective. */
DKM_NODISCARD dkm_status dkm_path_choose_solver(const dkm_path_run *run, dkm_path_solver *solver);

/** Errors of all gammas in run->points, the best one and its solution. Collective. */
DKM_NODISCARD dkm_status dkm_path_by_eigen(dkm_path_run *run);
DKM_NODISCARD dkm_status dkm_path_by_band(dkm_path_run *run);
DKM_NODISCARD dkm_status dkm_path_by_cholesky(dkm_path_run *run);

/** Whether K can be reduced to a band: in the dual, with the penalty on the weights. */
static inline int dkm_path_suits_band(const dkm_path_run *run)
{
    return !run->X && !dkm_path_penalizes_coefficients(run);
}

/** Whether a copy of the matrix is stored for residuals beside @p bytes of other things. Collective.
 */
int dkm_path_stores_matrix(const dkm_path_run *run, double bytes);

/** The error that decides between gammas. Local. */
double dkm_path_error(const dkm_path_run *run, dkm_idx gamma);

/** Put the place of the least error in run->best; fails when none is a number. Collective. */
DKM_NODISCARD dkm_status dkm_path_select_best(dkm_path_run *run);

/** R = what run->B leaves of the right-hand sides of the system, noted in run->ridge. Collective.
 *  @param[in]  largest  eigenvalue of the system's matrix
 *  @param[out] R        initialized with space for as many columns */
DKM_NODISCARD dkm_status dkm_path_residual(dkm_path_run *run, double gamma, double largest,
                                           dkm_multivec *R);

/** Add to run->B the solution of the system with @p R on the right; where R is NULL, take the last one
 *  added off again. Collective. */
typedef dkm_status (*dkm_path_correct)(void *state, const dkm_multivec *R);

/** Correct run->B by the decomposition itself, as long as that shrinks its residual. Collective. */
DKM_NODISCARD dkm_status dkm_path_refine(dkm_path_run *run, double gamma, double largest,
                                         dkm_path_correct correct, void *state);

/** Rows of a chunk of inputs on each rank. Local; the same on every rank. */
dkm_idx dkm_path_chunk(const dkm_path_run *run);
/** The chunk from this rank's row @p first on, of chunk x ranks rows; rows past a rank's slab are
 *  zero. Collective. */
DKM_NODISCARD dkm_status dkm_path_inputs(const dkm_path_run *run, dkm_idx first, dkm_dmat **E);

/** fit <- T - fit for the rows and columns of a piece whose part[0].b is @p fit. Local. */
void dkm_path_complement(const dkm_path_run *run, const dkm_loo_piece *piece, double *fit);

#endif
