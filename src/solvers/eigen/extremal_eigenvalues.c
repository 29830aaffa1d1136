/* Both ends of the spectrum of a symmetric matrix, by block Lanczos: the leading pair of K, then
 * that of c I - K with c just above it (a spectral flip).
 *
 * Estimates are Rayleigh quotients and lie within the spectrum, so a value below zero proves, up to
 * rounding, that K is not positive semidefinite. For the error from a random start see Kuczynski
 * and Wozniakowski 1992, SIAM J. Matrix Anal. Appl. 13(4):1094-1122, doi:10.1137/0613066. Cost: a
 * few dozen products of K with 8 vectors. */
#include <math.h>
#include <stdio.h>

#include <dkmap/psd.h>

#include "solvers/krylov/block_lanczos.h"
#include "solvers/operators/fingerprint.h"
#include "solvers/operators/linop.h"

#define MAX_RESTARTS 20
#define BLOCK        8
#define TOLERANCE    1e-6 /* of a residual; eigenvalues are right to its square */
#define SHIFT_MARGIN 1.001
#define ROUNDING     1e-7 /* of the largest eigenvalue: what single precision may have lost */

/* Of scale K + shift I; @p print is of K. */
static dkm_status extremal_leading(dkm_kernel_op *s, const char *print, double *value)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(s->K));
    char name[DKM_FINGERPRINT_LENGTH + 64];
    dkm_block_lanczos_settings settings = {.m = dkm_dmat_rows(s->K),
                                           .components = 1,
                                           .block = BLOCK,
                                           .tolerance = TOLERANCE,
                                           .max_rounds = MAX_RESTARTS,
                                           .grid = dkm_dmat_grid(s->K),
                                           .name = name};
    const dkm_linop A = {dkm_kernel_op_apply, s};
    dkm_block_lanczos_outcome outcome;
    dkm_multivec vector = {0};

    snprintf(name, sizeof name, "%.8g K + %.8g I, K=%s", s->scale, s->shift, print);
    DKM_AGREE(ctx, dkm_multivec_init(&vector, ctx, settings.m, 1));
    DKM_TRY(dkm_block_lanczos(ctx, &settings, &A, NULL, value, &vector, &outcome));
out:
    dkm_multivec_free(&vector);
    return status;
}

dkm_status dkm_extremal_eigenvalues(const dkm_dmat *K, double *smallest, double *largest)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    dkm_kernel_op s = {.grid = dkm_dmat_grid(K), .nb = dkm_dmat_row_block(K), .K = K};
    char print[DKM_FINGERPRINT_LENGTH];
    double norm = dkm_dmat_norm(K), below = 0;

    *smallest = *largest = 0;
    if (!(norm > 0))
        return DKM_OK;
    dkm_phase_begin(ctx, "bounds");
    dkm_fingerprint_lower(K, print);
    s.scale = 1.0 / norm; /* a bound of the spectral norm, up to the half that is not stored */
    DKM_TRY(extremal_leading(&s, print, largest));
    s.shift = SHIFT_MARGIN * fmax(*largest, 0.0);
    s.scale = -s.scale;
    DKM_TRY(extremal_leading(&s, print, &below));
    *largest *= norm;
    *smallest = (s.shift - below) * norm;
out:
    dkm_phase_end(ctx);
    return status;
}

dkm_status dkm_psd_check(const dkm_dmat *K, double *smallest, double *largest)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    dkm_local local = DKM_LOCAL_OK;

    DKM_TRY(dkm_extremal_eigenvalues(K, smallest, largest));
    if (*smallest < -ROUNDING * fabs(*largest))
        local = dkm_fail(ctx, DKM_ERR_NUMERIC,
                         "the matrix is not positive semidefinite: its eigenvalues reach from %.3g "
                         "to %.3g; --clip drops the negative ones",
                         *smallest, *largest);
    DKM_AGREE(ctx, local);
out:
    return status;
}
