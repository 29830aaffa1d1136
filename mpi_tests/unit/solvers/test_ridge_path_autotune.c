#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "data/objects.h"
#include "support/check.h"
#include "support/fixture_ridge_path.h"

enum { M = PATH_M, NB = PATH_NB };

static int hints, passed_over;

static void listen(void *user, dkm_level level, const char *text)
{
    (void)user;
    hints += level == DKM_INFO && strstr(text, "may be better still") != NULL;
    passed_over += level == DKM_WARN && strstr(text, "passed over") != NULL;
}

static void a_single_gamma_has_errors_only_when_asked(dkm_ctx *ctx)
{
    path_problem p;

    CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "rbf(sigma=1.5)", 0));
    p.settings.count = 1;
    p.settings.gammas = path_gammas + 3;
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
    path_problem_close(&p);
}

static double noise(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return dkm_random_normal(5, 0, (uint64_t)ig, (uint64_t)jg);
}

/* Outputs that no input tells, and path_gammas that are too small for them. */
static void the_least_error_decides(dkm_ctx *ctx)
{
    path_problem p;

    hints = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = listen});
    CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "rbf(sigma=2)", 1));
    CHECK_OK(ctx, path_problem_outputs(&p, SCATTERED, noise, 1));
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
    path_problem_close(&p);
}

/* Bytes beyond those that are held, all ranks together. */
static void limit_memory(dkm_ctx *ctx, double more)
{
    double held = (double)dkm_ctx_live_bytes(ctx);

    MPI_Allreduce(MPI_IN_PLACE, &held, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_ctx_set_memory(ctx, held + more);
}

/* Enough rows for the two methods to be timed, and enough path_gammas for one to be plainly
 * cheaper. */
static void many_gammas_are_worth_one_decomposition_where_it_fits(dkm_ctx *ctx)
{
    enum { ROWS = 260 };
    static double many[300];
    dkm_path_settings s = dkm_path_settings_default();
    dkm_path_info info = {0};
    path_problem p;
    dkm_dmat *Y = NULL, *B = NULL;
    dkm_data *X = NULL;
    dkm_prepared *prepared = NULL;

    for (int g = 0; g < 300; g++)
        many[g] = 1e-3 * (1 + g);
    s.gammas = many;
    s.count = 300;
    CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "rbf(sigma=1)", 0));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, ROWS, 1, &X));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        dkm_data_values(X)[i] = (double)(dkm_data_local_first(X) + i);
    CHECK_OK(ctx, dkm_kernel_prepare(p.kernel, X, &prepared));
    CHECK_OK(ctx, dkm_dmat_create(p.grid, ROWS, 1, NB, NB, DKM_F64, &Y));
    dkm_dmat_fill(Y, noise, NULL);
    CHECK_OK(ctx, dkm_ridge_path(p.kernel, prepared, NB, &s, Y, &B, &info));
    CHECK(info.solver && strcmp(info.solver, "cholesky") != 0 && info.count == 300);
    CHECK(info.ridge.residual < 1e-12);
    dkm_path_info_free(&info);
    dkm_dmat_destroy(&B);
    s.count = 20;
    limit_memory(ctx, 2.5 * 8.0 * ROWS * ROWS); /* room for the matrix, not for its vectors too */
    CHECK_OK(ctx, dkm_ridge_path(p.kernel, prepared, NB, &s, Y, &B, &info));
    CHECK(info.solver && strcmp(info.solver, "cholesky") == 0);
    dkm_ctx_set_memory(ctx, 0);
    dkm_path_info_free(&info);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&Y);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&X);
    path_problem_close(&p);
}

/* A distance kernel that is not positive definite: small path_gammas have no factor. */
static void gammas_without_a_factor_are_passed_over(dkm_ctx *ctx)
{
    static const double two[] = {1e-3, 1e3};
    path_problem p;

    CHECK_OK(ctx, path_problem_open(&p, ctx, LINE, "linear", 0));
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
    for (int way = 0; way < 6; way++) {
        dkm_path_info info = {0};
        dkm_dmat *B = NULL;
        dkm_status status;
        passed_over = 0;
        p.settings.count = way & 1 ? 1 : 2;
        p.settings.errors = 0;
        p.settings.solver = way & 4 ? DKM_PATH_BAND : way & 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY;
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
    path_problem_close(&p);
}

static void refuse(path_problem *p, dkm_idx count, const double *list, const char *text)
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
    path_problem p;

    for (int g = 0; g <= DKM_PATH_MOST; g++)
        many[g] = 1.0;
    CHECK_OK(ctx, path_problem_open(&p, ctx, SCATTERED, "linear", 0));
    refuse(&p, 0, many, "0 gammas");
    refuse(&p, DKM_PATH_MOST + 1, many, "1001 gammas");
    refuse(&p, 2, bad, "gamma = -2.5");
    refuse(&p, 1, zero, "gamma = 0");
    refuse(&p, 2, nan, "gamma = ");
    refuse(&p, 1, infinite, "gamma = inf");
    path_problem_close(&p);
}

static const check_case cases[] = {
    CASE(a_single_gamma_has_errors_only_when_asked),
    CASE(the_least_error_decides),
    CASE(many_gammas_are_worth_one_decomposition_where_it_fits),
    CASE(gammas_without_a_factor_are_passed_over),
    CASE(bad_lists_are_refused),
};

CHECK_MAIN(cases)
