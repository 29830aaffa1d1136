/* Both triangles of K are put to use: the lower one is factored, the strict upper one and a copy of
 * the diagonal keep the matrix, so that a failed factorisation can start again and the residual
 * costs no second matrix. */
#include <dkmap/ridge.h>

#include <math.h>

#include "core/alloc.h"
#include "scalapack/linalg.h"
#include "solve/condition.h"

#define LADDER_START 1e-14 /* of the mean diagonal element */
#define LADDER_STEPS 12

static dkm_local check_system(dkm_ctx *ctx, const dkm_dmat *K, double gamma, const dkm_dmat *Y)
{
    if (!(gamma > 0) || !isfinite(gamma))
        return dkm_fail(ctx, DKM_ERR_ARG, "gamma = %g: the ridge must be a number above 0", gamma);
    if (dkm_dmat_rows(K) != dkm_dmat_cols(K) || dkm_dmat_row_block(K) != dkm_dmat_col_block(K))
        return dkm_fail(ctx, DKM_ERR_ARG, "the ridge matrix must be square, in square blocks");
    if (dkm_dmat_rows(Y) != dkm_dmat_rows(K) || dkm_dmat_row_block(Y) != dkm_dmat_row_block(K))
        return dkm_fail(ctx, DKM_ERR_ARG, "a ridge system of %lld equations with %lld right sides",
                        (long long)dkm_dmat_rows(K), (long long)dkm_dmat_rows(Y));
    return DKM_LOCAL_OK;
}

/* Factor K + gamma I, adding jitter until it works. @p diagonal keeps that of K. */
static dkm_status factor(dkm_dmat *K, double gamma, const double *diagonal, dkm_ridge_info *info)
{
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    double scale = fabs(dkm_dmat_mean_diagonal(K)) + gamma, jitter = 0;
    dkm_idx minor = 0;

    dkm_la_mirror('L', K);
    for (int step = 0; step <= LADDER_STEPS; step++) {
        if (step > 0) {
            jitter = step == 1 ? LADDER_START * scale : 10.0 * jitter;
            dkm_say(ctx, DKM_WARN,
                    "K + gamma I is not positive definite (leading minor %lld): "
                    "adding %.2e to its diagonal, step %d of the ladder",
                    (long long)minor, jitter, step);
            dkm_la_mirror('U', K);
            dkm_dmat_set_diagonal(K, diagonal);
        }
        dkm_dmat_shift_diagonal(K, gamma + jitter);
        dkm_phase_begin(ctx, "factor");
        dkm_la_cholesky(K, &minor);
        dkm_phase_end(ctx);
        info->jitter = jitter;
        info->jitter_steps = step;
        if (minor == 0)
            return DKM_OK;
    }
    return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_NUMERIC,
                                   "K + gamma I is not positive definite (leading minor %lld), not "
                                   "even with %.1e added: is the kernel positive definite? use a "
                                   "larger gamma",
                                   (long long)minor, jitter));
}

/* R = Y - (K + gamma I) B from the upper triangle, with the diagonal of K put in and out again. */
static dkm_status residual(dkm_dmat *K, double gamma, double *diagonal, const dkm_dmat *B,
                           const dkm_dmat *Y, double *relative)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    double *factor_diagonal = NULL, norm = dkm_dmat_norm(Y), r;
    dkm_dmat *R = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_dmat_local_cols(K), &factor_diagonal));
    DKM_TRY(dkm_dmat_convert(Y, dkm_dmat_precision(Y), &R));
    dkm_dmat_get_diagonal(K, factor_diagonal);
    dkm_dmat_set_diagonal(K, diagonal);
    dkm_dmat_shift_diagonal(K, gamma);
    dkm_la_symm('U', -1.0, K, B, 1.0, R);
    dkm_dmat_set_diagonal(K, factor_diagonal);
    r = dkm_dmat_norm(R);
    *relative = norm > 0 ? r / norm : r;
    if (!isfinite(*relative))
        DKM_AGREE(ctx, dkm_fail(ctx, DKM_ERR_NUMERIC,
                                "the ridge solution is not finite: the kernel matrix holds "
                                "infinite or undefined values; check the data and the kernel"));
out:
    dkm_dmat_destroy(&R);
    DKM_FREE(factor_diagonal);
    return status;
}

dkm_status dkm_ridge_solve(dkm_dmat *K, double gamma, const dkm_dmat *Y, dkm_dmat **B,
                           dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    dkm_ridge_info own = {.precision = "double"};
    double *diagonal = NULL, largest = 0, smallest = 0, norm = dkm_dmat_norm(Y);
    dkm_dmat *X = NULL;

    *B = NULL;
    dkm_phase_begin(ctx, "solve");
    DKM_AGREE(ctx, check_system(ctx, K, gamma, Y));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_dmat_local_cols(K), &diagonal));
    dkm_dmat_get_diagonal(K, diagonal);
    DKM_TRY(dkm_largest_eigenvalue(K, &largest));
    DKM_TRY(factor(K, gamma, diagonal, &own));
    DKM_TRY(dkm_dmat_convert(Y, dkm_dmat_precision(K), &X));
    dkm_la_lower_solve('N', K, X);
    dkm_la_lower_solve('T', K, X);
    DKM_TRY(residual(K, gamma, diagonal, X, Y, &own.residual));
    DKM_TRY(dkm_smallest_eigenvalue(K, &smallest));
    own.backward =
        norm > 0 ? own.residual * norm / ((largest + gamma) * dkm_dmat_norm(X) + norm) : 0.0;
    own.condition = (largest + gamma) / fmax(smallest - own.jitter, gamma);
    if (info)
        *info = own;
    *B = X;
    X = NULL;
out:
    dkm_phase_end(ctx);
    dkm_dmat_destroy(&X);
    DKM_FREE(diagonal);
    return status;
}
