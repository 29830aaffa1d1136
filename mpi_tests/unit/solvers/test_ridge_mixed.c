#include <math.h>
#include <string.h>

#include <dkmap/random.h>
#include <dkmap/ridge.h>

#include "core/alloc.h"
#include "support/check.h"

enum { M = 120, MANY = 1600, OUTPUTS = 3 };

static dkm_idx rows = M; /* of the problems that are opened */

/* Kinds of inputs: scattered points, pairs of equal points, points of a line (a linear kernel on
 * them has rank one). */
enum { SCATTERED, DUPLICATES, LINE };

typedef struct problem {
    dkm_grid *grid;
    dkm_data *X;
    dkm_kernel *kernel;
    dkm_prepared *prepared;
    dkm_dmat *Y;
} problem;

static double point(int kind, dkm_idx i, dkm_idx j)
{
    if (kind == DUPLICATES)
        i /= 2;
    if (kind == LINE)
        return (double)(i + 1) / M;
    return dkm_random_normal(2, 0, (uint64_t)i, (uint64_t)j);
}

static double target(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return sin(0.1 * (double)(ig * (jg + 1))) + (jg == 1 ? 1e6 : 0.0);
}

static dkm_status open_problem(problem *p, dkm_ctx *ctx, int kind, const char *kernel)
{
    dkm_status status = DKM_OK;

    *p = (problem){0};
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &p->grid));
    DKM_TRY(dkm_data_create_dense(ctx, rows, 4, &p->X));
    for (dkm_idx i = 0; i < dkm_data_local_rows(p->X); i++)
        for (dkm_idx j = 0; j < 4; j++)
            dkm_data_values(p->X)[4 * i + j] = point(kind, dkm_data_local_first(p->X) + i, j);
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &p->kernel));
    DKM_TRY(dkm_kernel_prepare(p->kernel, p->X, &p->prepared));
    DKM_TRY(dkm_dmat_create(p->grid, rows, OUTPUTS, 16, 16, DKM_F64, &p->Y));
    dkm_dmat_fill(p->Y, target, NULL);
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

static dkm_ridge_settings settings_of(double gamma, dkm_ridge_precision precision, dkm_storage keep)
{
    dkm_ridge_settings s = dkm_ridge_settings_default();

    s.gamma = gamma;
    s.precision = precision;
    s.keep = keep;
    return s;
}

/* ||A - B|| / ||B|| */
static double relative_gap(const dkm_dmat *A, const dkm_dmat *B)
{
    double sums[2] = {0, 0};

    for (dkm_idx k = 0; k < dkm_dmat_local_rows(A) * dkm_dmat_local_cols(A); k++) {
        double a = dkm_dmat_f64_const(A)[k], b = dkm_dmat_f64_const(B)[k];
        sums[0] += (a - b) * (a - b);
        sums[1] += b * b;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(dkm_grid_ctx(dkm_dmat_grid(A))));
    return sqrt(sums[0] / sums[1]);
}

static void compare(dkm_ctx *ctx, int kind, const char *kernel, double gamma, dkm_storage keep)
{
    problem p;
    dkm_dmat *B = NULL, *D = NULL;
    dkm_ridge_settings mixed = settings_of(gamma, DKM_RIDGE_MIXED, keep);
    dkm_ridge_settings plain = settings_of(gamma, DKM_RIDGE_DOUBLE, keep);
    dkm_ridge_info info, wanted;

    CHECK_OK(ctx, open_problem(&p, ctx, kind, kernel));
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &mixed, p.Y, &B, &info));
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &plain, p.Y, &D, &wanted));
    CHECK(strcmp(info.precision, "mixed") == 0 && !info.fell_back);
    CHECK(info.recomputed == (keep == DKM_RECOMPUTE) && info.steps > 0);
    CHECK(info.residual <= 1e-10 || info.backward <= 1e-14);
    /* both answers are off by about their residual times the condition number */
    CHECK_CLOSE(relative_gap(B, D), 0.0,
                10.0 * (info.residual + wanted.residual + 1e-15) * fmax(wanted.condition, 1.0));
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&D);
    close_problem(&p);
}

static void mixed_precision_gives_the_double_answer(dkm_ctx *ctx)
{
    const dkm_storage keeps[] = {DKM_STORE, DKM_RECOMPUTE};

    for (int k = 0; k < 2; k++)
        for (int e = -5; e <= 6; e += 2) {
            compare(ctx, SCATTERED, "rbf(sigma=1)", pow(10, e), keeps[k]);
            compare(ctx, DUPLICATES, "rbf(sigma=2)", pow(10, e), keeps[k]);
            compare(ctx, LINE, "linear", pow(10, e), keeps[k]);
        }
}

static int shifts, fallbacks;

static void listen(void *user, dkm_level level, const char *text)
{
    (void)user;
    shifts += level == DKM_INFO && strstr(text, "shifting the preconditioner") != NULL;
    fallbacks += level == DKM_WARN && strstr(text, "going on in double") != NULL;
}

/* A wide kernel: all eigenvalues but a few are lost in single precision. */
static void a_shifted_factor_still_finds_the_answer(dkm_ctx *ctx)
{
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_settings s = settings_of(1e-5, DKM_RIDGE_MIXED, DKM_STORE);
    dkm_ridge_info info;

    shifts = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = listen});
    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "scale(rbf(sigma=30), by=100)"));
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
    CHECK(info.shift > 0 && !info.fell_back && info.residual <= 1e-10);
    CHECK(dkm_ctx_rank(ctx) != 0 || shifts > 0);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    dkm_dmat_destroy(&B);
    close_problem(&p);
}

static void a_hopeless_factor_falls_back_to_double(dkm_ctx *ctx)
{
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_settings s = settings_of(1e-12, DKM_RIDGE_MIXED, DKM_STORE);
    dkm_ridge_info info;

    fallbacks = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = listen});
    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=20)"));
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
    CHECK(info.fell_back && strcmp(info.precision, "double") == 0);
    CHECK(dkm_ctx_rank(ctx) != 0 || fallbacks == 1);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    dkm_dmat_destroy(&B);
    close_problem(&p);
}

static dkm_idx phase_calls(dkm_ctx *ctx, const char *name)
{
    dkm_phase_summary phases[32];
    int count = dkm_phase_summaries(ctx, 32, phases);

    for (int k = 0; k < count; k++)
        if (strcmp(phases[k].name, name) == 0)
            return phases[k].calls;
    return 0;
}

/* Double precision follows as soon as it is the faster way, and on the matrix that is there: without
 * a factor for each shift, iterations by the dozen or a second kernel matrix. The kernel is wide, so
 * that single precision has no factor, or less so, and conjugate gradients are slow. */
static void mixed_precision_gives_up_before_it_is_slower_than_double(dkm_ctx *ctx)
{
    const char *kernels[] = {"rbf(sigma=20)", "rbf(sigma=3)"};
    const double gammas[] = {1e-10, 3e-6};
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_info info;

    rows = MANY;
    for (int k = 0; k < 2; k++) {
        dkm_ridge_settings s = settings_of(gammas[k], DKM_RIDGE_MIXED, DKM_STORE);
        dkm_phase_clear(ctx);
        CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, kernels[k]));
        CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
        CHECK(info.fell_back && strcmp(info.precision, "double") == 0);
        CHECK(phase_calls(ctx, "gram") == 1);
        CHECK(phase_calls(ctx, "factor") <=
              4); /* conversion, single, shifted at most once, double */
        dkm_dmat_destroy(&B);
        close_problem(&p);
    }
    rows = M;
}

static void single_precision_is_rough_and_says_so(dkm_ctx *ctx)
{
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_settings s = settings_of(1e-2, DKM_RIDGE_SINGLE, DKM_STORAGE_AUTO);
    dkm_ridge_info info;

    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)"));
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
    CHECK(strcmp(info.precision, "single") == 0);
    CHECK(info.residual > 1e-12 && info.residual < 1e-2);
    dkm_dmat_destroy(&B);
    close_problem(&p);
}

static void few_rows_are_solved_in_double(dkm_ctx *ctx)
{
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_settings s = settings_of(1e-2, DKM_RIDGE_AUTO, DKM_STORAGE_AUTO);
    dkm_ridge_info info;

    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)"));
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
    CHECK(strcmp(info.precision, "double") == 0 && info.residual < 1e-13);
    CHECK(info.condition > 1.0 && info.condition < 1e5);
    dkm_dmat_destroy(&B);
    s.gamma = -1;
    CHECK(dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info) == DKM_ERR_ARG && !B);
    close_problem(&p);
}

static void a_double_matrix_that_does_not_fit_is_computed_anew(dkm_ctx *ctx)
{
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_settings s = settings_of(1e-2, DKM_RIDGE_MIXED, DKM_STORAGE_AUTO);
    dkm_ridge_info info;
    double held, m;

    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)"));
    held = (double)dkm_ctx_live_bytes(ctx);
    m = (double)dkm_dmat_rows(p.Y);
    MPI_Allreduce(MPI_IN_PLACE, &held, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_ctx_set_memory(ctx, held + 8.0 * m * m); /* between 4 and 12 bytes an element */
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
    CHECK(info.recomputed && !info.fell_back && info.residual <= 1e-12);
    dkm_dmat_destroy(&B);
    dkm_ctx_set_memory(ctx, 0);
    CHECK_OK(ctx, dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info));
    CHECK(!info.recomputed);
    dkm_dmat_destroy(&B);
    close_problem(&p);
}

static dkm_storage keep_to_try;

static dkm_status solve_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_ridge_settings s = settings_of(1.0, DKM_RIDGE_MIXED, keep_to_try);
    dkm_dmat *B = NULL;
    problem p;

    DKM_TRY(open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)"));
    DKM_TRY(dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, NULL));
out:
    dkm_dmat_destroy(&B);
    close_problem(&p);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    for (keep_to_try = DKM_STORE; keep_to_try <= DKM_RECOMPUTE; keep_to_try++)
        check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, solve_once);
}

static void a_wrong_gamma_on_one_rank_is_refused_by_all(dkm_ctx *ctx)
{
    problem p;
    dkm_dmat *B = NULL;
    dkm_ridge_info info;

    CHECK_OK(ctx, open_problem(&p, ctx, SCATTERED, "rbf(sigma=1)"));
    for (int precision = DKM_RIDGE_AUTO; precision <= DKM_RIDGE_SINGLE; precision++) {
        dkm_ridge_settings s = settings_of(1e-2, (dkm_ridge_precision)precision, DKM_STORAGE_AUTO);
        if (dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1)
            s.gamma = -1;
        CHECK(dkm_ridge_kernel(p.kernel, p.prepared, 16, &s, p.Y, &B, &info) == DKM_ERR_ARG && !B);
    }
    close_problem(&p);
}

static const check_case cases[] = {
    CASE(mixed_precision_gives_the_double_answer),
    CASE(a_shifted_factor_still_finds_the_answer),
    CASE(a_hopeless_factor_falls_back_to_double),
    CASE(mixed_precision_gives_up_before_it_is_slower_than_double),
    CASE(single_precision_is_rough_and_says_so),
    CASE(a_double_matrix_that_does_not_fit_is_computed_anew),
    CASE(few_rows_are_solved_in_double),
    CASE(a_wrong_gamma_on_one_rank_is_refused_by_all),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
