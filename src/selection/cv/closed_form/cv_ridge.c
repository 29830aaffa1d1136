/* F = K(test, train) (K(train, train) + gamma I)^-1 T for a list of gammas. A factor for each, or
 * one eigendecomposition K = V diag(l) V' for all: F = (K(test, train) V) diag(1 / (l + gamma))
 * (V'T), or what one inverse gives for all splits (cv_inverse.c).
 *
 * Cost per split of n training and s test examples, t columns and g gammas: g n^3 / 3 flops by
 * factors, about 9 n^3 and 2 g n s t by the eigendecomposition; over the ranks of the group. */
#include <math.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "selection/cv/closed_form/cv_ridge.h"
#include "solvers/eigen/eigen_autotune.h"
#include "solvers/ridge/shifted_cholesky.h"

dkm_local dkm_cv_ridge_check(dkm_ctx *ctx, const dkm_cv_problem *problem)
{
    const dkm_cv_ridge *r = problem->options;

    if (r->gammas < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "there is no gamma to try");
    for (dkm_idx g = 0; g < r->gammas; g++)
        if (!(r->gamma[g] > 0) || !isfinite(r->gamma[g]))
            return dkm_fail(ctx, DKM_ERR_ARG, "gamma = %g: the ridge must be a number above 0",
                            r->gamma[g]);
    return DKM_LOCAL_OK;
}

static int gamma_wanted(const dkm_cv_cell *cell, dkm_idx g)
{
    const dkm_cv_ridge *r = cell->problem->options;

    for (dkm_idx s = g; s < cell->problem->settings; s += r->gammas)
        if (dkm_cv_wanted(cell, s))
            return 1;
    return 0;
}

static dkm_idx count_gammas_wanted(const dkm_cv_cell *cell)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_idx count = 0;

    for (dkm_idx g = 0; g < r->gammas; g++)
        count += gamma_wanted(cell, g);
    return count;
}

/* F = C B, for the method to take. */
static dkm_status cv_ridge_hand_over(dkm_cv_cell *cell, const dkm_dmat *C, const dkm_dmat *B,
                                     dkm_idx g, dkm_cv_visit_predictions take, void *state)
{
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;

    DKM_TRY(dkm_dmat_create_like(C, B->n, B->nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, C, B, 0.0, F);
    DKM_TRY(take(cell, state, g, F));
out:
    dkm_dmat_destroy(&F);
    return status;
}

/* For the gammas from number @p first on. */
static dkm_status cv_ridge_by_cholesky(dkm_cv_cell *cell, dkm_dmat *A, const dkm_dmat *C,
                                       const dkm_dmat *T, dkm_cv_visit_predictions take,
                                       void *state, dkm_idx first)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_status status = DKM_OK;
    dkm_shifted_cholesky factor = {0};
    dkm_dmat *B = NULL;

    DKM_TRY(dkm_shifted_cholesky_open(&factor, A, "K + gamma I"));
    for (dkm_idx g = first; g < r->gammas; g++) {
        if (!gamma_wanted(cell, g))
            continue;
        DKM_TRY(dkm_shifted_cholesky_factorize(&factor, r->gamma[g]));
        DKM_TRY(dkm_dmat_convert(T, DKM_F64, &B));
        dkm_shifted_cholesky_apply(&factor, B);
        DKM_TRY(cv_ridge_hand_over(cell, C, B, g, take, state));
        dkm_dmat_destroy(&B);
    }
out:
    dkm_dmat_destroy(&B);
    dkm_shifted_cholesky_close(&factor);
    return status;
}

/* B = T' L^-T L^-1, one row a column of T, for A + gamma I = L L', which takes the place of A.
 * @return 0, or the leading minor that is not positive definite */
static int solve_alone(dkm_dmat *A, const dkm_dmat *T, double gamma, double *B)
{
    dkm_idx n = A->n, p = T->n;
    int minor;

    for (dkm_idx i = 0; i < n; i++)
        A->a.f64[i * A->ld + i] += gamma;
    for (dkm_idx j = 0; j < p; j++)
        for (dkm_idx i = 0; i < n; i++)
            B[i * p + j] = dkm_dmat_at(T, i, j);
    minor = dkm_blas_potrf(DKM_F64, n, A->a.f64, A->ld);
    if (minor == 0) {
        dkm_blas_trsm_right(DKM_F64, 'T', p, n, A->a.f64, A->ld, B, p);
        dkm_blas_trsm_right(DKM_F64, 'N', p, n, A->a.f64, A->ld, B, p);
    }
    return minor;
}

/* F = C B', B of p x n, for the method to take. */
static dkm_status take_alone(dkm_cv_cell *cell, const dkm_dmat *C, dkm_idx p, const double *B,
                             dkm_idx g, dkm_cv_visit_predictions take, void *state)
{
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;

    DKM_TRY(dkm_dmat_create_like(C, p, cell->nb, DKM_F64, &F));
    dkm_blas_gemm(DKM_F64, 'N', 'T', C->m, p, C->n, 1.0, dkm_dmat_f64_const(C), dkm_dmat_ld(C), B,
                  p, 0.0, dkm_dmat_f64(F), dkm_dmat_ld(F));
    DKM_TRY(take(cell, state, g, F));
out:
    dkm_dmat_destroy(&F);
    return status;
}

/* As cv_ridge_by_cholesky() on a group of one rank, without the layers that many ranks need: A is
 * filled anew for each gamma, so that the factor takes no other memory. Ends early, at @p next, where a
 * matrix has no factor: jitter is added as in cv_ridge_by_cholesky()'s. */
static dkm_status by_blas(dkm_cv_cell *cell, dkm_dmat *A, const dkm_dmat *C, const dkm_dmat *T,
                          dkm_cv_visit_predictions take, void *state, dkm_idx *next)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    int minor = 0, used = 0;
    double *B = NULL;

    dkm_blas_use_threads(ctx);
    DKM_AGREE(ctx, dkm_alloc(ctx, A->n * T->n, &B));
    for (*next = 0; *next < r->gammas; ++*next) {
        if (!gamma_wanted(cell, *next))
            continue;
        if (used)
            dkm_cv_submatrix_fill(cell->K, &cell->train, &cell->train, A);
        used = 1;
        minor = solve_alone(A, T, r->gamma[*next], B);
        if (minor != 0)
            break;
        DKM_TRY(take_alone(cell, C, T->n, B, *next, take, state));
    }
    if (minor != 0)
        dkm_cv_submatrix_fill(cell->K, &cell->train, &cell->train, A);
out:
    DKM_FREE(B);
    return status;
}

/* B(i, .) = P(i, .) / (l_i + gamma); eigenvalues that rounding made negative are zero. */
static void cv_ridge_divide(const dkm_dmat *P, const double *l, double gamma, dkm_dmat *B)
{
    for (dkm_idx jl = 0; jl < B->n_loc; jl++)
        for (dkm_idx il = 0; il < B->m_loc; il++) {
            double by = fmax(l[dkm_dmat_global_row(B, il)], 0.0) + gamma;
            dkm_dmat_put(B, il, jl, dkm_dmat_at(P, il, jl) / by);
        }
}

static dkm_status cv_ridge_by_eigen(dkm_cv_cell *cell, dkm_dmat *A, const dkm_dmat *C,
                                    const dkm_dmat *T, dkm_cv_visit_predictions take, void *state)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL, *D = NULL, *P = NULL, *B = NULL;
    double *l = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, A->n, &l));
    DKM_TRY(dkm_dmat_create_like(C, A->n, A->nb, DKM_F64, &D));
    DKM_TRY(dkm_dmat_create_like(T, T->n, T->nb, DKM_F64, &P));
    DKM_TRY(dkm_dmat_create_like(T, T->n, T->nb, DKM_F64, &B));
    DKM_TRY(dkm_eigen_choose_library(A, &library));
    DKM_TRY(dkm_la_syevd(A, &library, l, &V));
    dkm_la_gemm('N', 'N', 1.0, C, V, 0.0, D);
    dkm_la_gemm('T', 'N', 1.0, V, T, 0.0, P);
    for (dkm_idx g = 0; g < r->gammas; g++) {
        if (!gamma_wanted(cell, g))
            continue;
        cv_ridge_divide(P, l, r->gamma[g], B);
        DKM_TRY(cv_ridge_hand_over(cell, D, B, g, take, state));
    }
out:
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&P);
    dkm_dmat_destroy(&D);
    dkm_dmat_destroy(&V);
    DKM_FREE(l);
    return status;
}

dkm_status dkm_cv_ridge_each(dkm_cv_cell *cell, const dkm_cv_targets *targets,
                             dkm_cv_visit_predictions take, void *state)
{
    const dkm_cv_ridge *r = cell->problem->options;
    const dkm_dmat *T = targets->T;
    int many = cell->id.only < 0 && count_gammas_wanted(cell) > DKM_CV_EIGEN_PAYS, done = 0;
    dkm_status status = DKM_OK;
    dkm_idx next = 0;
    dkm_dmat *A = NULL, *C = NULL;

    DKM_TRY(dkm_cv_inverse_try(cell, targets, take, state, &done));
    if (done)
        goto out;
    DKM_TRY(dkm_cv_submatrix(cell, cell->K, &cell->train, &cell->train, &A));
    DKM_TRY(dkm_cv_submatrix(cell, cell->K, &cell->test, &cell->train, &C));
    if (many)
        DKM_TRY(cv_ridge_by_eigen(cell, A, C, T, take, state));
    else if (dkm_ctx_size(cell->group->ctx) == 1)
        DKM_TRY(by_blas(cell, A, C, T, take, state, &next));
    if (!many && next < r->gammas)
        DKM_TRY(cv_ridge_by_cholesky(cell, A, C, T, take, state, next));
out:
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&A);
    return status;
}
