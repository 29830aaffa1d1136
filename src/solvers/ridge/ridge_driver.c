/* Ridge systems from inputs and a kernel: decides between double and mixed precision
 * (posv_mixed.c), and between storing the double matrix and computing it anew for residuals, by
 * the memory that is free and by predicted iterations. Cost: that of what is chosen; m^2 / ranks
 * numbers per rank in double, half as many in single where the double matrix is computed anew. */
#include <dkmap/ridge.h>

#include <math.h>

#include "kernels/evaluation/prepare.h"
#include "matrix/dmat_impl.h"
#include "solvers/ridge/posv_mixed.h"
#include "solvers/ridge/ridge_factor.h"

#define MIXED_MIN_ORDER   1500  /* rows below which double is as fast */
#define RESIDUAL_ACCEPTED 1e-10 /* residual above which mixed precision may count as stalled */
#define RESIDUAL_ROUNDED  1e-14 /* backward error that double precision does not better by much */
#define USUAL_STEPS       4     /* of refinement */
#define FEW_COLUMNS       24    /* of products that are not gemm's */
#define FEW_RATE          0.45  /* of them, of gemm's */
#define MEMORY_MARGIN     1.1   /* of the matrices' bytes: panels, buffers, vectors */

dkm_ridge_settings dkm_ridge_settings_default(void)
{
    return (dkm_ridge_settings){.gamma = 1e-3, .tolerance = 1e-12};
}

/* Elements of an m x m matrix on this rank. */
static double ridge_local_elements(const dkm_dmat *Y, dkm_idx nb)
{
    const dkm_grid *grid = dkm_dmat_grid(Y);
    dkm_idx m = dkm_dmat_rows(Y);

    return (double)dkm_cyclic_count(m, nb, dkm_grid_row(grid), dkm_grid_rows(grid)) *
           (double)dkm_cyclic_count(m, nb, dkm_grid_col(grid), dkm_grid_cols(grid));
}

/* Bytes of the factor in single precision without the double matrix: a triangle. */
static double ridge_factor_bytes(const dkm_dmat *Y, dkm_idx nb)
{
    const dkm_grid *grid = dkm_dmat_grid(Y);
    dkm_idx m = dkm_dmat_rows(Y);

    return dkm_lower_bytes((double)dkm_cyclic_count(m, nb, dkm_grid_row(grid), dkm_grid_rows(grid)),
                           (double)dkm_cyclic_count(m, nb, dkm_grid_col(grid), dkm_grid_cols(grid)),
                           4.0);
}

/* K is the matrix where it is known already, else it is made here; its lower triangle becomes that of the
 * factor. */
static dkm_status ridge_solve_f64(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                                  double gamma, const dkm_dmat *Y, dkm_dmat **K, dkm_dmat **B,
                                  dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = dkm_dmat_grid(Y);

    if (!*K) {
        DKM_TRY(dkm_memory_check(dkm_grid_ctx(grid),
                                 MEMORY_MARGIN * 8.0 * ridge_local_elements(Y, nb),
                                 "the kernel matrix in double precision (mixed takes a quarter)"));
        DKM_TRY(dkm_gram(grid, kernel, X, nb, DKM_F64, K));
    }
    DKM_TRY(dkm_ridge_solve(*K, gamma, Y, B, info));
out:
    return status;
}

/* Iterations that take as long as a factorization in double precision: n^3 / 3 flops, against those
 * of a product in double and two triangular solves in single, at the rate that products with few
 * columns reach beside gemm; and of a kernel matrix where it is computed anew. */
static double ridge_worth(const dkm_prepared *X, const dkm_dmat *Y, int keep)
{
    double n = (double)dkm_dmat_rows(Y), p = (double)dkm_dmat_cols(Y);
    double flops = 3.0 * fmax(p, 8.0) / (p <= FEW_COLUMNS ? FEW_RATE : 1.0);

    return n / 3.0 / (flops + (keep ? 0.0 : X->bytes[DKM_ROWS] / 8.0));
}

/* Keep the double matrix beside the single factor where both fit, and ScaLAPACK can index it. */
static int ridge_decide_storage(const dkm_ridge_settings *s, const dkm_dmat *Y, dkm_idx nb)
{
    const dkm_grid *grid = dkm_dmat_grid(Y);
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(Y));
    dkm_idx m = dkm_dmat_rows(Y);
    int fits;

    if (s->keep != DKM_STORAGE_AUTO)
        return s->keep == DKM_STORE;
    fits = dkm_memory_fits(ctx, MEMORY_MARGIN * 12.0 * ridge_local_elements(Y, nb)) &&
           dkm_scalapack_indexes(grid, m, m, nb, nb);
    if (!fits)
        dkm_log(ctx, DKM_INFO,
                "the double kernel matrix does not fit beside its single factor: "
                "it is computed anew for each step of refinement");
    return fits;
}

/* By default where the usual number of iterations takes no longer than single precision gains, half
 * a factorization in double; or where double precision does not fit. Collective. */
static int ridge_takes_mixed(const dkm_ridge_settings *s, const dkm_prepared *X, dkm_idx nb,
                             const dkm_dmat *Y)
{
    dkm_idx m = dkm_dmat_rows(Y);

    if (s->precision != DKM_RIDGE_AUTO)
        return s->precision == DKM_RIDGE_MIXED;
    return m >= MIXED_MIN_ORDER &&
           (ridge_worth(X, Y, 1) >= 2.0 * USUAL_STEPS ||
            !dkm_memory_fits(dkm_grid_ctx(dkm_dmat_grid(Y)),
                             MEMORY_MARGIN * 8.0 * ridge_local_elements(Y, nb)));
}

static dkm_status ridge_solve_mixed(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                                    const dkm_ridge_settings *s, const dkm_dmat *Y, dkm_dmat **K,
                                    dkm_dmat **L, dkm_dmat **B, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(Y));
    double elements = ridge_local_elements(Y, nb), worth = 0;
    int refine = s->precision != DKM_RIDGE_SINGLE, keep = 0;

    if (refine)
        keep = ridge_decide_storage(s, Y, nb);
    DKM_TRY(dkm_memory_check(ctx,
                             MEMORY_MARGIN * (keep ? 12.0 * elements : ridge_factor_bytes(Y, nb)),
                             keep ? "the kernel matrix in both precisions"
                                  : "the triangle of the kernel matrix in single precision"));
    if (refine && dkm_dmat_rows(Y) >= MIXED_MIN_ORDER &&
        dkm_memory_fits(ctx, MEMORY_MARGIN * 8.0 * elements))
        worth = ridge_worth(X, Y, keep);
    DKM_TRY(dkm_posv_mixed(kernel, X, nb, s, keep, refine, worth, Y, K, L, B, info));
out:
    return status;
}

static int ridge_stalled(dkm_status status, const dkm_ridge_info *info)
{
    if (status != DKM_OK)
        return status == DKM_ERR_NUMERIC;
    return !(info->residual <= RESIDUAL_ACCEPTED) && !(info->backward <= RESIDUAL_ROUNDED);
}

static void ridge_log_stalled(dkm_ctx *ctx, dkm_status status, const dkm_ridge_info *info)
{
    if (status != DKM_OK)
        dkm_log(ctx, DKM_WARN,
                "single precision does not do for K + gamma I: going on in double precision");
    else
        dkm_log(ctx, DKM_WARN,
                "mixed precision is at a residual of %.1e after %d steps, and would take longer "
                "than double: going on in double precision",
                info->residual, info->steps);
}

/* A factor that is shifted is one of another matrix. */
static void ridge_log_shifted(dkm_ctx *ctx, const dkm_ridge_info *info)
{
    dkm_log(
        ctx, DKM_WARN,
        "the factor in single precision is shifted by %.1e, and is not kept: going on in double "
        "precision",
        info->shift);
}

dkm_status dkm_ridge_kernel(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                            const dkm_ridge_settings *settings, const dkm_dmat *Y, dkm_dmat **B,
                            dkm_ridge_info *info)
{
    return dkm_ridge_kernel_factor(kernel, X, nb, settings, Y, NULL, B, info);
}

dkm_status dkm_ridge_kernel_factor(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                                   const dkm_ridge_settings *settings, const dkm_dmat *Y,
                                   dkm_dmat **L, dkm_dmat **B, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(Y));
    dkm_ridge_info own = {0};
    dkm_dmat *K = NULL, *factor = NULL, **wanted = L ? &factor : NULL;
    int low = settings->precision == DKM_RIDGE_SINGLE, shifted;

    *B = NULL;
    if (L)
        *L = NULL;
    DKM_REQUIRE(ctx, settings->gamma > 0 && isfinite(settings->gamma), DKM_ERR_ARG,
                "gamma = %g: the ridge must be a number above 0", settings->gamma);
    if (low || ridge_takes_mixed(settings, X, nb, Y)) {
        status = ridge_solve_mixed(kernel, X, nb, settings, Y, &K, wanted, B, &own);
        shifted = status == DKM_OK && L && own.shift > 0;
        if (shifted || (!low && ridge_stalled(status, &own))) {
            if (shifted)
                ridge_log_shifted(ctx, &own);
            else
                ridge_log_stalled(ctx, status, &own);
            dkm_dmat_destroy(&factor);
            dkm_dmat_destroy(B);
            DKM_TRY(ridge_solve_f64(kernel, X, nb, settings->gamma, Y, &K, B, &own));
            own.fell_back = 1;
        }
        DKM_TRY(status);
    } else {
        DKM_TRY(ridge_solve_f64(kernel, X, nb, settings->gamma, Y, &K, B, &own));
    }
    if (L) {
        *L = factor ? factor : K;
        K = factor ? K : NULL;
        factor = NULL;
    }
    if (info)
        *info = own;
out:
    dkm_dmat_destroy(&factor);
    dkm_dmat_destroy(&K);
    return status;
}
