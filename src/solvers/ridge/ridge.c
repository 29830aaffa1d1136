/* Ridge systems with a matrix that is given: (K + gamma I) B = Y by one shifted Cholesky
 * factorization (shifted_cholesky.c), with the residual of the solution. Cost: m^3 / 3 flops, 4
 * m^2 p for the solution and its residual, over all ranks. */
#include <dkmap/ridge.h>

#include <math.h>

#include "core/uniform.h"
#include "solvers/ridge/shifted_cholesky.h"

static dkm_local check_system(dkm_ctx *ctx, const dkm_dmat *K, double gamma, const dkm_dmat *Y)
{
    if (!(gamma > 0) || !isfinite(gamma))
        return dkm_fail(ctx, DKM_ERR_ARG, "gamma = %g: the ridge must be a number above 0", gamma);
    if (dkm_dmat_rows(K) != dkm_dmat_cols(K) || dkm_dmat_row_block(K) != dkm_dmat_col_block(K))
        return dkm_fail(ctx, DKM_ERR_ARG, "the ridge matrix must be square, in square blocks");
    if (dkm_dmat_rows(Y) != dkm_dmat_rows(K))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the ridge matrix has %lld rows and the right-hand sides have %lld: they "
                        "must match",
                        (long long)dkm_dmat_rows(K), (long long)dkm_dmat_rows(Y));
    if (dkm_dmat_row_block(Y) != dkm_dmat_row_block(K))
        return dkm_fail(
            ctx, DKM_ERR_ARG,
            "the ridge matrix is in blocks of %lld rows and the right-hand sides are in "
            "blocks of %lld: they must match",
            (long long)dkm_dmat_row_block(K), (long long)dkm_dmat_row_block(Y));
    return DKM_LOCAL_OK;
}

dkm_status dkm_ridge_solve(dkm_dmat *K, double gamma, const dkm_dmat *Y, dkm_dmat **B,
                           dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    dkm_shifted_cholesky factor = {0};

    *B = NULL;
    dkm_phase_begin(ctx, "solve");
    DKM_AGREE(ctx, check_system(ctx, K, gamma, Y));
    DKM_CHECK_UNIFORM(ctx, gamma);
    DKM_TRY(dkm_shifted_cholesky_open(&factor, K, "K + gamma I"));
    DKM_TRY(dkm_shifted_cholesky_factorize(&factor, gamma));
    DKM_TRY(dkm_shifted_cholesky_solve(&factor, Y, B));
    if (info)
        *info = factor.info;
out:
    dkm_phase_end(ctx);
    dkm_shifted_cholesky_close(&factor);
    return status;
}
