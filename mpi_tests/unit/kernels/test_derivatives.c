#include <math.h>

#include <dkmap/random.h>

#include "kernels/evaluation/derivatives.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 12, D = 3 };

static const char *const expressions[] = {
    "linear",
    "poly(degree=1, c=0)",
    "poly(degree=4, c=0.5)",
    "rbf(sigma=1.5)",
    "expdot(sigma=1.2)",
    "cosine",
    "sum(rbf(sigma=2), linear, poly(degree=2, c=1))",
    "product(linear, cosine, rbf(sigma=1))",
    "scale(power(linear, degree=3), by=0.1)",
    "exp(scale(linear, by=0.2))",
    "normalize(poly(degree=3, c=1))",
    "rbf(poly(degree=2, c=1), sigma=3)",
    "rbf(normalize(sum(expdot(sigma=2), linear)), sigma=0.7)",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static double element(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(3, 1, (uint64_t)i, (uint64_t)k);
}

/* g at <x, y>, ||x||^2, ||y||^2, with its slopes where they are wanted. */
static double evaluate(const dkm_kernel *kernel, const double *x, const double *y, double *dk_ds,
                       double *dk_da)
{
    double s = 0, a = 0, b = 0, k = 0, slope_s = 0, slope_a = 0;
    dkm_dots pair = {1, &s, &a, &b};
    dkm_derivatives out = {&k, &slope_s, &slope_a};

    for (int j = 0; j < D; j++) {
        s += x[j] * y[j];
        a += x[j] * x[j];
        b += y[j] * y[j];
    }
    dkm_kernel_derivatives(kernel, &pair, &out);
    if (dk_ds)
        *dk_ds = slope_s;
    if (dk_da)
        *dk_da = slope_a;
    return k;
}

static void row(dkm_idx i, double x[D])
{
    for (dkm_idx k = 0; k < D; k++)
        x[k] = element(i, k);
}

/* The gradient by_s y + 2 by_a x against differences of values. */
static void check_gradient(const dkm_kernel *kernel, dkm_idx i, dkm_idx j)
{
    double x[D], y[D], dk_ds, dk_da, h = 1e-5, k;

    row(i, x);
    row(j, y);
    k = evaluate(kernel, x, y, &dk_ds, &dk_da);
    for (int e = 0; e < D; e++) {
        double at = x[e], up, down;
        x[e] = at + h;
        up = evaluate(kernel, x, y, NULL, NULL);
        x[e] = at - h;
        down = evaluate(kernel, x, y, NULL, NULL);
        x[e] = at;
        CHECK_CLOSE((up - down) / (2 * h), dk_ds * y[e] + 2 * dk_da * x[e],
                    1e-7 * (1 + fabs(k) + fabs(dk_ds) + fabs(dk_da)));
    }
}

static void slopes_are_those_of_differences(dkm_ctx *ctx)
{
    for (int e = 0; e < EXPRESSIONS; e++) {
        dkm_kernel *kernel = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, expressions[e], &kernel));
        CHECK(dkm_kernel_has_derivatives(kernel));
        for (dkm_idx i = 0; i < M; i++)
            for (dkm_idx j = 0; j < M; j++)
                if (i != j)
                    check_gradient(kernel, i, j);
        dkm_kernel_destroy(&kernel);
    }
}

static void values_are_those_of_the_gram_matrix(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, element), *rows = NULL;
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (int e = 0; e < EXPRESSIONS; e++) {
        dkm_kernel *kernel = NULL;
        dkm_prepared *prepared = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, expressions[e], &kernel));
        CHECK_OK(ctx, dkm_kernel_prepare(kernel, X, &prepared));
        CHECK_OK(ctx, dkm_gram_rows(grid, kernel, prepared, 4, 0, &rows));
        for (dkm_idx i = 0; i < dkm_data_local_rows(rows); i++)
            for (dkm_idx j = 0; j < M; j++) {
                double x[D], y[D], want = dkm_data_values_const(rows)[i * M + j];
                row(dkm_data_local_first(rows) + i, x);
                row(j, y);
                CHECK_CLOSE(evaluate(kernel, x, y, NULL, NULL), want, 1e-13 * (1 + fabs(want)));
            }
        dkm_data_destroy(&rows);
        dkm_prepared_destroy(&prepared);
        dkm_kernel_destroy(&kernel);
    }
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&X);
}

/* Long stretches are cut into lanes: the last of many pairs is like a pair alone. */
static void any_number_of_pairs_is_taken(dkm_ctx *ctx)
{
    enum { N = 3 * DKM_PAIRS + 7 };
    static double s[N], a[N], b[N], k[N], dk_ds[N], dk_da[N];
    dkm_kernel *kernel = NULL;
    dkm_dots pairs = {N, s, a, b};
    dkm_derivatives out = {k, dk_ds, dk_da};

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=2)", &kernel));
    for (int i = 0; i < N; i++) {
        s[i] = 0.001 * i;
        a[i] = b[i] = 2.0;
    }
    dkm_kernel_derivatives(kernel, &pairs, &out);
    for (int i = 0; i < N; i++) {
        double want = exp(-(4.0 - 2.0 * s[i]) / 8.0);
        CHECK_CLOSE(k[i], want, 1e-15);
        CHECK_CLOSE(dk_ds[i], want / 4.0, 1e-15);
        CHECK_CLOSE(dk_da[i], -want / 8.0, 1e-15);
    }
    dkm_kernel_destroy(&kernel);
}

/* Zero rows have the value that tiles give them, and no slope. */
static void zero_rows_have_no_slope(dkm_ctx *ctx)
{
    double zero[D] = {0}, one[D] = {1, 0, 0}, dk_ds, dk_da;
    const char *texts[] = {"cosine", "normalize(linear)"};

    for (int e = 0; e < 2; e++) {
        dkm_kernel *kernel = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, texts[e], &kernel));
        CHECK(evaluate(kernel, zero, zero, &dk_ds, &dk_da) == 1.0 && dk_ds == 0 && dk_da == 0);
        CHECK(evaluate(kernel, zero, one, &dk_ds, &dk_da) == 0.0 && dk_ds == 0 && dk_da == 0);
        dkm_kernel_destroy(&kernel);
    }
}

static void kernels_are_inverted_where_they_can_be(dkm_ctx *ctx)
{
    const char *good[] = {"linear", "poly(degree=3, c=1)", "expdot(sigma=2)",
                          "scale(power(linear, degree=5), by=3)", "exp(scale(linear, by=0.5))"};
    const char *bad[] = {"poly(degree=2, c=1)",     "rbf(sigma=1)",        "cosine",
                         "power(linear, degree=2)", "sum(linear, linear)", "normalize(linear)"};

    for (int e = 0; e < 5; e++) {
        dkm_kernel *kernel = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, good[e], &kernel));
        CHECK(dkm_kernel_invertible(kernel));
        for (double s = -2; s <= 2; s += 0.25) {
            double x[D] = {s, 0, 0}, y[D] = {1, 0, 0};
            CHECK_CLOSE(dkm_kernel_inverse(kernel, evaluate(kernel, x, y, NULL, NULL)), s, 1e-13);
        }
        dkm_kernel_destroy(&kernel);
    }
    for (int e = 0; e < 6; e++) {
        dkm_kernel *kernel = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, bad[e], &kernel));
        CHECK(!dkm_kernel_invertible(kernel));
        dkm_kernel_destroy(&kernel);
    }
}

static void kernels_of_other_forms_have_no_slopes(dkm_ctx *ctx)
{
    const char *texts[] = {"laplace(sigma=1)", "sum(linear, laplace(sigma=1))", "rownorm(linear)",
                           "ssk(r=2, lambda=0.5)", "class"};

    for (int e = 0; e < 5; e++) {
        dkm_kernel *kernel = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, texts[e], &kernel));
        CHECK(!dkm_kernel_has_derivatives(kernel));
        dkm_kernel_destroy(&kernel);
    }
}

static const check_case cases[] = {
    CASE(slopes_are_those_of_differences),        CASE(values_are_those_of_the_gram_matrix),
    CASE(any_number_of_pairs_is_taken),           CASE(zero_rows_have_no_slope),
    CASE(kernels_are_inverted_where_they_can_be), CASE(kernels_of_other_forms_have_no_slopes),
};

CHECK_MAIN(cases)
