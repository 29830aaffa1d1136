#include "solve/factor.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/linalg.h"
#include "solve/condition.h"

#define LADDER_START 1e-14

static dkm_ctx *ctx_of(const dkm_factor *f)
{
    return dkm_grid_ctx(dkm_dmat_grid(f->A));
}

double dkm_jitter(double scale, int step)
{
    return step == 0 ? 0.0 : LADDER_START * scale * pow(10.0, step - 1);
}

void dkm_jitter_tell(dkm_ctx *ctx, const char *name, dkm_idx minor, double jitter, int step)
{
    dkm_say(ctx, DKM_WARN,
            "%s is not positive definite (leading minor %lld): adding %.2e to its diagonal, "
            "step %d of the ladder",
            name, (long long)minor, jitter, step);
}

dkm_status dkm_factor_open(dkm_factor *f, dkm_dmat *A, const char *name)
{
    dkm_status status = DKM_OK;

    *f = (dkm_factor){.A = A, .name = name};
    DKM_AGREE(ctx_of(f), dkm_alloc(ctx_of(f), dkm_dmat_local_cols(A), &f->diagonal));
    dkm_dmat_get_diagonal(A, f->diagonal);
    f->mean = fabs(dkm_dmat_mean_diagonal(A));
    DKM_TRY(dkm_largest_eigenvalue(A, &f->largest));
    dkm_la_mirror('L', A);
out:
    return status;
}

static void restore(dkm_factor *f)
{
    if (!f->spoilt)
        return;
    dkm_la_mirror('U', f->A);
    dkm_dmat_set_diagonal(f->A, f->diagonal);
    f->spoilt = 0;
}

dkm_status dkm_factor_at(dkm_factor *f, double gamma)
{
    double jitter = 0;
    dkm_idx minor = 0;

    f->gamma = gamma;
    f->info = (dkm_ridge_info){.precision = "double"};
    for (int step = 0; step <= DKM_JITTER_STEPS; step++) {
        jitter = dkm_jitter(f->mean + gamma, step);
        if (step > 0)
            dkm_jitter_tell(ctx_of(f), f->name, minor, jitter, step);
        restore(f);
        dkm_dmat_shift_diagonal(f->A, gamma + jitter);
        dkm_phase_begin(ctx_of(f), "factor");
        dkm_la_cholesky(f->A, &minor);
        dkm_phase_end(ctx_of(f));
        f->spoilt = 1;
        f->info.jitter = jitter;
        f->info.jitter_steps = step;
        if (minor == 0)
            return DKM_OK;
    }
    return dkm_agree(ctx_of(f), dkm_fail(ctx_of(f), DKM_ERR_NUMERIC,
                                         "%s is not positive definite (leading minor %lld), not "
                                         "even with %.1e added: is the kernel positive definite? "
                                         "use a larger gamma",
                                         f->name, (long long)minor, jitter));
}

void dkm_factor_apply(const dkm_factor *f, dkm_dmat *B)
{
    dkm_la_lower_solve('N', f->A, B);
    dkm_la_lower_solve('T', f->A, B);
}

static dkm_local check_finite(const dkm_factor *f, double residual)
{
    if (isfinite(residual))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx_of(f), DKM_ERR_NUMERIC,
                    "the ridge solution is not finite: the kernel matrix holds infinite or "
                    "undefined values; check the data and the kernel");
}

/* R = Y - (A + gamma I) X from the upper triangle, with the diagonal of A put in and out again. */
static dkm_status measure(dkm_factor *f, const dkm_dmat *X, const dkm_dmat *Y)
{
    dkm_status status = DKM_OK;
    double *factor_diagonal = NULL, norm = dkm_dmat_norm(Y), r;
    dkm_dmat *R = NULL;

    DKM_AGREE(ctx_of(f), dkm_alloc(ctx_of(f), dkm_dmat_local_cols(f->A), &factor_diagonal));
    DKM_TRY(dkm_dmat_convert(Y, dkm_dmat_precision(Y), &R));
    dkm_dmat_get_diagonal(f->A, factor_diagonal);
    dkm_dmat_set_diagonal(f->A, f->diagonal);
    dkm_dmat_shift_diagonal(f->A, f->gamma);
    dkm_la_symm('U', -1.0, f->A, X, 1.0, R);
    dkm_dmat_set_diagonal(f->A, factor_diagonal);
    r = dkm_dmat_norm(R);
    f->info.residual = norm > 0 ? r / norm : r;
    f->info.backward = norm > 0 ? r / ((f->largest + f->gamma) * dkm_dmat_norm(X) + norm) : 0.0;
    DKM_AGREE(ctx_of(f), check_finite(f, f->info.residual));
out:
    dkm_dmat_destroy(&R);
    DKM_FREE(factor_diagonal);
    return status;
}

dkm_status dkm_factor_solve(dkm_factor *f, const dkm_dmat *Y, dkm_dmat **X)
{
    dkm_status status = DKM_OK;
    dkm_dmat *S = NULL;
    double smallest = 0;

    *X = NULL;
    DKM_TRY(dkm_dmat_convert(Y, dkm_dmat_precision(f->A), &S));
    dkm_factor_apply(f, S);
    DKM_TRY(measure(f, S, Y));
    DKM_TRY(dkm_smallest_eigenvalue(f->A, &smallest));
    f->info.condition = (f->largest + f->gamma) / fmax(smallest - f->info.jitter, f->gamma);
    *X = S;
    S = NULL;
out:
    dkm_dmat_destroy(&S);
    return status;
}

/* p(j) = sum over i of L^-1(i, j)^2, this rank's part. */
static void add_columns(const dkm_dmat *L, double *p)
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
static void add_diagonals(const dkm_dmat *G, const dkm_dmat *K, double *p, double *q)
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

void dkm_factor_diagonals(dkm_factor *f, const dkm_dmat *K, double *p, double *q)
{
    MPI_Comm comm = dkm_ctx_comm(ctx_of(f));
    dkm_idx n = f->A->n;

    memset(p, 0, (size_t)n * sizeof *p);
    dkm_la_lower_invert(f->A);
    if (K) {
        memset(q, 0, (size_t)n * sizeof *q);
        dkm_la_lower_square(f->A);
        add_diagonals(f->A, K, p, q);
        MPI_Allreduce(MPI_IN_PLACE, q, (int)n, MPI_DOUBLE, MPI_SUM, comm);
    } else {
        add_columns(f->A, p);
    }
    MPI_Allreduce(MPI_IN_PLACE, p, (int)n, MPI_DOUBLE, MPI_SUM, comm);
}

void dkm_factor_close(dkm_factor *f)
{
    DKM_FREE(f->diagonal);
}
