#include "solve/factor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/linalg.h"
#include "scalapack/sweep.h"
#include "solve/condition.h"
#include "solve/kept.h"
#include "solve/slab.h"

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
    dkm_fingerprint_lower(A, f->print);
    DKM_TRY(dkm_largest_eigenvalue(A, &f->largest));
    DKM_TRY(dkm_la_mirror('L', A));
out:
    return status;
}

dkm_status dkm_factor_restore(dkm_factor *f)
{
    dkm_status status = DKM_OK;

    if (!f->spoilt)
        return DKM_OK;
    DKM_TRY(dkm_la_mirror('U', f->A));
    dkm_dmat_set_diagonal(f->A, f->diagonal);
    f->spoilt = 0;
out:
    return status;
}

/* Factor A + shift I, or take the factor up where a run before left it. */
static dkm_status factor_shifted(dkm_factor *f, double shift, dkm_kept *kept, dkm_idx *minor)
{
    dkm_status status = DKM_OK;

    if (kept->from == 0) {
        DKM_TRY(dkm_factor_restore(f));
        dkm_dmat_shift_diagonal(f->A, shift);
    }
    f->spoilt = 1;
    dkm_phase_begin(ctx_of(f), "factor");
    status = dkm_kept_cholesky(kept, minor);
    dkm_phase_end(ctx_of(f));
out:
    return status;
}

dkm_status dkm_factor_try(dkm_factor *f, double shift, dkm_idx *minor)
{
    dkm_kept nothing = {.A = f->A, .stage = "factor for a try"};
    dkm_keeper *keeper = dkm_keep_pause(ctx_of(f));
    dkm_status status = factor_shifted(f, shift, &nothing, minor);

    dkm_keep_again(ctx_of(f), keeper);
    return status;
}

dkm_status dkm_factor_at(dkm_factor *f, double gamma)
{
    dkm_status status = DKM_OK;
    double jitter = 0;
    dkm_idx minor = 0;
    dkm_kept kept = {.A = f->A};

    f->gamma = gamma;
    f->info = (dkm_ridge_info){.precision = "double"};
    snprintf(kept.stage, sizeof kept.stage, "factor m=%lld gamma=%.12g double A=%s",
             (long long)dkm_dmat_rows(f->A), gamma, f->print);
    DKM_TRY(dkm_kept_find(&kept));
    for (int step = (int)kept.notes[0]; step <= DKM_JITTER_STEPS; step++) {
        jitter = dkm_jitter(f->mean + gamma, step);
        if (step > 0 && kept.from == 0)
            dkm_jitter_tell(ctx_of(f), f->name, minor, jitter, step);
        kept.notes[0] = step;
        status = factor_shifted(f, gamma + jitter, &kept, &minor);
        f->info.jitter = jitter;
        f->info.jitter_steps = step;
        if (status != DKM_OK || minor == 0)
            goto out;
    }
    DKM_AGREE(ctx_of(f), dkm_fail(ctx_of(f), DKM_ERR_NUMERIC,
                                  "%s is not positive definite (leading minor %lld), not even with "
                                  "%.1e added: is the kernel positive definite? use a larger gamma",
                                  f->name, (long long)minor, jitter));
out:
    return status;
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

/* A slab of the columns of M. Collective. */
static dkm_status slab_of(const dkm_dmat *M, dkm_slab *slab)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(M));

    DKM_AGREE(ctx, dkm_slab_init(slab, ctx, dkm_dmat_rows(M), dkm_dmat_cols(M)));
    slab->cols = slab->ld;
    DKM_TRY(dkm_dmat_to_rows(M, slab->a));
out:
    return status;
}

/* W <- A W from the upper triangle, with the diagonal of A put in and out again. */
static dkm_status multiply(dkm_factor *f, dkm_slab *W)
{
    dkm_status status = DKM_OK;
    double *factor_diagonal = NULL;

    DKM_AGREE(ctx_of(f), dkm_alloc(ctx_of(f), dkm_dmat_local_cols(f->A), &factor_diagonal));
    dkm_dmat_get_diagonal(f->A, factor_diagonal);
    dkm_dmat_set_diagonal(f->A, f->diagonal);
    status = dkm_sweep_rows('U', f->A, W->cols, W->a);
    dkm_dmat_set_diagonal(f->A, factor_diagonal);
out:
    DKM_FREE(factor_diagonal);
    return status;
}

/* The residual Y - A X - gamma X of a solution. */
static dkm_status measure(dkm_factor *f, const dkm_dmat *X, const dkm_dmat *Y)
{
    dkm_status status = DKM_OK;
    dkm_slab x = {0}, y = {0}, r = {0};
    double norm, left;

    DKM_TRY(slab_of(X, &x));
    DKM_TRY(slab_of(Y, &y));
    DKM_TRY(slab_of(X, &r));
    DKM_TRY(multiply(f, &r));
    for (dkm_idx i = 0; i < r.n * r.ld; i++)
        r.a[i] = y.a[i] - r.a[i] - f->gamma * x.a[i];
    norm = dkm_slab_norm(&y);
    left = dkm_slab_norm(&r);
    f->info.residual = norm > 0 ? left / norm : left;
    f->info.backward = norm > 0 ? left / ((f->largest + f->gamma) * dkm_slab_norm(&x) + norm) : 0.0;
    DKM_AGREE(ctx_of(f), check_finite(f, f->info.residual));
out:
    dkm_slab_free(&r);
    dkm_slab_free(&y);
    dkm_slab_free(&x);
    return status;
}

/* dkm_factor_apply(), in a way that suits the number of columns. */
static dkm_status solve_in_place(const dkm_factor *f, dkm_dmat *B)
{
    dkm_status status = DKM_OK;
    dkm_slab b = {0};

    if (dkm_dmat_cols(B) > DKM_LANES) {
        dkm_factor_apply(f, B);
        return DKM_OK;
    }
    DKM_TRY(slab_of(B, &b));
    DKM_TRY(dkm_la_narrow_solve(f->A, b.cols, b.a));
    DKM_TRY(dkm_dmat_from_rows(B, b.a));
out:
    dkm_slab_free(&b);
    return status;
}

dkm_status dkm_factor_solve(dkm_factor *f, const dkm_dmat *Y, dkm_dmat **X)
{
    dkm_status status = DKM_OK;
    dkm_dmat *S = NULL;
    double smallest = 0;

    *X = NULL;
    DKM_TRY(dkm_dmat_convert(Y, dkm_dmat_precision(f->A), &S));
    DKM_TRY(solve_in_place(f, S));
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
