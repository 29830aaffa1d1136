#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "reference/reference_linalg.h"
#include "reference/reference_ridge.h"
#include "support/check.h"
#include "support/fixture_ridge_path.h"

enum { M = PATH_M, D = PATH_D, OUTPUTS = PATH_OUTPUTS, NB = PATH_NB };

/* One of three classes, that the first coordinate tells more often than not. */
static double class_of(void *user, dkm_idx ig, dkm_idx jg)
{
    double x = path_point(SCATTERED, ig, 0) + 0.7 * path_point(SCATTERED, ig, 7);

    (void)user;
    return jg == (x < -0.5 ? 0 : x < 0.5 ? 1 : 2);
}

static reference_ridge reference_of(const path_problem *p, double gamma)
{
    return (reference_ridge){
        M, OUTPUTS, p->K, p->y, gamma, p->settings.penalty, p->settings.means != NULL};
}

/* Both sides are solutions of systems of this condition: as many roundings as rows, times it. */
static double tolerance(const path_problem *p, double largest, double gamma)
{
    double l = p->settings.penalty == DKM_PENALTY_COEFFICIENTS ? largest * largest : largest;

    return 1e-11 + 50.0 * M * 1.2e-16 * (l + gamma) / gamma;
}

static void compare_solution(const path_problem *p, const dkm_dmat *B, double gamma,
                             double relative)
{
    static double want[M * OUTPUTS], got[M * OUTPUTS];
    double b[OUTPUTS], gap = 0, size = 0;
    reference_ridge oracle = reference_of(p, gamma);

    reference_ridge_fit(&oracle, want, b);
    reference_gather(B, got);
    for (int i = 0; i < M * OUTPUTS; i++) {
        gap = fmax(gap, fabs(got[i] - want[i]));
        size = fmax(size, fabs(want[i]));
    }
    CHECK_CLOSE(gap / size, 0.0, relative);
}

static void compare_points(const path_problem *p, const dkm_path_info *info, double largest)
{
    for (dkm_idx g = 0; g < info->count; g++) {
        reference_ridge oracle = reference_of(p, p->settings.gammas[g]);
        double loo, wrong, gcv = reference_ridge_gcv(&oracle), tol;
        reference_ridge_loo(&oracle, &loo, &wrong);
        tol = tolerance(p, largest, p->settings.gammas[g]);
        CHECK(info->points[g].gamma == p->settings.gammas[g]);
        CHECK_CLOSE(info->points[g].loo / loo, 1.0, tol);
        /* what the oracle's fit leaves, Y - K B, drowns in rounding where B is huge */
        CHECK_CLOSE(info->points[g].gcv / gcv, 1.0, tol < 1e-6 ? tol : INFINITY);
        CHECK(info->points[info->best].loo <= info->points[g].loo);
        if (p->settings.classes && tol < 1e-6)
            CHECK_CLOSE(info->points[g].wrong, wrong, 1e-12);
    }
}

static void run_and_compare(path_problem *p, double largest)
{
    dkm_path_info info = {0};
    dkm_dmat *B = NULL;
    double gamma;

    CHECK_OK(p->ctx, dkm_ridge_path(p->kernel, p->prepared, NB, &p->settings, p->Y, &B, &info));
    if (!B)
        return;
    CHECK(strcmp(info.solver, p->settings.solver == DKM_PATH_EIGEN  ? "eigen"
                              : p->settings.solver == DKM_PATH_BAND ? "band"
                                                                    : "cholesky") == 0);
    compare_points(p, &info, largest);
    gamma = p->settings.gammas[info.best];
    compare_solution(p, B, gamma, tolerance(p, largest, gamma));
    /* M roundings in the solve, in the product where squared, and in the residual itself */
    CHECK(info.ridge.residual <= 1e-12 || info.ridge.backward < 10.0 * M * 2.2e-16);
    CHECK(info.ridge.condition >= 0.5 * (largest + gamma) / (fmin(1.0, largest) + gamma));
    dkm_dmat_destroy(&B);
    dkm_path_info_free(&info);
}

static dkm_path_solver solver_of(int way)
{
    return way & 8 ? DKM_PATH_BAND : way & 4 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
}

static void all_ways(dkm_ctx *ctx, int kind, const char *kernel)
{
    for (int way = 0; way < 10; way++) {
        path_problem p;
        double largest;
        CHECK_OK(ctx, path_problem_open(&p, ctx, kind, kernel, way & 1));
        largest = path_problem_kernel(&p);
        p.settings.penalty = way & 2 ? DKM_PENALTY_COEFFICIENTS : DKM_PENALTY_WEIGHTS;
        p.settings.solver = solver_of(way);
        run_and_compare(&p, largest);
        path_problem_close(&p);
    }
}

static void errors_match_real_refits(dkm_ctx *ctx)
{
    all_ways(ctx, SCATTERED, "rbf(sigma=1.5)");
}

static void duplicates_match_real_refits(dkm_ctx *ctx)
{
    all_ways(ctx, DUPLICATES, "rbf(sigma=2)");
}

/* K = z z' with z = sqrt(D) x: the fit is z times one number, that is told by sums over the other
 * examples. */
static double line_loo(const path_problem *p, double gamma)
{
    double sum = 0;

    for (int i = 0; i < M; i++)
        for (int j = 0; j < OUTPUTS; j++) {
            double zz = 0, zy = 0, z = 0, mean = 0, slope;
            for (int k = 0; k < M; k++) {
                double zk = sqrt(D) * path_point(LINE, k, 0), y = p->y[k + j * M];
                zz += k == i ? 0 : zk * zk;
                zy += k == i ? 0 : zk * y;
                z += k == i ? 0 : zk;
                mean += k == i || !p->settings.means ? 0 : y / (M - 1);
            }
            zy -= z * mean;
            slope = p->settings.penalty == DKM_PENALTY_WEIGHTS ? zy / (zz + gamma)
                                                               : zz * zy / (zz * zz + gamma);
            sum += pow(p->y[i + j * M] - mean - sqrt(D) * path_point(LINE, i, 0) * slope, 2);
        }
    return sum / (M * OUTPUTS);
}

static void rank_one_matches_its_closed_form(dkm_ctx *ctx)
{
    for (int way = 0; way < 10; way++) {
        dkm_path_info info = {0};
        dkm_dmat *B = NULL;
        path_problem p;
        CHECK_OK(ctx, path_problem_open(&p, ctx, LINE, "linear", way & 1));
        p.settings.penalty = way & 2 ? DKM_PENALTY_COEFFICIENTS : DKM_PENALTY_WEIGHTS;
        p.settings.solver = solver_of(way);
        CHECK_OK(ctx, dkm_ridge_path(p.kernel, p.prepared, NB, &p.settings, p.Y, &B, &info));
        for (dkm_idx g = 0; g < info.count; g++)
            CHECK_CLOSE(info.points[g].loo / line_loo(&p, path_gammas[g]), 1.0,
                        tolerance(&p, D * M / 3.0, path_gammas[g]));
        dkm_dmat_destroy(&B);
        dkm_path_info_free(&info);
        path_problem_close(&p);
    }
}

/* Small buffers: gammas, columns and rows go in many pieces; and the matrix is not kept. */
static void small_buffers_change_nothing(dkm_ctx *ctx)
{
    for (int way = 0; way < 3; way++) {
        path_problem p;
        double largest;
        CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "rbf(sigma=1.5)", 1));
        largest = path_problem_kernel(&p);
        p.settings.penalty = way == 1 ? DKM_PENALTY_COEFFICIENTS : DKM_PENALTY_WEIGHTS;
        p.settings.solver = way == 2 ? DKM_PATH_BAND : DKM_PATH_EIGEN;
        p.settings.work_bytes = way ? 1 : 8 * M * 4;
        p.settings.keep = DKM_RECOMPUTE;
        run_and_compare(&p, largest);
        path_problem_close(&p);
    }
}

static void the_error_rate_of_classes_matches_real_refits(dkm_ctx *ctx)
{
    for (int way = 0; way < 4; way++) {
        path_problem p;
        double largest;
        CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "rbf(sigma=1)", 0));
        CHECK_OK(ctx, path_problem_outputs(&p, SCATTERED, class_of, way & 1));
        largest = path_problem_kernel(&p);
        p.settings.classes = 1;
        p.settings.solver = way & 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        run_and_compare(&p, largest);
        path_problem_close(&p);
    }
}

static void every_grid_and_block_agrees(dkm_ctx *ctx)
{
    static const dkm_path_solver solvers[] = {DKM_PATH_BAND, DKM_PATH_EIGEN, DKM_PATH_CHOLESKY};

    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        path_problem p;
        double largest;
        CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "rbf(sigma=1.5)", 1));
        largest = path_problem_kernel(&p);
        dkm_dmat_destroy(&p.Y);
        dkm_grid_destroy(&p.grid);
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &p.grid));
        CHECK_OK(ctx, path_problem_outputs(&p, SCATTERED, path_smooth, 1));
        p.settings.gammas = path_gammas + 2;
        p.settings.count = 3;
        p.settings.solver = solvers[P % 3];
        run_and_compare(&p, largest);
        path_problem_close(&p);
    }
}

static path_problem *brutal;

static dkm_status solve_once(dkm_ctx *ctx)
{
    dkm_path_info info = {0};
    dkm_dmat *B = NULL;
    dkm_status status = dkm_ridge_path(brutal->kernel, brutal->prepared, NB, &brutal->settings,
                                       brutal->Y, &B, &info);

    (void)ctx;
    dkm_path_info_free(&info);
    dkm_dmat_destroy(&B);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    path_problem p;

    CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "linear", 1));
    brutal = &p;
    p.settings.gammas = path_gammas + 3;
    p.settings.count = 2;
    p.settings.solver = DKM_PATH_EIGEN;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    p.settings.solver = DKM_PATH_BAND;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    p.settings.solver = DKM_PATH_CHOLESKY;
    p.settings.penalty = DKM_PENALTY_COEFFICIENTS;
    p.settings.count = p.settings.errors = 1;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    path_problem_close(&p);
}

static const check_case cases[] = {
    CASE(errors_match_real_refits),
    CASE(duplicates_match_real_refits),
    CASE(rank_one_matches_its_closed_form),
    CASE(small_buffers_change_nothing),
    CASE(the_error_rate_of_classes_matches_real_refits),
    CASE(every_grid_and_block_agrees),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
