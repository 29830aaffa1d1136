#include <math.h>
#include <string.h>

#include <dkmap/random.h>
#include <dkmap/svm_dual.h>

#include "support/check.h"

/* M points of the plane; column c of the targets is a problem of its own. */
enum { M = 40, COLS = 5 };

static double input(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(7, 0, (uint64_t)i, (uint64_t)j);
}

static double kernel_value(dkm_idx i, dkm_idx j)
{
    double dx = input(i, 0) - input(j, 0), dy = input(i, 1) - input(j, 1);

    return exp(-(dx * dx + dy * dy) / 2.0);
}

static double target(dkm_idx i, dkm_idx c, dkm_svm_loss loss)
{
    double value = sin((double)(c + 1) * input(i, 0)) + input(i, 1) * cos((double)c);

    value += 0.3 * dkm_random_normal(7, 1, (uint64_t)i, (uint64_t)c);
    return loss == DKM_LOSS_EPS_INSENSITIVE ? value : value > 0 ? 1.0 : -1.0;
}

/* Targets of this rank's points, and coefficients of all of them on every rank. */
static dkm_status solve(dkm_ctx *ctx, const dkm_svm_dual_settings *s, double *B, double *b)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_prepared *prepared = NULL;
    dkm_data *X = NULL;
    dkm_grid *grid = NULL;
    double T[M * COLS];
    dkm_idx rounds = -1;

    memset(B, 0, M * COLS * sizeof *B);
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1)", &kernel));
    DKM_TRY(dkm_data_create_dense(ctx, M, 2, &X));
    for (dkm_idx k = 0; k < 2 * dkm_data_local_rows(X); k++)
        dkm_data_values(X)[k] = input(dkm_data_local_first(X) + k / 2, k % 2);
    for (dkm_idx k = 0; k < COLS * dkm_data_local_rows(X); k++)
        T[k] = target(dkm_data_local_first(X) + k / COLS, k % COLS, s->loss);
    DKM_TRY(dkm_kernel_prepare(kernel, X, &prepared));
    DKM_TRY(dkm_svm_dual_solve(
        &(dkm_svm_dual_problem){grid, kernel, prepared, 7, COLS, T, NULL, &rounds}, s,
        B + COLS * dkm_data_local_first(X), b));
    CHECK(s->solver == DKM_SVM_DECOMPOSITION ? rounds >= COLS : rounds == 0);
    MPI_Allreduce(MPI_IN_PLACE, B, M * COLS, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
out:
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    dkm_grid_destroy(&grid);
    return status;
}

static double decision(const double *B, const double *b, dkm_idx i, dkm_idx c)
{
    double f = b[c];

    for (dkm_idx j = 0; j < M; j++)
        f += B[j * COLS + c] * kernel_value(i, j);
    return f;
}

/* The conditions that hold at the optimum and nowhere else, whoever found it. */
static void check_point(const dkm_svm_dual_settings *s, double t, double f, double B)
{
    double tol = 1e-4, gap = 1.0 - t * f, alpha = t * B, off = t - f;

    switch (s->loss) {
    case DKM_LOSS_HINGE:
        CHECK(alpha >= 0 && alpha <= s->C + tol);
        CHECK(gap < tol || alpha > s->C - tol);
        CHECK(gap > -tol || alpha < tol);
        break;
    case DKM_LOSS_SQUARED_HINGE:
        CHECK_CLOSE(alpha, s->C * fmax(0.0, gap), tol * s->C);
        break;
    case DKM_LOSS_EPS_INSENSITIVE:
        CHECK(fabs(B) <= s->C + tol);
        CHECK(fabs(off) > s->tube - tol || fabs(B) < tol);
        CHECK(fabs(off) < s->tube + tol || fabs(fabs(B) - s->C) < tol);
        CHECK(fabs(B) < tol || B * off > 0);
        break;
    }
}

static void check_optimal(dkm_ctx *ctx, const dkm_svm_dual_settings *s)
{
    double B[M * COLS], b[COLS];

    CHECK_OK(ctx, solve(ctx, s, B, b));
    for (dkm_idx c = 0; c < COLS; c++) {
        double sum = 0;
        for (dkm_idx i = 0; i < M; i++) {
            check_point(s, target(i, c, s->loss), decision(B, b, i, c), B[i * COLS + c]);
            sum += B[i * COLS + c];
        }
        CHECK_CLOSE(sum, 0.0, 1e-6);
    }
}

/* By LIBSVM, and by decomposition with working sets of a pair, of a few, and of all. */
static void solutions_are_optimal(dkm_ctx *ctx)
{
    for (int loss = DKM_LOSS_HINGE; loss <= DKM_LOSS_EPS_INSENSITIVE; loss++)
        for (double C = 0.5; C < 10; C *= 4)
            for (int way = 0; way < 4; way++) {
                dkm_svm_dual_settings s = {
                    .loss = (dkm_svm_loss)loss, .C = C, .tube = 0.2, .tolerance = 1e-6};
                s.solver = way ? DKM_SVM_DECOMPOSITION : DKM_SVM_LIBSVM;
                s.working_set = way == 1 ? 2 : way == 2 ? 7 : 0;
                check_optimal(ctx, &s);
            }
}

/* LIBSVM is the peer: the same decision values to the tolerance that both stop at. */
static void decomposition_agrees_with_libsvm(dkm_ctx *ctx)
{
    for (int loss = DKM_LOSS_HINGE; loss <= DKM_LOSS_EPS_INSENSITIVE; loss++)
        for (double tolerance = 1e-3; tolerance > 1e-8; tolerance *= 1e-2) {
            dkm_svm_dual_settings s = {
                .loss = (dkm_svm_loss)loss, .C = 4, .tube = 0.1, .tolerance = tolerance};
            double B[2][M * COLS], b[2][COLS];
            for (int way = 0; way < 2; way++) {
                s.solver = way ? DKM_SVM_DECOMPOSITION : DKM_SVM_LIBSVM;
                s.working_set = 12;
                CHECK_OK(ctx, solve(ctx, &s, B[way], b[way]));
            }
            for (dkm_idx k = 0; k < M * COLS; k++)
                CHECK_CLOSE(decision(B[1], b[1], k / COLS, k % COLS),
                            decision(B[0], b[0], k / COLS, k % COLS), 20 * tolerance);
        }
}

static void small_problems_go_to_libsvm(dkm_ctx *ctx)
{
    dkm_svm_dual_settings s = dkm_svm_dual_settings_default();

    (void)ctx;
    CHECK(dkm_svm_dual_solver(&s, 4000) == DKM_SVM_LIBSVM);
    CHECK(dkm_svm_dual_solver(&s, 4001) == DKM_SVM_DECOMPOSITION);
    s.solver = DKM_SVM_LIBSVM;
    CHECK(dkm_svm_dual_solver(&s, 100000) == DKM_SVM_LIBSVM);
}

static void impossible_settings_are_refused(dkm_ctx *ctx)
{
    dkm_svm_dual_settings s = dkm_svm_dual_settings_default(), wrong[] = {s, s, s, s, s, s};
    double B[M * COLS], b[COLS];

    wrong[0].C = 0;
    wrong[1].tube = -1;
    wrong[2].tolerance = 0;
    wrong[3].working_set = 1;
    wrong[4].working_set = 50000;
    wrong[5].max_steps = -1;
    for (int k = 0; k < 6; k++)
        CHECK(solve(ctx, &wrong[k], B, b) == DKM_ERR_ARG);
}

static void a_problem_that_takes_too_many_steps_fails(dkm_ctx *ctx)
{
    dkm_svm_dual_settings s = {.loss = DKM_LOSS_HINGE,
                               .C = 100,
                               .tolerance = 1e-9,
                               .solver = DKM_SVM_DECOMPOSITION,
                               .working_set = 4,
                               .max_steps = 3};
    double B[M * COLS], b[COLS];

    CHECK(solve(ctx, &s, B, b) == DKM_ERR_NUMERIC);
    CHECK(strstr(dkm_ctx_message(ctx), "not optimal to 1e-09 after") != NULL);
    s.max_steps = 0;
    CHECK_OK(ctx, solve(ctx, &s, B, b));
}

static dkm_status solve_once(dkm_ctx *ctx)
{
    dkm_svm_dual_settings s = dkm_svm_dual_settings_default();
    double B[M * COLS], b[COLS];

    return solve(ctx, &s, B, b);
}

static dkm_status decompose_once(dkm_ctx *ctx)
{
    dkm_svm_dual_settings s = dkm_svm_dual_settings_default();
    double B[M * COLS], b[COLS];

    s.solver = DKM_SVM_DECOMPOSITION;
    return solve(ctx, &s, B, b);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, 0, solve_once);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, solve_once);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, decompose_once);
}

static const check_case cases[] = {
    CASE(solutions_are_optimal),
    CASE(decomposition_agrees_with_libsvm),
    CASE(small_problems_go_to_libsvm),
    CASE(impossible_settings_are_refused),
    CASE(a_problem_that_takes_too_many_steps_fails),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
