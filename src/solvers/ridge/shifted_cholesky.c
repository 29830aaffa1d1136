/* Cholesky factors of A + gamma I for one gamma after another, with jitter added until the
 * factorization succeeds.
 *
 * The lower triangle is factored; the strict upper one and a copy of the diagonal keep A, so that
 * it can be restored and residuals cost no second matrix. The first attempt adds no jitter, the
 * second 1e-14 times the mean diagonal of A + gamma I, and each further one ten times more. For
 * when rounding makes Cholesky fail see Higham 2002, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., ch. 10, doi:10.1137/1.9780898718027.
 *
 * Cost: linalg/factor/potrf.c per attempt, and a transpose of n^2 / (2 ranks) words to restore A.
 */
#include "solvers/ridge/shifted_cholesky.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/dmat_impl.h"
#include "matrix/multivec.h"
#include "solvers/eigen/power_iteration.h"
#include "solvers/ridge/potrf_checkpoint.h"

#define JITTER_START 1e-14

static dkm_ctx *chol_ctx(const dkm_shifted_cholesky *f)
{
    return dkm_grid_ctx(dkm_dmat_grid(f->A));
}

double dkm_jitter(double scale, int step)
{
    return step == 0 ? 0.0 : JITTER_START * scale * pow(10.0, step - 1);
}

void dkm_jitter_report(dkm_ctx *ctx, const char *name, dkm_idx info, double jitter, int step)
{
    dkm_log(ctx, DKM_WARN,
            "%s is not positive definite (leading minor %lld): adding %.2e to its diagonal, "
            "attempt %d",
            name, (long long)info, jitter, step);
}

dkm_status dkm_shifted_cholesky_open(dkm_shifted_cholesky *f, dkm_dmat *A, const char *name)
{
    dkm_status status = DKM_OK;

    *f = (dkm_shifted_cholesky){.A = A, .name = name};
    DKM_AGREE(chol_ctx(f), dkm_alloc(chol_ctx(f), dkm_dmat_local_cols(A), &f->diagonal));
    dkm_dmat_get_diagonal(A, f->diagonal);
    f->mean = fabs(dkm_dmat_mean_diagonal(A));
    dkm_fingerprint_lower(A, f->print);
    DKM_TRY(dkm_largest_eigenvalue(A, &f->largest));
    DKM_TRY(dkm_dmat_symmetrize('L', A));
out:
    return status;
}

dkm_status dkm_shifted_cholesky_restore(dkm_shifted_cholesky *f)
{
    dkm_status status = DKM_OK;

    if (!f->overwritten)
        return DKM_OK;
    DKM_TRY(dkm_dmat_symmetrize('U', f->A));
    dkm_dmat_set_diagonal(f->A, f->diagonal);
    f->overwritten = 0;
out:
    return status;
}

/* Factor A + shift I, or take the factor up where a run before left it. */
static dkm_status chol_factor_shifted(dkm_shifted_cholesky *f, double shift,
                                      dkm_potrf_checkpoint *checkpoint, dkm_idx *info)
{
    dkm_status status = DKM_OK;

    if (checkpoint->from == 0) {
        DKM_TRY(dkm_shifted_cholesky_restore(f));
        dkm_dmat_shift_diagonal(f->A, shift);
    }
    f->overwritten = 1;
    dkm_phase_begin(chol_ctx(f), "factor");
    status = dkm_potrf_checkpoint_factorize(checkpoint, info);
    dkm_phase_end(chol_ctx(f));
out:
    return status;
}

dkm_status dkm_shifted_cholesky_attempt(dkm_shifted_cholesky *f, double shift, dkm_idx *info)
{
    dkm_potrf_checkpoint nothing = {.A = f->A, .stage = "factor for a try"};
    dkm_checkpointer *checkpointer = dkm_checkpointer_pause(chol_ctx(f));
    dkm_status status = chol_factor_shifted(f, shift, &nothing, info);

    dkm_checkpointer_resume(chol_ctx(f), checkpointer);
    return status;
}

dkm_status dkm_shifted_cholesky_factorize(dkm_shifted_cholesky *f, double gamma)
{
    dkm_status status = DKM_OK;
    double jitter = 0;
    dkm_idx info = 0;
    dkm_potrf_checkpoint checkpoint = {.A = f->A, .steps = DKM_JITTER_STEPS};

    f->gamma = gamma;
    f->info = (dkm_ridge_info){.precision = "double"};
    snprintf(checkpoint.stage, sizeof checkpoint.stage, "factor m=%lld gamma=%.12g double A=%s",
             (long long)dkm_dmat_rows(f->A), gamma, f->print);
    DKM_TRY(dkm_potrf_checkpoint_restore(&checkpoint));
    for (int step = (int)checkpoint.meta[0]; step <= DKM_JITTER_STEPS; step++) {
        jitter = dkm_jitter(f->mean + gamma, step);
        if (step > 0 && checkpoint.from == 0)
            dkm_jitter_report(chol_ctx(f), f->name, info, jitter, step);
        checkpoint.meta[0] = step;
        status = chol_factor_shifted(f, gamma + jitter, &checkpoint, &info);
        f->info.jitter = jitter;
        f->info.jitter_steps = step;
        if (status != DKM_OK || info == 0)
            goto out;
    }
    DKM_AGREE(chol_ctx(f),
              dkm_fail(chol_ctx(f), DKM_ERR_NUMERIC,
                       "%s is not positive definite (leading minor %lld), not even with "
                       "%.1e added: is the kernel positive definite? use a larger gamma",
                       f->name, (long long)info, jitter));
out:
    return status;
}

void dkm_shifted_cholesky_apply(const dkm_shifted_cholesky *f, dkm_dmat *B)
{
    dkm_la_trsm('N', f->A, B);
    dkm_la_trsm('T', f->A, B);
}

dkm_status dkm_shifted_cholesky_apply_rows(const dkm_shifted_cholesky *f, dkm_multivec *V)
{
    dkm_status status = DKM_OK;
    dkm_idx p = V->cols;
    dkm_dmat *B = NULL;

    assert(V->ld == V->cols);
    if (p <= DKM_NRHS_BLOCK)
        return dkm_la_potrs_multivec(f->A, p, V->a);
    DKM_TRY(dkm_dmat_create_like(f->A, p, dkm_dmat_row_block(f->A), dkm_dmat_precision(f->A), &B));
    DKM_TRY(dkm_dmat_from_rows(B, V->a));
    dkm_shifted_cholesky_apply(f, B);
    DKM_TRY(dkm_dmat_to_rows(B, V->a));
out:
    dkm_dmat_destroy(&B);
    return status;
}

static dkm_local chol_check_finite(const dkm_shifted_cholesky *f, double residual)
{
    if (isfinite(residual))
        return DKM_LOCAL_OK;
    return dkm_fail(chol_ctx(f), DKM_ERR_NUMERIC,
                    "the ridge solution is not finite: the kernel matrix holds infinite or "
                    "undefined values; check the data and the kernel");
}

/* A slab of the columns of M. Collective. */
static dkm_status chol_rows_of(const dkm_dmat *M, dkm_multivec *slab)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(M));

    DKM_AGREE(ctx, dkm_multivec_init(slab, ctx, dkm_dmat_rows(M), dkm_dmat_cols(M)));
    slab->cols = slab->ld;
    DKM_TRY(dkm_dmat_to_rows(M, slab->a));
out:
    return status;
}

/* W <- A W from the upper triangle, with the diagonal of A put in and out again. */
static dkm_status chol_apply_matrix(dkm_shifted_cholesky *f, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    double *factor_diagonal = NULL;

    DKM_AGREE(chol_ctx(f), dkm_alloc(chol_ctx(f), dkm_dmat_local_cols(f->A), &factor_diagonal));
    dkm_dmat_get_diagonal(f->A, factor_diagonal);
    dkm_dmat_set_diagonal(f->A, f->diagonal);
    status = dkm_symm_apply('U', f->A, W, W);
    dkm_dmat_set_diagonal(f->A, factor_diagonal);
out:
    DKM_FREE(factor_diagonal);
    return status;
}

/* The residual Y - A X - gamma X of a solution. */
static dkm_status chol_measure_residual(dkm_shifted_cholesky *f, const dkm_dmat *X,
                                        const dkm_dmat *Y)
{
    dkm_status status = DKM_OK;
    dkm_multivec x = {0}, y = {0}, r = {0};
    double norm, left;

    DKM_TRY(chol_rows_of(X, &x));
    DKM_TRY(chol_rows_of(Y, &y));
    DKM_TRY(chol_rows_of(X, &r));
    DKM_TRY(chol_apply_matrix(f, &r));
    dkm_multivec_scale(-1.0, &r); /* Y - A X - gamma X */
    dkm_multivec_axpy(1.0, &y, &r);
    dkm_multivec_axpy(-f->gamma, &x, &r);
    norm = dkm_multivec_norm(&y);
    left = dkm_multivec_norm(&r);
    f->info.residual = norm > 0 ? left / norm : left;
    f->info.backward =
        norm > 0 ? left / ((f->largest + f->gamma) * dkm_multivec_norm(&x) + norm) : 0.0;
    DKM_AGREE(chol_ctx(f), chol_check_finite(f, f->info.residual));
out:
    dkm_multivec_free(&r);
    dkm_multivec_free(&y);
    dkm_multivec_free(&x);
    return status;
}

/* dkm_shifted_cholesky_apply(), in a way that suits the number of columns. */
static dkm_status chol_solve_in_place(const dkm_shifted_cholesky *f, dkm_dmat *B)
{
    dkm_status status = DKM_OK;
    dkm_multivec b = {0};

    if (dkm_dmat_cols(B) > DKM_NRHS_BLOCK) {
        dkm_shifted_cholesky_apply(f, B);
        return DKM_OK;
    }
    DKM_TRY(chol_rows_of(B, &b));
    DKM_TRY(dkm_la_potrs_multivec(f->A, b.cols, b.a));
    DKM_TRY(dkm_dmat_from_rows(B, b.a));
out:
    dkm_multivec_free(&b);
    return status;
}

dkm_status dkm_shifted_cholesky_solve(dkm_shifted_cholesky *f, const dkm_dmat *Y, dkm_dmat **X)
{
    dkm_status status = DKM_OK;
    dkm_dmat *S = NULL;
    double smallest = 0;

    *X = NULL;
    DKM_TRY(dkm_dmat_convert(Y, dkm_dmat_precision(f->A), &S));
    DKM_TRY(chol_solve_in_place(f, S));
    DKM_TRY(chol_measure_residual(f, S, Y));
    DKM_TRY(dkm_smallest_eigenvalue(f->A, &smallest));
    f->info.condition = (f->largest + f->gamma) / fmax(smallest - f->info.jitter, f->gamma);
    *X = S;
    S = NULL;
out:
    dkm_dmat_destroy(&S);
    return status;
}

/* p(j) = sum over i of L^-1(i, j)^2, this rank's part. */
static void inverse_diagonal_columns(const dkm_dmat *L, double *p)
{
    for (dkm_idx jl = 0; jl < L->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(L, jl);
        for (dkm_idx il = 0; il < L->m_loc; il++) {
            double l = dkm_dmat_at(L, il, jl);
            if (dkm_dmat_global_row(L, il) >= jg)
                p[jg] += l * l;
        }
    }
}

/* p = the diagonal of the symmetric G, q that of K G, this rank's parts; G is its lower triangle.
 */
static void chol_add_diagonals(const dkm_dmat *G, const dkm_dmat *K, double *p, double *q)
{
    for (dkm_idx jl = 0; jl < G->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(G, jl);
        for (dkm_idx il = 0; il < G->m_loc; il++) {
            dkm_idx ig = dkm_dmat_global_row(G, il);
            double g = dkm_dmat_at(G, il, jl), gk = g * dkm_dmat_at(K, il, jl);
            if (ig < jg)
                continue;
            q[jg] += gk;
            if (ig > jg)
                q[ig] += gk;
            else
                p[jg] += g;
        }
    }
}

void dkm_shifted_cholesky_diagonals(dkm_shifted_cholesky *f, const dkm_dmat *K, double *p,
                                    double *q)
{
    MPI_Comm comm = dkm_ctx_comm(chol_ctx(f));
    dkm_idx n = f->A->n;

    memset(p, 0, (size_t)n * sizeof *p);
    dkm_la_trtri(f->A);
    if (K) {
        memset(q, 0, (size_t)n * sizeof *q);
        dkm_la_lauum(f->A);
        chol_add_diagonals(f->A, K, p, q);
        MPI_Allreduce(MPI_IN_PLACE, q, (int)n, MPI_DOUBLE, MPI_SUM, comm);
    } else {
        inverse_diagonal_columns(f->A, p);
    }
    MPI_Allreduce(MPI_IN_PLACE, p, (int)n, MPI_DOUBLE, MPI_SUM, comm);
}

void dkm_shifted_cholesky_close(dkm_shifted_cholesky *f)
{
    DKM_FREE(f->diagonal);
}
