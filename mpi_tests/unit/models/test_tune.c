/* The gradient of the leave-one-out error against differences of the error, whose own oracle are
 * refits (test_ridge_path); and that following it ends no worse than it began. */
#include <math.h>
#include <string.h>

#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "kernels/gram/gram.h"
#include "kernels/gram/param_gradient.h"
#include "models/common/tune.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 37, D = 3, OUTPUTS = 2, MOST = 8 };

static const char *const expressions[] = {
    "rbf(sigma=1.5)",
    "rbf(sigma=1;2;0.7)",
    "matern(sigma=1.3, nu=0.5)",
    "matern(sigma=1.3, nu=1.5)",
    "matern(sigma=2;1;1.5, nu=2.5)",
    "matern(sigma=2;1;1.5, nu=0.5)",
    "rq(sigma=1.2, alpha=0.8)",
    "rq(sigma=1;2;3, alpha=2)",
    "laplace(sigma=2)",
    "laplace(sigma=2;1;3)",
    "poly(degree=2, c=0.7)",
    "expdot(sigma=2)",
    "on(0;2, rbf(sigma=1;2))",
    "sum(rbf(sigma=2), scale(linear, by=0.3))",
    "product(rbf(sigma=2), sum(poly(degree=2, c=1), matern(sigma=1, nu=1.5)))",
    "scale(product(on(0, rbf(sigma=1)), on(1;2, laplace(sigma=2))), by=1.5)",
    "normalize(sum(poly(degree=2, c=0.5), scale(expdot(sigma=2), by=0.5)))",
    "rbf(normalize(poly(degree=3, c=0.8)), sigma=0.9)",
    "exp(scale(power(rbf(sigma=2), degree=2), by=0.5))",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static double element(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(5, 1, (uint64_t)i, (uint64_t)k);
}

static dkm_idx slab_first(dkm_ctx *ctx)
{
    return dkm_slab_first(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

/* This rank's rows of the outputs, or of what is left of their means. */
static void fill_targets(dkm_ctx *ctx, int center, dkm_loo_targets *targets)
{
    double means[OUTPUTS];

    CHECK(dkm_multivec_init(&targets->T, ctx, M, OUTPUTS).code == DKM_OK);
    targets->T.cols = OUTPUTS;
    targets->center = center;
    for (dkm_idx i = 0; i < targets->T.n; i++)
        for (dkm_idx j = 0; j < OUTPUTS; j++)
            targets->T.a[i * OUTPUTS + j] = 2.0 + sin(element(slab_first(ctx) + i, j)) +
                                            0.3 * element(slab_first(ctx) + i, 10 + j);
    if (center)
        dkm_multivec_center(&targets->T, M, means);
}

typedef struct problem {
    dkm_data *X;
    dkm_grid *grid;
    dkm_idx nb;
    dkm_kernel *kernel;
    dkm_loo_targets targets;
    dkm_idx count;
    dkm_param_place places[MOST];
} problem;

/* The error; and its gradient, that by gamma last, where it is wanted. */
static double error_of(dkm_ctx *ctx, problem *p, double gamma, double *gradient)
{
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL, *G = NULL;
    double loss = NAN;

    p->targets.no_gradient = !gradient;
    CHECK(dkm_kernel_update(p->kernel).code == DKM_OK);
    CHECK_OK(ctx, dkm_kernel_prepare(p->kernel, p->X, &prepared));
    CHECK_OK(ctx, dkm_gram(p->grid, p->kernel, prepared, p->nb, DKM_F64, &K));
    CHECK_OK(ctx, dkm_loo_gradient(K, gamma, &p->targets, &loss, &G));
    if (gradient) {
        CHECK_OK(ctx, dkm_gram_param_gradient(prepared, G, p->count, p->places, gradient));
        gradient[p->count] = dkm_dmat_mean_diagonal(G) * M;
    }
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&prepared);
    return loss;
}

/* (L(x + h) - L(x - h)) / 2h is off by h^2 L''' / 6 and by eps L / h: 1e-10 for h = 1e-5 x. */
static double difference(dkm_ctx *ctx, problem *p, double *gamma, double *number)
{
    double at = *number, h = 1e-5 * at, above, below;

    *number = at + h;
    above = error_of(ctx, p, *gamma, NULL);
    *number = at - h;
    below = error_of(ctx, p, *gamma, NULL);
    *number = at;
    return (above - below) / (2.0 * h);
}

static void compare(dkm_ctx *ctx, const char *expression, int center, dkm_idx nb)
{
    double gradient[MOST + 1], gamma = 0.1, loss;
    problem p = {.nb = nb};

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &p.grid));
    p.X = objects_values(ctx, DKM_DENSE, M, D, element);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, expression, &p.kernel));
    fill_targets(ctx, center, &p.targets);
    p.count = dkm_kernel_list_params(p.kernel, MOST, p.places);
    CHECK(p.count > 0 && p.count <= MOST);
    loss = error_of(ctx, &p, gamma, gradient);
    for (dkm_idx k = 0; k <= p.count; k++) {
        double *number = k < p.count ? dkm_param_number(p.kernel, &p.places[k]) : &gamma;
        CHECK_CLOSE(*number * gradient[k] / loss,
                    *number * difference(ctx, &p, &gamma, number) / loss, 1e-6);
    }
    dkm_multivec_free(&p.targets.T);
    dkm_kernel_destroy(&p.kernel);
    dkm_data_destroy(&p.X);
    dkm_grid_destroy(&p.grid);
}

static void gradients_are_those_of_differences(dkm_ctx *ctx)
{
    for (int e = 0; e < EXPRESSIONS; e++)
        compare(ctx, expressions[e], 0, 4);
}

static void an_intercept_and_other_blocks_change_nothing(dkm_ctx *ctx)
{
    compare(ctx, "rbf(sigma=1;2;0.7)", 1, 5);
    compare(ctx, "sum(rbf(sigma=2), scale(linear, by=0.3))", 1, 64);
}

/* The error is that of the ridge path, which a test of its own holds against refits. */
static void the_error_is_that_of_the_path(dkm_ctx *ctx)
{
    static const double gamma = 0.1;
    dkm_krr_settings s = dkm_krr_settings_default();
    problem p = {.nb = 8};
    dkm_krr_info info = {0};
    dkm_model *model = NULL;
    dkm_data *Y = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &p.grid));
    p.X = objects_values(ctx, DKM_DENSE, M, D, element);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &p.kernel));
    fill_targets(ctx, 0, &p.targets);
    CHECK_OK(ctx, dkm_data_create_dense(ctx, M, OUTPUTS, &Y));
    memcpy(dkm_data_values(Y), p.targets.T.a, (size_t)(p.targets.T.n * OUTPUTS) * sizeof(double));
    s.count = 1;
    s.gammas = &gamma;
    s.loo = 1;
    CHECK_OK(ctx, dkm_krr_fit(ctx, p.X, Y, p.kernel, &s, &model, &info));
    CHECK_CLOSE(error_of(ctx, &p, gamma, NULL), info.path.points[0].loo, 1e-12);
    dkm_krr_info_free(&info);
    dkm_model_destroy(&model);
    dkm_data_destroy(&Y);
    dkm_multivec_free(&p.targets.T);
    dkm_kernel_destroy(&p.kernel);
    dkm_data_destroy(&p.X);
    dkm_grid_destroy(&p.grid);
}

#ifdef DKM_HAVE_NLOPT
static dkm_status tune(dkm_ctx *ctx, const char *expression, int columns, dkm_tune_info *info)
{
    const dkm_tune_settings settings = {.fits = 30, .starts = 2, .columns = columns};
    dkm_loo_targets targets = {0};
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL;
    double gamma = 0.1;

    DKM_AGREE(ctx, dkm_multivec_init(&targets.T, ctx, M, 1));
    targets.T.cols = 1;
    for (dkm_idx i = 0; i < targets.T.n; i++)
        targets.T.a[i] = sin(2.0 * element(slab_first(ctx) + i, 0));
    DKM_TRY(dkm_data_create_dense(ctx, M, D, &X));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X) * D; i++)
        dkm_data_values(X)[i] = element(dkm_data_local_first(X) + i / D, i % D);
    DKM_TRY(dkm_kernel_parse(ctx, expression, &kernel));
    DKM_TRY(dkm_kernel_tune(X, &targets, &settings, kernel, &gamma, info));
out:
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
    dkm_multivec_free(&targets.T);
    return status;
}

static void following_the_gradient_lowers_the_error(dkm_ctx *ctx)
{
    dkm_tune_info one, columns;

    CHECK_OK(ctx, tune(ctx, "rbf(sigma=2)", 0, &one));
    CHECK(one.after < 0.9 * one.before && one.fits <= 30 && one.params == 2);
    CHECK_OK(ctx, tune(ctx, "rbf(sigma=2)", 1, &columns));
    CHECK(columns.after < 0.9 * one.after && columns.fits <= 30 && columns.params == D + 1);
    CHECK(tune(ctx, "linear", 0, &one) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "no numbers") != NULL);
}

enum { MANY = 160, FEW = 50 };

/* Inputs, targets and a kernel; @p fits looks from one start, @p subset examples first. */
static dkm_status tune_many(dkm_ctx *ctx, dkm_idx subset, dkm_idx fits, problem *p, double *gamma,
                            dkm_tune_info *info)
{
    const dkm_tune_settings settings = {.fits = fits, .starts = 1, .subset = subset};
    dkm_status status = DKM_OK;
    dkm_idx first = dkm_slab_first(MANY, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double means[1];

    *gamma = 0.1;
    DKM_AGREE(ctx, dkm_multivec_init(&p->targets.T, ctx, MANY, 1));
    p->targets.T.cols = 1;
    p->targets.center = 1;
    for (dkm_idx i = 0; i < p->targets.T.n; i++)
        p->targets.T.a[i] = sin(2.0 * element(first + i, 0)) + 0.3 * element(first + i, 10);
    dkm_multivec_center(&p->targets.T, MANY, means);
    DKM_TRY(dkm_data_create_dense(ctx, MANY, D, &p->X));
    for (dkm_idx i = 0; i < dkm_data_local_rows(p->X) * D; i++)
        dkm_data_values(p->X)[i] = element(dkm_data_local_first(p->X) + i / D, i % D);
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &p->kernel));
    p->count = dkm_kernel_list_params(p->kernel, MOST, p->places);
    DKM_TRY(dkm_kernel_tune(p->X, &p->targets, &settings, p->kernel, gamma, info));
out:
    return status;
}

static void problem_free(problem *p)
{
    dkm_multivec_free(&p->targets.T);
    dkm_kernel_destroy(&p->kernel);
    dkm_data_destroy(&p->X);
    dkm_grid_destroy(&p->grid);
}

/* The end is a minimum for all examples: the slope of log L by log x is that of rounding and of the
 * tolerance, sqrt(2 h 1e-6) for a second derivative h of about 1; and no more of an error than a search by
 * all of them from the beginning finds. */
static void a_search_by_subsets_ends_at_a_minimum_for_all(dkm_ctx *ctx)
{
    problem direct = {.nb = 16}, staged = {.nb = 16};
    dkm_tune_info all, some;
    double gamma, gradient[MOST + 1], loss;

    CHECK_OK(ctx, tune_many(ctx, 0, 100, &direct, &gamma, &all));
    CHECK_OK(ctx, tune_many(ctx, FEW, 100, &staged, &gamma, &some));
    CHECK(all.subset == 0 && all.full == all.fits);
    CHECK(some.subset == FEW && some.full < some.fits && some.full <= 100);
    CHECK(some.after <= (1 + 1e-4) * all.after);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &staged.grid));
    loss = error_of(ctx, &staged, gamma, gradient);
    CHECK_CLOSE(loss, some.after, 1e-10);
    gradient[staged.count] *= (double)MANY / M;
    CHECK(fabs(gradient[staged.count] * gamma / loss) < 6e-3);
    for (dkm_idx k = 0; k < staged.count; k++)
        CHECK(fabs(gradient[k] * *dkm_param_number(staged.kernel, &staged.places[k]) / loss) <
              6e-3);
    problem_free(&staged);
    problem_free(&direct);
}

/* A subset that is asked for is made large enough for the numbers that are tuned; and what is found is no worse than
 * without one. */
static void a_subset_that_is_too_small_does_no_harm(dkm_ctx *ctx)
{
    static const dkm_idx subsets[] = {10, FEW, 80, 120};
    problem direct = {.nb = 16};
    dkm_tune_info all, some;
    double gamma;

    CHECK_OK(ctx, tune_many(ctx, 0, 100, &direct, &gamma, &all));
    for (int k = 0; k < 4; k++) {
        problem staged = {.nb = 16};
        CHECK_OK(ctx, tune_many(ctx, subsets[k], 100, &staged, &gamma, &some));
        CHECK(some.subset == (k == 0 ? FEW : subsets[k]));
        CHECK(some.after <= 1.01 * all.after);
        CHECK(some.full <= 100);
        problem_free(&staged);
    }
    problem_free(&direct);
}

/* However few looks are allowed, there is one by all examples. */
static void few_looks_are_enough(dkm_ctx *ctx)
{
    for (dkm_idx fits = 8; fits < 12; fits++) {
        problem p = {.nb = 16};
        dkm_tune_info info;
        double gamma;
        CHECK_OK(ctx, tune_many(ctx, 10, fits, &p, &gamma, &info));
        CHECK(info.full <= fits && info.full >= 1 && isfinite(info.after));
        problem_free(&p);
    }
}

static dkm_status attempt_staged(dkm_ctx *ctx)
{
    problem p = {.nb = 16};
    dkm_tune_info info;
    double gamma;
    dkm_status status = tune_many(ctx, FEW, 8, &p, &gamma, &info);

    problem_free(&p);
    return status;
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_tune_info info;

    return tune(ctx, "sum(rbf(sigma=5), scale(linear, by=1))", 0, &info);
}

static void any_allocation_may_fail(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt_staged);
}
#endif

static const check_case cases[] = {
    CASE(gradients_are_those_of_differences),
    CASE(an_intercept_and_other_blocks_change_nothing),
    CASE(the_error_is_that_of_the_path),
#ifdef DKM_HAVE_NLOPT
    CASE(following_the_gradient_lowers_the_error),
    CASE(a_search_by_subsets_ends_at_a_minimum_for_all),
    CASE(a_subset_that_is_too_small_does_no_harm),
    CASE(few_looks_are_enough),
    CASE(any_allocation_may_fail),
#endif
};

CHECK_MAIN(cases)
