#include <math.h>
#include <string.h>

#include <dkmap/random.h>
#include <dkmap/ridge_path.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "reference/reference_linalg.h"
#include "support/check.h"

enum { M = 41, D = 6, OUTPUTS = 3, NB = 4 };

static const double gammas[] = {1e-10, 1e-6, 1e-3, 1, 1e3, 1e6};
enum { GAMMAS = sizeof gammas / sizeof *gammas };

typedef struct problem {
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_data *dense, *sparse;
    dkm_kernel *kernel;
    dkm_prepared *prepared;
    dkm_dmat *Y;
    double means[OUTPUTS];
    dkm_path_settings settings;
} problem;

/* Some columns are empty in a row, the last one in all but one row. */
static double entry(dkm_idx i, dkm_idx j)
{
    if (j == D - 1 ? i != 3 : (i + j) % 3 == 0)
        return 0.0;
    return dkm_random_normal(4, 0, (uint64_t)i, (uint64_t)j);
}

static double target(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return entry(ig, 0) - 2 * entry(ig, 1 + jg) + (double)jg +
           0.5 * dkm_random_normal(4, 1, (uint64_t)ig, (uint64_t)jg);
}

static dkm_local fill_sparse(dkm_ctx *ctx, dkm_objs *objs, dkm_idx first, dkm_idx n)
{
    dkm_local local = dkm_objs_init(objs, ctx, DKM_SPARSE, n, D, n * D);
    dkm_idx at = 0;

    for (dkm_idx i = 0; local.code == DKM_OK && i < n; i++) {
        for (dkm_idx j = 0; j < D; j++) {
            if (entry(first + i, j) == 0.0)
                continue;
            objs->col[at] = j;
            objs->val[at++] = entry(first + i, j);
        }
        objs->start[i + 1] = at;
    }
    return local;
}

static dkm_status make_inputs(problem *p)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    DKM_TRY(dkm_data_create_dense(p->ctx, M, D, &p->dense));
    for (dkm_idx i = 0; i < dkm_data_local_rows(p->dense); i++)
        for (dkm_idx j = 0; j < D; j++)
            dkm_data_values(p->dense)[D * i + j] = entry(dkm_data_local_first(p->dense) + i, j);
    DKM_AGREE(p->ctx, fill_sparse(p->ctx, &objs, dkm_data_local_first(p->dense),
                                  dkm_data_local_rows(p->dense)));
    DKM_TRY(dkm_data_wrap(p->ctx, M, &objs, &p->sparse));
out:
    dkm_objs_clear(&objs);
    return status;
}

static dkm_status open_problem(problem *p, dkm_ctx *ctx, int center)
{
    dkm_status status = DKM_OK;

    *p = (problem){.ctx = ctx, .settings = dkm_path_settings_default()};
    p->settings.count = GAMMAS;
    p->settings.gammas = gammas;
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &p->grid));
    DKM_TRY(make_inputs(p));
    DKM_TRY(dkm_kernel_parse(ctx, "linear", &p->kernel));
    DKM_TRY(dkm_kernel_prepare(p->kernel, p->dense, &p->prepared));
    DKM_TRY(dkm_dmat_create(p->grid, M, OUTPUTS, NB, NB, DKM_F64, &p->Y));
    dkm_dmat_fill(p->Y, target, NULL);
    if (center) {
        DKM_TRY(dkm_dmat_column_means(p->Y, p->means));
        dkm_dmat_add_row(p->Y, -1.0, p->means);
        p->settings.means = p->means;
    }
out:
    return status;
}

static void close_problem(problem *p)
{
    dkm_dmat_destroy(&p->Y);
    dkm_prepared_destroy(&p->prepared);
    dkm_kernel_destroy(&p->kernel);
    dkm_data_destroy(&p->sparse);
    dkm_data_destroy(&p->dense);
    dkm_grid_destroy(&p->grid);
}

/* X'X has eigenvalues down to that of the last column, entry(3, D - 1)^2, and up to about M: the
 * answers are off by rounding times (M + gamma) / (that + gamma). In the dual it is M / gamma. */
static double tolerance(double gamma)
{
    double least = entry(3, D - 1) * entry(3, D - 1);

    return 100.0 * M * 1.2e-16 * (M + gamma) / (least + gamma);
}

/* W = X'B */
static void compare_matrices(const dkm_dmat *W, const dkm_dmat *B)
{
    static double w[D * OUTPUTS], b[M * OUTPUTS];
    double size = 0;

    reference_gather(W, w);
    reference_gather(B, b);
    for (int k = 0; k < D * OUTPUTS; k++)
        size = fmax(size, fabs(w[k]));
    for (int k = 0; k < D * OUTPUTS; k++) {
        double sum = 0;
        for (int i = 0; i < M; i++)
            sum += entry(i, k % D) * b[i + k / D * M];
        CHECK_CLOSE(w[k] / size, sum / size, 1e-9);
    }
}

/* For one gamma, where the condition of the dual, M / gamma, leaves enough figures. */
static void compare_weights(problem *p, const dkm_data *X, double gamma)
{
    dkm_path_settings s = p->settings;
    dkm_path_info info[2] = {{0}};
    dkm_dmat *W = NULL, *B = NULL;

    s.count = 1;
    s.gammas = &gamma;
    CHECK_OK(p->ctx, dkm_ridge_primal(X, NB, &s, p->Y, &W, &info[0]));
    CHECK_OK(p->ctx, dkm_ridge_path(p->kernel, p->prepared, NB, &s, p->Y, &B, &info[1]));
    CHECK(dkm_dmat_rows(W) == D && info[0].ridge.residual < 1e-13);
    compare_matrices(W, B);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&W);
    dkm_path_info_free(&info[0]);
    dkm_path_info_free(&info[1]);
}

static void compare_with_dual(problem *p, const dkm_data *X, dkm_path_solver solver)
{
    dkm_path_settings dual = p->settings;
    dkm_path_info got = {0}, want = {0};
    dkm_dmat *W = NULL, *B = NULL;

    dual.solver = DKM_PATH_EIGEN;
    p->settings.solver = solver;
    CHECK_OK(p->ctx, dkm_ridge_primal(X, NB, &p->settings, p->Y, &W, &got));
    CHECK_OK(p->ctx, dkm_ridge_path(p->kernel, p->prepared, NB, &dual, p->Y, &B, &want));
    CHECK(strcmp(got.solver, solver == DKM_PATH_EIGEN ? "eigen" : "cholesky") == 0);
    for (dkm_idx g = 0; g < got.count; g++) {
        double slack = 1e-12 + 20.0 * M * 1.2e-16 * (M + gammas[g]) / gammas[g]; /* of the dual */
        CHECK_CLOSE(got.points[g].loo / want.points[g].loo, 1.0, tolerance(gammas[g]) + slack);
        CHECK_CLOSE(got.points[g].gcv / want.points[g].gcv, 1.0, tolerance(gammas[g]) + slack);
    }
    compare_weights(p, X, 1e-3);
    compare_weights(p, X, 1e3);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&W);
    dkm_path_info_free(&got);
    dkm_path_info_free(&want);
}

static void the_primal_is_the_dual(dkm_ctx *ctx)
{
    for (int way = 0; way < 8; way++) {
        problem p;
        CHECK_OK(ctx, open_problem(&p, ctx, way & 1));
        compare_with_dual(&p, way & 2 ? p.sparse : p.dense,
                          way & 4 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY);
        close_problem(&p);
    }
}

/* Inputs pass by a few rows at a time, and on some ranks there are none left. */
static void small_chunks_change_nothing(dkm_ctx *ctx)
{
    for (int way = 0; way < 4; way++) {
        problem p;
        CHECK_OK(ctx, open_problem(&p, ctx, 1));
        p.settings.work_bytes = way & 1 ? 1 : 16 * (D + OUTPUTS) * 4;
        compare_with_dual(&p, p.dense, way & 2 ? DKM_PATH_EIGEN : DKM_PATH_CHOLESKY);
        close_problem(&p);
    }
}

static void more_columns_than_rows_work_too(dkm_ctx *ctx)
{
    static const double one[] = {0.5};
    problem p;
    dkm_data *X = NULL;
    dkm_path_info info = {0};
    dkm_dmat *Y = NULL, *W = NULL;
    static double w[9];

    CHECK_OK(ctx, open_problem(&p, ctx, 0));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, 1, 9, &X));
    for (dkm_idx j = 0; j < 9 * dkm_data_local_rows(X); j++)
        dkm_data_values(X)[j] = (double)j;
    CHECK_OK(ctx, dkm_dmat_create(p.grid, 1, 1, NB, NB, DKM_F64, &Y));
    dkm_dmat_fill(Y, target, NULL);
    p.settings.count = 1;
    p.settings.gammas = one;
    p.settings.errors = 1;
    CHECK_OK(ctx, dkm_ridge_primal(X, NB, &p.settings, Y, &W, &info));
    reference_gather(W, w);
    for (int j = 0; j < 9; j++) /* x y / (x'x + gamma) */
        CHECK_CLOSE(w[j], j * target(NULL, 0, 0) / (204 + 0.5), 1e-12);
    /* nothing is left to learn from: the prediction is zero */
    CHECK_CLOSE(info.points[0].loo, target(NULL, 0, 0) * target(NULL, 0, 0), 1e-9);
    dkm_path_info_free(&info);
    dkm_dmat_destroy(&W);
    p.settings.means = p.means;
    CHECK(dkm_ridge_primal(X, NB, &p.settings, Y, &W, &info) == DKM_ERR_ARG && !W);
    CHECK(strstr(dkm_ctx_message(ctx), "only example") != NULL);
    dkm_dmat_destroy(&Y);
    dkm_data_destroy(&X);
    close_problem(&p);
}

static problem *brutal;

static dkm_status solve_once(dkm_ctx *ctx)
{
    dkm_path_info info = {0};
    dkm_dmat *W = NULL;
    dkm_status status =
        dkm_ridge_primal(brutal->sparse, NB, &brutal->settings, brutal->Y, &W, &info);

    (void)ctx;
    dkm_path_info_free(&info);
    dkm_dmat_destroy(&W);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    problem p;

    CHECK_OK(ctx, open_problem(&p, ctx, 1));
    brutal = &p;
    p.settings.count = p.settings.errors = 1;
    p.settings.gammas = gammas + 3;
    p.settings.solver = DKM_PATH_EIGEN;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    p.settings.solver = DKM_PATH_CHOLESKY;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
    close_problem(&p);
}

static const check_case cases[] = {
    CASE(the_primal_is_the_dual),
    CASE(small_chunks_change_nothing),
    CASE(more_columns_than_rows_work_too),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
