#include <math.h>

#include <dkmap/bench.h>

#include "support/check.h"

#define N 24

/* 2 on the diagonal and -1 beside it: eigenvalues 2 - 2 cos(k pi / (N + 1)). */
static double chain(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig == jg ? 2.0 : ig == jg + 1 ? -1.0 : 0.0;
}

/* A number that all ranks have alike. */
static int uniform(dkm_ctx *ctx, double number)
{
    double ends[2] = {number, -number}, all[2];

    MPI_Allreduce(ends, all, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    return all[0] == number && all[1] == -number;
}

static void ranks_multiply_at_some_rate(dkm_ctx *ctx)
{
    double rate = 0, single = 0;

    CHECK_OK(ctx, dkm_gemm_rate(ctx, DKM_F64, 64, &rate));
    CHECK_OK(ctx, dkm_gemm_rate(ctx, DKM_F32, 64, &single));
    CHECK(isfinite(rate) && rate > 0 && uniform(ctx, rate));
    CHECK(isfinite(single) && single > 0 && uniform(ctx, single));
    CHECK_OK(ctx, dkm_gemm_rate(ctx, DKM_F64, 1, &rate));
    CHECK(dkm_gemm_rate(ctx, DKM_F64, 0, &rate) == DKM_ERR_ARG && rate == 0);
    CHECK(dkm_gemm_rate(ctx, DKM_F64, INT64_C(1) << 40, &rate) == DKM_ERR_ARG);
}

static void check_library(dkm_ctx *ctx, const char *library)
{
    double values[N], seconds = -1;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &K));
    dkm_dmat_fill(K, chain, NULL);
    CHECK_OK(ctx, dkm_eigen_direct(K, library, values, &seconds));
    CHECK(seconds > 0 && uniform(ctx, seconds));
    for (int k = 1; k <= N; k++)
        CHECK_CLOSE(values[k - 1], 2.0 - 2.0 * cos(k * acos(-1.0) / (N + 1)), 20.0 * N * 1.2e-16);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static void direct_calls_find_known_eigenvalues(dkm_ctx *ctx)
{
    CHECK(dkm_eigen_built_in("scalapack"));
    check_library(ctx, "scalapack");
    if (dkm_eigen_built_in("elpa"))
        check_library(ctx, "elpa");
}

static void unknown_libraries_and_matrices_are_refused(dkm_ctx *ctx)
{
    double values[N], seconds;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL, *single = NULL;

    CHECK(!dkm_eigen_built_in("eispack"));
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &K));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F32, &single));
    CHECK(dkm_eigen_direct(K, "eispack", values, &seconds) == DKM_ERR_UNSUPPORTED);
    CHECK(dkm_eigen_direct(single, "scalapack", values, &seconds) == DKM_ERR_ARG);
    dkm_dmat_destroy(&single);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static dkm_status multiply_under_pressure(dkm_ctx *ctx)
{
    double rate;

    return dkm_gemm_rate(ctx, DKM_F64, 8, &rate);
}

static void every_allocation_of_a_product_may_fail(dkm_ctx *ctx)
{
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, multiply_under_pressure);
}

static const check_case cases[] = {
    CASE(ranks_multiply_at_some_rate),
    CASE(direct_calls_find_known_eigenvalues),
    CASE(unknown_libraries_and_matrices_are_refused),
    CASE(every_allocation_of_a_product_may_fail),
};

CHECK_MAIN(cases)
