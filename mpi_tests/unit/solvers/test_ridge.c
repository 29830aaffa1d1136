#include <math.h>
#include <string.h>

#include <dkmap/random.h>
#include <dkmap/ridge.h>

#include "reference/reference_linalg.h"
#include "support/check.h"

#define N 29

/* A Gram-like matrix of N points on a line, exp(-(i - j)^2 / 2 s^2): worse conditioned as s grows.
 */
static double bell(void *user, dkm_idx ig, dkm_idx jg)
{
    double s = *(double *)user, d = (double)(ig - jg);

    return ig < jg ? -77.0
                   : exp(-d * d / (2 * s * s)); /* what the upper triangle holds is not read */
}

static double noise(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return dkm_random_normal(3, 1, (uint64_t)ig, (uint64_t)jg);
}

static void make_system(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, double s, dkm_idx outputs,
                        dkm_dmat **K, dkm_dmat **Y)
{
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, nb, nb, DKM_F64, K));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, outputs, nb, 2, DKM_F64, Y));
    dkm_dmat_fill(*K, bell, &s);
    dkm_dmat_fill(*Y, noise, NULL);
}

static void solve_and_compare(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, double s, double gamma)
{
    dkm_dmat *K = NULL, *Y = NULL, *B = NULL;
    dkm_ridge_info info;
    static double k[N * N], y[N * 5], b[N * 5];
    double gap = 0, size = 0;

    make_system(ctx, grid, nb, s, 5, &K, &Y);
    reference_gather(Y, y);
    for (int i = 0; i < N * N; i++)
        k[i] = bell(&s, i % N > i / N ? i % N : i / N, i % N > i / N ? i / N : i % N) +
               (i % (N + 1) == 0 ? gamma : 0.0);
    reference_solve(N, 5, k, y);
    CHECK_OK(ctx, dkm_ridge_solve(K, gamma, Y, &B, &info));
    CHECK(B != NULL && info.jitter_steps == 0 && info.jitter == 0.0);
    reference_gather(B, b);
    for (int i = 0; i < N * 5; i++) {
        gap = fmax(gap, fabs(b[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    /* forward error: N roundings times the condition number, at most (N + gamma) / gamma */
    CHECK_CLOSE(gap / size, 0.0, 20.0 * N * 1.2e-16 * (N + gamma) / gamma);
    CHECK(info.residual < 1e-12 * fmax(1.0, 1e-3 / gamma));
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&Y);
    dkm_dmat_destroy(&B);
}

static void solutions_match_elimination_on_every_grid(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (dkm_idx nb = 3; nb <= 33; nb += 10)
            for (int e = -6; e <= 6; e += 3)
                solve_and_compare(ctx, grid, nb, 2.0, pow(10.0, e));
        dkm_grid_destroy(&grid);
    }
}

/* Gram matrices with eigenvalues down to nothing: Hilbert's, points that come twice, rank one. */
enum { HILBERT, TWICE, ONES, KINDS };

static double ill_conditioned(void *user, dkm_idx ig, dkm_idx jg)
{
    double s = 2.0;

    switch (*(int *)user) {
    case HILBERT:
        return 1.0 / (1.0 + (double)(ig + jg));
    case TWICE:
        return bell(&s, ig > jg ? ig / 2 : jg / 2, ig > jg ? jg / 2 : ig / 2);
    default:
        return 1.0;
    }
}

/* What the solution leaves of the right-hand sides, by long sums: as small as rounding of a system
 * of this size allows, whatever its condition. */
static void check_left(int kind, double gamma, const double *y, const double *b, double jitter)
{
    long double left = 0, size = 0, right = 0;

    for (int j = 0; j < 2; j++)
        for (int i = 0; i < N; i++) {
            long double sum = y[i + j * N] - (long double)gamma * b[i + j * N];
            for (int k = 0; k < N; k++)
                sum -= (long double)ill_conditioned(&kind, i, k) * b[k + j * N];
            left += sum * sum;
            size += (long double)b[i + j * N] * b[i + j * N];
            right += (long double)y[i + j * N] * y[i + j * N];
        }
    CHECK(isfinite((double)left));
    CHECK_CLOSE((double)sqrtl(left), 0.0,
                (20.0 * N * 1.2e-16 * (N + gamma) + jitter) * (double)sqrtl(size) +
                    20.0 * N * 1.2e-16 * (double)sqrtl(right));
}

static void ill_conditioned_matrices_are_solved_to_rounding(dkm_ctx *ctx)
{
    static double y[N * 2], b[N * 2];
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (int kind = 0; kind < KINDS; kind++)
        for (int e = -12; e <= 6; e += 3) {
            dkm_dmat *K = NULL, *Y = NULL, *B = NULL;
            dkm_ridge_info info;
            CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &K));
            CHECK_OK(ctx, dkm_dmat_create(grid, N, 2, 4, 2, DKM_F64, &Y));
            dkm_dmat_fill(K, ill_conditioned, &kind);
            dkm_dmat_fill(Y, noise, NULL);
            reference_gather(Y, y);
            CHECK_OK(ctx, dkm_ridge_solve(K, pow(10.0, e), Y, &B, &info));
            CHECK(e < -9 || info.jitter_steps == 0);
            reference_gather(B, b);
            check_left(kind, pow(10.0, e), y, b, info.jitter);
            dkm_dmat_destroy(&K);
            dkm_dmat_destroy(&Y);
            dkm_dmat_destroy(&B);
        }
    dkm_grid_destroy(&grid);
}

static int warnings;

static void count_warning(void *user, dkm_level level, const char *text)
{
    (void)user;
    warnings += level == DKM_WARN && strstr(text, "to its diagonal, attempt") != NULL;
}

static void every_attempt_with_jitter_is_reported(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL, *Y = NULL, *B = NULL;
    dkm_ridge_info info;

    warnings = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = count_warning});
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    make_system(ctx, grid, 4, 50.0, 2, &K, &Y); /* numerically of low rank */
    CHECK_OK(ctx, dkm_ridge_solve(K, 1e-19, Y, &B, &info));
    CHECK(info.jitter_steps > 0 && info.jitter > 0);
    CHECK(warnings == (dkm_ctx_rank(ctx) == 0 ? info.jitter_steps : 0));
    CHECK(isfinite(info.residual) && info.residual > 0);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&Y);
    dkm_dmat_destroy(&B);
    dkm_grid_destroy(&grid);
}

static double minus_identity(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig == jg ? -1.0 : 0.0;
}

static double not_a_number(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig == 3 && jg == 3 ? (double)NAN : ig == jg;
}

static void hopeless_matrices_are_refused(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL, *Y = NULL, *B = NULL, *other = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    make_system(ctx, grid, 4, 1.0, 2, &K, &Y);
    dkm_dmat_fill(K, minus_identity, NULL);
    CHECK(dkm_ridge_solve(K, 1e-3, Y, &B, NULL) == DKM_ERR_NUMERIC && !B);
    CHECK(strstr(dkm_ctx_message(ctx), "positive definite") != NULL);
    dkm_dmat_fill(K, not_a_number, NULL);
    CHECK(dkm_ridge_solve(K, 1e-3, Y, &B, NULL) == DKM_ERR_NUMERIC && !B);
    CHECK(dkm_ridge_solve(K, 0.0, Y, &B, NULL) == DKM_ERR_ARG && !B);
    CHECK(dkm_ridge_solve(K, -1.0, Y, &B, NULL) == DKM_ERR_ARG && !B);
    CHECK(dkm_ridge_solve(Y, 1.0, Y, &B, NULL) == DKM_ERR_ARG && !B);
    CHECK_OK(ctx, dkm_dmat_create(grid, dkm_dmat_rows(K), 2, 5, 5, DKM_F64, &other));
    CHECK(dkm_ridge_solve(K, 1.0, other, &B, NULL) == DKM_ERR_ARG && !B);
    CHECK(strstr(dkm_ctx_message(ctx), "blocks of 4 rows") != NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "blocks of 5") != NULL);
    dkm_dmat_destroy(&other);
    CHECK_OK(ctx, dkm_dmat_create(grid, dkm_dmat_rows(K) - 1, 2, 4, 4, DKM_F64, &other));
    CHECK(dkm_ridge_solve(K, 1.0, other, &B, NULL) == DKM_ERR_ARG && !B);
    CHECK(strstr(dkm_ctx_message(ctx), "right-hand sides have") != NULL);
    dkm_dmat_destroy(&other);
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&Y);
    dkm_grid_destroy(&grid);
}

static dkm_status solve_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL, *Y = NULL, *B = NULL;
    double s = 1.0;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &K));
    DKM_TRY(dkm_dmat_create(grid, N, 1, 4, 4, DKM_F64, &Y));
    dkm_dmat_fill(K, bell, &s);
    DKM_TRY(dkm_ridge_solve(K, 1.0, Y, &B, NULL));
out:
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&Y);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, solve_once);
}

static const check_case cases[] = {
    CASE(solutions_match_elimination_on_every_grid),
    CASE(ill_conditioned_matrices_are_solved_to_rounding),
    CASE(every_attempt_with_jitter_is_reported),
    CASE(hopeless_matrices_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
