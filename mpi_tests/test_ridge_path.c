#include <math.h>
#include <string.h>

#include <dkmap/random.h>
#include <dkmap/ridge_path.h>

#include "check.h"
#include "core/alloc.h"
#include "data/objects.h"
#include "oracle_linalg.h"
#include "oracle_ridge.h"

enum { M = 29, D = 5, OUTPUTS = 3, NB = 4 };

/* Kinds of inputs: scattered points, pairs of equal points, points of a line (the linear kernel on
 * them has rank one). */
enum { SCATTERED, DUPLICATES, LINE };

static const double gammas[] = {1e-10, 1e-6, 1e-3, 0.1, 1, 10, 1e3, 1e6};
enum { GAMMAS = sizeof gammas / sizeof *gammas };

typedef struct problem {
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_data *X;
    dkm_kernel *kernel;
    dkm_prepared *prepared;
    dkm_dmat *Y;
    double means[OUTPUTS];
    double K[M * M], y[M * OUTPUTS]; /* the same whole, column-major; y with its means */
    dkm_path_settings settings;
} problem;

static double point(int kind, dkm_idx i, dkm_idx j)
{
    if (kind == DUPLICATES)
        i /= 2;
    if (kind == LINE)
        return (double)(i + 1) / M;
    return dkm_random_normal(2, 0, (uint64_t)i, (uint64_t)j);
}

static double smooth(void *user, dkm_idx ig, dkm_idx jg)
{
    if (*(int *)user == DUPLICATES) /* equal points with other outputs would ask the impossible */
        ig /= 2;
    return sin(0.4 * (double)(ig * (jg + 1))) + 0.3 * (double)ig + (double)jg;
}

/* One of three classes, that the first coordinate tells more often than not. */
static double class_of(void *user, dkm_idx ig, dkm_idx jg)
{
    double x = point(SCATTERED, ig, 0) + 0.7 * point(SCATTERED, ig, 7);

    (void)user;
    return jg == (x < -0.5 ? 0 : x < 0.5 ? 1 : 2);
}

static dkm_status make_inputs(problem *p, int kind)
{
    dkm_status status = dkm_data_create_dense(p->ctx, M, D, &p->X);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(p->X); i++)
        for (dkm_idx j = 0; j < D; j++)
            dkm_data_values(p->X)[D * i + j] = point(kind, dkm_data_local_first(p->X) + i, j);
    return status;
}

typedef double (*value_of)(void *user, dkm_idx ig, dkm_idx jg);

static dkm_status make_outputs(problem *p, int kind, value_of value, int center)
{
    dkm_status status = DKM_OK;

    dkm_dmat_destroy(&p->Y);
    DKM_TRY(dkm_dmat_create(p->grid, M, OUTPUTS, NB, NB, DKM_F64, &p->Y));
    dkm_dmat_fill(p->Y, value, &kind);
    oracle_gather(p->Y, p->y);
    if (center) {
        DKM_TRY(dkm_dmat_column_means(p->Y, p->means));
        dkm_dmat_add_row(p->Y, -1.0, p->means);
        p->settings.means = p->means;
    }
out:
    return status;
}

static dkm_status open_problem(problem *p, dkm_ctx *ctx, int kind, const char *kernel, int center)
{
    dkm_status status = DKM_OK;

    *p = (problem){.ctx = ctx, .settings = dkm_path_settings_default()};
    p->settings.count = GAMMAS;
    p->settings.gammas = gammas;
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &p->grid));
    DKM_TRY(make_inputs(p, kind));
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &p->kernel));
    DKM_TRY(dkm_kernel_prepare(p->kernel, p->X, &p->prepared));
    DKM_TRY(make_outputs(p, kind, smooth, center));
out:
    return status;
}

static void close_problem(problem *p)
{
    dkm_dmat_destroy(&p->Y);
    dkm_prepared_destroy(&p->prepared);
    dkm_kernel_destroy(&p->kernel);
    dkm_data_destroy(&p->X);
    dkm_grid_destroy(&p->grid);
}

/* The whole kernel matrix on every rank, and its largest eigenvalue. */
static double gather_kernel(problem *p)
{
    static double copy[M * M], values[M];
    dkm_dmat *K = NULL;

    CHECK_OK(p->ctx, dkm_gram(p->grid, p->kernel, p->prepared, NB, DKM_F64, &K));
    oracle_gather(K, p->K);
    for (int i = 0; i < M * M; i++)
        if (i % M < i / M)
            p->K[i] = p->K[i / M + i % M * M];
    dkm_dmat_destroy(&K);
    memcpy(copy, p->K, sizeof copy);
    oracle_eigen(M, copy, values, NULL);
    return values[0];
}

static oracle_ridge oracle_of(const problem *p, double gamma)
{
    return (oracle_ridge){
        M, OUTPUTS, p->K, p->y, gamma, p->settings.penalty, p->settings.means != NULL};
}

/* Both sides are solutions of systems of this condition: as many roundings as rows, times it. */
static double tolerance(const problem *p, double largest, double gamma)
{
    double l = p->settings.penalty == DKM_PENALTY_COEFFICIENTS ? largest * largest : largest;

    return 1e-11 + 50.0 * M * 1.2e-16 * (l + gamma) / gamma;
}

static void compare_solution(const problem *p, const dkm_dmat *B, double gamma, double relative)
{
    static double want[M * OUTPUTS], got[M * OUTPUTS];
    double b[OUTPUTS], gap = 0, size = 0;
    oracle_ridge oracle = oracle_of(p, gamma);

    oracle_ridge_fit(&oracle, want, b);
    oracle_gather(B, got);
    for (int i = 0; i < M * OUTPUTS; i++) {
        gap = fmax(gap, fabs(got[i] - want[i]));
        size = fmax(size, fabs(want[i]));
    }
    CHECK_CLOSE(gap / size, 0.0, relative);
}

static void compare_points(const problem *p, const dkm_path_info *info, double largest)
{
    for (dkm_idx g = 0; g < info->count; g++) {
        oracle_ridge oracle = oracle_of(p, p->settings.gammas[g]);
        double loo, wrong, gcv = oracle_ridge_gcv(&oracle), tol;
        oracle_ridge_loo(&oracle, &loo, &wrong);
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

static void run_and_compare(problem *p, double largest)
{
    dkm_path_info info = {0};
    dkm_dmat *B = NULL;
    double gamma;

    CHECK_OK(p->ctx, dkm_ridge_path(p->kernel, p->prepared, NB, &p->settings, p->Y, &B, &info));
    if (!B)
        return;
    CHECK(strcmp(info.solver, p->settings.solver == DKM_PATH_EIGEN ? "eigen" : "cholesky") == 0);
    compare_points(p, &info, largest);
    gamma = p->settings.gammas[info.best];
    compare_solution(p, B, gamma, tolerance(p, largest, gamma));
    CHECK(info.ridge.residual <= 1e-12 || info.ridge.backward < 1e-14);
    CHECK(info.ridge.condition >= 0.5 * (largest + gamma) / (fmin(1.0, largest) + gamma));
    dkm_dmat_destroy(&B);
    dkm_path_info_free(&info);
}

static void all_ways(dkm_ctx *ctx, int kind, const char *kernel)
{
    for (int way = 0; way < 8; way++) {
        problem p;
        double largest;
        CHECK_OK(ctx, open_problem(&p, ctx, kind, kernel, way & 1));
        largest = gather_kernel(&p);
        p.settings.penalty = way & 2 ? DKM_PENALTY_COEFFICIENTS : DKM_PENALTY_WEIGHTS;
        p.settings.solver = way & 4 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        run_and_compare(&p, largest);
        close_problem(&p);
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
static double line_loo(const problem *p, double gamma)
{
    double sum = 0;

    for (int i = 0; i < M; i++)
        for (int j = 0; j < OUTPUTS; j++) {
            double zz = 0, zy = 0, z = 0, mean = 0, slope;
            for (int k = 0; k < M; k++) {
                double zk = sqrt(D) * point(LINE, k, 0), y = p->y[k + j * M];
                zz += k == i ? 0 : zk * zk;
                zy += k == i ? 0 : zk * y;
                z += k == i ? 0 : zk;
                mean += k == i || !p->settings.means ? 0 : y / (M - 1);
            }
            zy -= z * mean;
            slope = p->settings.penalty == DKM_PENALTY_WEIGHTS ? zy / (zz + gamma)
                                                               : zz * zy / (zz * zz + gamma);
            sum += pow(p->y[i + j * M] - mean - sqrt(D) * point(LINE, i, 0) * slope, 2);
        }
    return sum / (M * OUTPUTS);
}

static void rank_one_matches_its_closed_form(dkm_ctx *ctx)
{
    for (int way = 0; way < 8; way++) {
        dkm_path_info info = {0};
        dkm_dmat *B = NULL;
        problem p;
        CHECK_OK(ctx, open_problem(&p, ctx, LINE, "linear", way & 1));
        p.settings.penalty = way & 2 ? DKM_PENALTY_COEFFICIENTS : DKM_PENALTY_WEIGHTS;
        p.settings.solver = way & 4 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        CHECK_OK(ctx, dkm_ridge_path(p.kernel, p.prepared, NB, &p.settings, p.Y, &B, &info));
        for (dkm_idx g = 0; g < info.count; g++)
            CHECK_CLOSE(info.points[g].loo / line_loo(&p, gammas[g]), 1.0,
                        tolerance(&p, D * M / 3.0, gammas[g]));
        dkm_dmat_destroy(&B);
        dkm_path_info_free(&info);
        close_problem(&p);
    }
}

/* Small buffers: gammas, columns and rows go in many pieces; and the matrix is not kept. */
static void small_buffers_change_nothing(dkm_ctx *ctx)
{
    for (int way = 0; way < 2; way++) {
        problem p;
        double largest;
        CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1.5)", 1));
        largest = gather_kernel(&p);
        p.settings.penalty = way ? DKM_PENALTY_COEFFICIENTS : DKM_PENALTY_WEIGHTS;
        p.settings.solver = DKM_PATH_EIGEN;
        p.settings.work_bytes = way ? 1 : 8 * M * 4;
        p.settings.keep = DKM_KEEP_NOTHING;
        run_and_compare(&p, largest);
        close_problem(&p);
    }
}

static void the_error_rate_of_classes_matches_real_refits(dkm_ctx *ctx)
{
    for (int way = 0; way < 4; way++) {
        problem p;
        double largest;
        CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)", 0));
        CHECK_OK(ctx, make_outputs(&p, SCATTERED, class_of, way & 1));
        largest = gather_kernel(&p);
        p.settings.classes = 1;
        p.settings.solver = way & 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        run_and_compare(&p, largest);
        close_problem(&p);
    }
}

static void every_grid_and_block_agrees(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        problem p;
        double largest;
        CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1.5)", 1));
        largest = gather_kernel(&p);
        dkm_dmat_destroy(&p.Y);
        dkm_grid_destroy(&p.grid);
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &p.grid));
        CHECK_OK(ctx, make_outputs(&p, SCATTERED, smooth, 1));
        p.settings.gammas = gammas + 2;
        p.settings.count = 3;
        p.settings.solver = P % 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        run_and_compare(&p, largest);
        close_problem(&p);
    }
}

static int hints, passed_over;

static void listen(void *user, dkm_level level, const char *text)
{
    (void)user;
    hints += level == DKM_INFO && strstr(text, "may be better still") != NULL;
    passed_over += level == DKM_WARN && strstr(text, "passed over") != NULL;
}

static void a_single_gamma_has_errors_only_when_asked(dkm_ctx *ctx)
{
    problem p;

    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1.5)", 0));
    p.settings.count = 1;
    p.settings.gammas = gammas + 3;
    for (int way = 0; way < 4; way++) {
        dkm_path_info info = {0};
        dkm_dmat *B = NULL;
        p.settings.errors = way & 1;
        p.settings.solver = way & 2 ? DKM_PATH_EIGEN : DKM_PATH_AUTO;
        CHECK_OK(ctx, dkm_ridge_path(p.kernel, p.prepared, NB, &p.settings, p.Y, &B, &info));
        CHECK(isnan(info.points[0].loo) == !(way & 1) && isnan(info.points[0].wrong));
        CHECK(strcmp(info.solver, way & 2 ? "eigen" : "cholesky") == 0);
        CHECK(info.best == 0 && info.ridge.residual < 1e-12);
        dkm_dmat_destroy(&B);
        dkm_path_info_free(&info);
    }
    close_problem(&p);
}

static double noise(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return dkm_random_normal(5, 0, (uint64_t)ig, (uint64_t)jg);
}

/* Outputs that no input tells, and gammas that are too small for them. */
static void the_least_error_decides(dkm_ctx *ctx)
{
    problem p;

    hints = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = listen});
    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=2)", 1));
    CHECK_OK(ctx, make_outputs(&p, SCATTERED, noise, 1));
    p.settings.count = 5;
    for (int way = 0; way < 4; way++) {
        dkm_path_info info = {0};
        dkm_dmat *B = NULL;
        dkm_idx best = 0;
        p.settings.select = way & 1 ? DKM_SELECT_GCV : DKM_SELECT_LOO;
        p.settings.solver = way & 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        CHECK_OK(ctx, dkm_ridge_path(p.kernel, p.prepared, NB, &p.settings, p.Y, &B, &info));
        for (dkm_idx g = 1; g < info.count; g++)
            if (way & 1 ? info.points[g].gcv < info.points[best].gcv
                        : info.points[g].loo < info.points[best].loo)
                best = g;
        CHECK(info.best == best);
        dkm_dmat_destroy(&B);
        dkm_path_info_free(&info);
    }
    CHECK(dkm_ctx_rank(ctx) != 0 || hints == 4);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    close_problem(&p);
}

/* Enough rows for the two methods to be timed, and enough gammas for one to be plainly cheaper. */
static void many_gammas_are_worth_an_eigendecomposition(dkm_ctx *ctx)
{
    enum { ROWS = 260 };
    static double many[300];
    dkm_path_settings s = dkm_path_settings_default();
    dkm_path_info info = {0};
    problem p;
    dkm_dmat *Y = NULL, *B = NULL;
    dkm_data *X = NULL;
    dkm_prepared *prepared = NULL;

    for (int g = 0; g < 300; g++)
        many[g] = 1e-3 * (1 + g);
    s.gammas = many;
    s.count = 300;
    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)", 0));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, ROWS, 1, &X));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        dkm_data_values(X)[i] = (double)(dkm_data_local_first(X) + i);
    CHECK_OK(ctx, dkm_kernel_prepare(p.kernel, X, &prepared));
    CHECK_OK(ctx, dkm_dmat_create(p.grid, ROWS, 1, NB, NB, DKM_F64, &Y));
    dkm_dmat_fill(Y, noise, NULL);
    CHECK_OK(ctx, dkm_ridge_path(p.kernel, prepared, NB, &s, Y, &B, &info));
    CHECK(info.solver && strcmp(info.solver, "eigen") == 0 && info.count == 300);
    CHECK(info.ridge.residual < 1e-12);
    dkm_path_info_free(&info);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&Y);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&X);
    close_problem(&p);
}

/* A distance kernel that is not positive definite: small gammas have no factor. */
static void gammas_without_a_factor_are_passed_over(dkm_ctx *ctx)
{
    static const double two[] = {1e-3, 1e3};
    problem p;

    CHECK_OK(ctx, open_problem(&p, ctx, LINE, "linear", 0));
    dkm_prepared_destroy(&p.prepared);
    dkm_kernel_destroy(&p.kernel);
    dkm_data_destroy(&p.X);
    CHECK_OK(ctx, dkm_data_create_dense(ctx, M, M, &p.X));
    p.X->mine.type = DKM_GRAM;
    for (dkm_idx i = 0; i < dkm_data_local_rows(p.X); i++)
        for (dkm_idx j = 0; j < M; j++)
            dkm_data_values(p.X)[i * M + j] =
                dkm_data_local_first(p.X) + i == j ? 1.0 : 0.9 * (-1.0);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "gram", &p.kernel));
    CHECK_OK(ctx, dkm_kernel_prepare(p.kernel, p.X, &p.prepared));
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = listen});
    p.settings.gammas = two;
    for (int way = 0; way < 4; way++) {
        dkm_path_info info = {0};
        dkm_dmat *B = NULL;
        dkm_status status;
        passed_over = 0;
        p.settings.count = way & 1 ? 1 : 2;
        p.settings.errors = 0;
        p.settings.solver = way & 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
        status = dkm_ridge_path(p.kernel, p.prepared, NB, &p.settings, p.Y, &B, &info);
        if (way & 1) {
            CHECK(status == DKM_ERR_NUMERIC && !B && !info.points);
            CHECK(strstr(dkm_ctx_message(ctx), "positive definite") != NULL);
            continue;
        }
        CHECK_OK(ctx, status);
        CHECK(info.best == 1 && isnan(info.points[0].loo) && isfinite(info.points[1].loo));
        CHECK(dkm_ctx_rank(ctx) != 0 || passed_over == !(way & 2));
        dkm_dmat_destroy(&B);
        dkm_path_info_free(&info);
    }
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    close_problem(&p);
}

static void refuse(problem *p, dkm_idx count, const double *list, const char *text)
{
    dkm_path_info info = {0};
    dkm_dmat *B = NULL;

    p->settings.count = count;
    p->settings.gammas = list;
    CHECK(dkm_ridge_path(p->kernel, p->prepared, NB, &p->settings, p->Y, &B, &info) == DKM_ERR_ARG);
    CHECK(!B && !info.points && strstr(dkm_ctx_message(p->ctx), text) != NULL);
}

static void bad_lists_are_refused(dkm_ctx *ctx)
{
    static double many[DKM_PATH_MOST + 1];
    const double bad[] = {1.0, -2.5}, zero[] = {0.0}, nan[] = {1.0, (double)NAN};
    const double infinite[] = {(double)INFINITY};
    problem p;

    for (int g = 0; g <= DKM_PATH_MOST; g++)
        many[g] = 1.0;
    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "linear", 0));
    refuse(&p, 0, many, "0 gammas");
    refuse(&p, DKM_PATH_MOST + 1, many, "1001 gammas");
    refuse(&p, 2, bad, "gamma = -2.5");
    refuse(&p, 1, zero, "gamma = 0");
    refuse(&p, 2, nan, "gamma = ");
    refuse(&p, 1, infinite, "gamma = inf");
    close_problem(&p);
}

static problem *brutal;

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
    problem p;

    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "linear", 1));
    brutal = &p;
    p.settings.gammas = gammas + 3;
    p.settings.count = 2;
    p.settings.solver = DKM_PATH_EIGEN;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    p.settings.solver = DKM_PATH_CHOLESKY;
    p.settings.penalty = DKM_PENALTY_COEFFICIENTS;
    p.settings.count = p.settings.errors = 1;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    close_problem(&p);
}

static const check_case cases[] = {
    CASE(errors_match_real_refits),
    CASE(duplicates_match_real_refits),
    CASE(rank_one_matches_its_closed_form),
    CASE(small_buffers_change_nothing),
    CASE(the_error_rate_of_classes_matches_real_refits),
    CASE(every_grid_and_block_agrees),
    CASE(a_single_gamma_has_errors_only_when_asked),
    CASE(the_least_error_decides),
    CASE(many_gammas_are_worth_an_eigendecomposition),
    CASE(gammas_without_a_factor_are_passed_over),
    CASE(bad_lists_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
