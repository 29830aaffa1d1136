/* Machines of one job may have different mathematical libraries. This program has a logarithm of
 * its own, which the library calls, and which is wrong on the last rank: all must still go through
 * the same steps to the same eigenvalues. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include <dlfcn.h>
#include <math.h>

#include <dkmap/eigen.h>

#include "support/check.h"

enum { M = 300, P = 8 };

/* On this rank, of numbers above 1 that are not whole: random numbers and LAPACK take others. */
static double error_of_log;

double log(double x)
{
    double (*real)(double) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "log");
    return real(x) + (x > 1 && x != floor(x) ? error_of_log : 0.0);
}

static double element(void *user, dkm_idx ig, dkm_idx jg)
{
    dkm_idx gap = ig > jg ? ig - jg : jg - ig;

    (void)user;
    return 1.0 / (1.0 + 0.01 * (double)(gap * gap));
}

static void solve(dkm_ctx *ctx, double error, double *out)
{
    dkm_eigen_settings s = dkm_eigen_settings_default();
    double *values = NULL;
    dkm_data *vectors = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;

    s.components = P;
    s.solver = DKM_EIGEN_BLOCK;
    error_of_log = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? error : 0.0;
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, 16, 16, DKM_F64, &K));
    dkm_dmat_fill(K, element, NULL);
    CHECK_OK(ctx, dkm_eigen_leading(K, &s, &values, &vectors, NULL, NULL));
    for (int k = 0; k < P; k++)
        out[k] = values[k];
    dkm_eigen_values_free(&values);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    error_of_log = 0;
}

static void ranks_whose_logarithms_differ_stay_together(dkm_ctx *ctx)
{
    double plain[P], skewed[P];

    solve(ctx, 0.0, plain);
    for (int k = 0; k < 3; k++) {
        solve(ctx, k == 0 ? 1e-3 : k == 1 ? 2.0 : -1.0, skewed);
        for (int j = 0; j < P; j++)
            CHECK_CLOSE(skewed[j], plain[j], 1e-9 * plain[0]);
    }
}

static const check_case cases[] = {CASE(ranks_whose_logarithms_differ_stay_together)};

CHECK_MAIN(cases)
