/* Methods by name: settings that are checked against tables, fits, and what they report. */
#include <math.h>
#include <string.h>

#include <dkmap/estimate.h>
#include <dkmap/method.h>
#include <dkmap/random.h>

#include "support/check.h"

enum { M = 40, D = 3 };

static dkm_status make_examples(dkm_ctx *ctx, dkm_data **X, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(ctx, M, D, X));
    DKM_TRY(dkm_data_create_dense(ctx, M, 1, Y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*X); i++) {
        uint64_t ig = (uint64_t)(dkm_data_local_first(*X) + i);
        double *x = dkm_data_values(*X) + i * D;
        for (dkm_idx j = 0; j < D; j++)
            x[j] = dkm_random_normal(3, 0, ig, (uint64_t)j);
        dkm_data_values(*Y)[i] = sin(x[0]) + x[1] * x[2];
    }
out:
    return status;
}

static void check_message(dkm_ctx *ctx, dkm_status got, const char *text)
{
    CHECK(got == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), text) != NULL);
}

static void wrong_names_and_values_are_explained(dkm_ctx *ctx)
{
    dkm_settings *s = NULL;

    check_message(ctx, dkm_settings_create(ctx, "kpac", &s), "did you mean 'kpca'");
    CHECK(s == NULL);
    CHECK_OK(ctx, dkm_settings_create(ctx, "kde", &s));
    check_message(ctx, dkm_settings_set(s, "regresor", "svr"), "did you mean regressor");
    check_message(ctx, dkm_settings_set(s, "gamma", "-1"), "gamma must be > 0, not -1");
    check_message(ctx, dkm_settings_set(s, "gamma", "1,2"), "gamma expects a number");
    check_message(ctx, dkm_settings_set(s, "solver", "lanczos"), "one of cholesky, pcg");
    dkm_settings_name_options(s, 1);
    check_message(ctx, dkm_settings_set(s, "max-iter", "0"), "--max-iter expects an integer");
    check_message(ctx, dkm_settings_check(ctx, s), "kde needs --kx");
    CHECK_OK(ctx, dkm_settings_set(s, "kx", "linear"));
    CHECK_OK(ctx, dkm_settings_set(s, "ky", "linear"));
    CHECK_OK(ctx, dkm_settings_set(s, "components", "2"));
    check_message(ctx, dkm_settings_check(ctx, s), "kde needs --gamma");
    dkm_settings_destroy(&s);
}

/* Every name of a setting sets the same one. */
static void second_names_set_the_same(dkm_ctx *ctx)
{
    static const char *const names[] = {"gamma", "ridge", "alpha"};
    dkm_settings *s = NULL, *copy = NULL;

    CHECK_OK(ctx, dkm_settings_create(ctx, "krr", &s));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(ctx, dkm_settings_set(s, names[k], "1,2,3"));
        CHECK(dkm_settings_count(s, "gamma") == 3);
        CHECK_OK(ctx, dkm_settings_set(s, names[k], NULL));
        CHECK(dkm_settings_count(s, "gamma") == 0);
    }
    CHECK_OK(ctx, dkm_settings_set(s, "penalty", "coefficients"));
    CHECK(strcmp(dkm_settings_text(s, "regularizer"), "coefficients") == 0);
    CHECK_OK(ctx, dkm_settings_set(s, "reduce", "7"));
    CHECK_OK(ctx, dkm_settings_copy(ctx, s, &copy));
    CHECK_OK(ctx, dkm_settings_set(s, "nystroem", "8"));
    CHECK(strcmp(dkm_settings_text(copy, "nystroem"), "7") == 0);
    CHECK(strcmp(dkm_settings_text(copy, "solver"), "auto") == 0);
    CHECK(dkm_settings_text(copy, "no such setting") == NULL);
    dkm_settings_destroy(&copy);
    dkm_settings_destroy(&s);
}

/* Tables are sound: names are unlike, and defaults are values. */
static void every_table_is_sound(dkm_ctx *ctx)
{
    const dkm_method *method;
    const dkm_setting *row, *other;

    (void)ctx;
    for (int m = 0; (method = dkm_method_at(m)); m++) {
        CHECK(dkm_method_find(dkm_method_name(method)) == method);
        CHECK(dkm_method_summary(method) && dkm_method_example(method));
        CHECK(dkm_method_inputs(method) != NULL);
        for (int k = 0; (row = dkm_method_setting(method, k)); k++) {
            dkm_value value;
            CHECK(row->help != NULL);
            CHECK(!row->default_text || dkm_setting_parse(row, row->default_text, &value));
            for (int l = 0; l < k && (other = dkm_method_setting(method, l)); l++) {
                CHECK(!dkm_setting_is_called(other, row->name, strlen(row->name)));
                CHECK(!dkm_setting_is_called(row, other->name, strlen(other->name)));
            }
        }
    }
}

/* Kernels as objects, and examples that stay the caller's, also when the model keeps them. */
static void fits_borrow_examples(dkm_ctx *ctx)
{
    dkm_data *X = NULL, *Y = NULL, *before = NULL, *after = NULL;
    dkm_kernel *kx = NULL;
    dkm_settings *s = NULL;
    dkm_model *model = NULL;
    dkm_report *report = NULL;

    CHECK_OK(ctx, make_examples(ctx, &X, &Y));
    CHECK_OK(ctx, dkm_settings_create(ctx, "krr", &s));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=2)", &kx));
    CHECK_OK(ctx, dkm_settings_set_kernel(s, "kx", kx));
    dkm_kernel_destroy(&kx);
    CHECK_OK(ctx, dkm_settings_set_real(s, "ridge", 0.1));
    CHECK_OK(ctx, dkm_fit(ctx, "krr", X, Y, s, &model, &report));
    CHECK_OK(ctx, dkm_model_predict(model, X, &before));
    CHECK(dkm_report_real(report, "m") == M);
    CHECK(dkm_report_real(report, "residual") < 1e-6);
    CHECK(isnan(dkm_report_real(report, "no such result")));
    CHECK(strcmp(dkm_report_text(report, "kernel"), "rbf(sigma=2)") == 0);
    dkm_settings_destroy(&s);
    dkm_data_destroy(&Y);
    CHECK_OK(ctx, dkm_model_predict(model, X, &after));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        CHECK(dkm_data_values(before)[i] == dkm_data_values(after)[i]);
    dkm_data_destroy(&X); /* the model has a share of its own */
    dkm_data_destroy(&after);
    CHECK_OK(ctx, make_examples(ctx, &X, &Y));
    CHECK_OK(ctx, dkm_model_predict(model, X, &after));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        CHECK(dkm_data_values(before)[i] == dkm_data_values(after)[i]);
    dkm_report_destroy(&report);
    dkm_model_destroy(&model);
    dkm_data_destroy(&after);
    dkm_data_destroy(&before);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

static void unfit_examples_and_settings_are_refused(dkm_ctx *ctx)
{
    dkm_data *X = NULL, *Y = NULL;
    dkm_settings *s = NULL;
    dkm_model *model = NULL;

    CHECK_OK(ctx, make_examples(ctx, &X, &Y));
    CHECK_OK(ctx, dkm_settings_create(ctx, "kpca", &s));
    check_message(ctx, dkm_fit(ctx, "krr", X, Y, s, &model, NULL), "with settings of kpca");
    check_message(ctx, dkm_fit(ctx, "kde", X, Y, NULL, &model, NULL), "kde needs kx");
    check_message(ctx, dkm_fit(ctx, "kpca", X, Y, s, &model, NULL), "without outputs");
    check_message(ctx, dkm_settings_set_data(s, "kx", X), "is not data");
    CHECK(model == NULL);
    dkm_settings_destroy(&s);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

/* Clones evaluate as their originals do. */
static void clones_are_equal(dkm_ctx *ctx)
{
    static const char *const texts[] = {"linear", "rbf(normalize(poly(degree=2, c=1)), sigma=1)",
                                        "sum(linear, scale(rbf(sigma=2), by=3))"};
    dkm_data *X = NULL, *Y = NULL;

    CHECK_OK(ctx, make_examples(ctx, &X, &Y));
    for (int k = 0; k < 3; k++) {
        dkm_kernel *kernel = NULL, *copy = NULL;
        dkm_prepared *prepared[2] = {NULL, NULL};
        double values[2][M];
        CHECK_OK(ctx, dkm_kernel_parse(ctx, texts[k], &kernel));
        CHECK_OK(ctx, dkm_kernel_clone(ctx, kernel, &copy));
        CHECK(strcmp(dkm_kernel_text(kernel), dkm_kernel_text(copy)) == 0);
        CHECK(dkm_kernel_is_linear(copy) == (k == 0));
        CHECK_OK(ctx, dkm_kernel_prepare(kernel, X, &prepared[0]));
        CHECK_OK(ctx, dkm_kernel_diagonal(prepared[0], values[0]));
        dkm_prepared_destroy(&prepared[0]);
        dkm_kernel_destroy(&kernel);
        CHECK_OK(ctx, dkm_kernel_prepare(copy, X, &prepared[1]));
        CHECK_OK(ctx, dkm_kernel_diagonal(prepared[1], values[1]));
        for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
            CHECK(values[0][i] == values[1][i]);
        dkm_prepared_destroy(&prepared[1]);
        dkm_kernel_destroy(&copy);
    }
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

/* Estimates grow with the examples, and seconds are unknown without rates. */
static void estimates_follow_sizes(dkm_ctx *ctx)
{
    dkm_workload work = {.m = 1000,
                         .x_cols = 10,
                         .y_cols = 2,
                         .x_bytes = 80,
                         .y_bytes = 16,
                         .ranks = 4,
                         .P = 2,
                         .Q = 2,
                         .block = 64,
                         .nodes = 1};
    dkm_settings *s = NULL;
    dkm_cost small, large;

    CHECK_OK(ctx, dkm_settings_create(ctx, "krr", &s));
    CHECK_OK(ctx, dkm_settings_set(s, "kx", "rbf(sigma=1)"));
    CHECK_OK(ctx, dkm_settings_set(s, "gamma", "1"));
    CHECK_OK(ctx, dkm_estimate(ctx, s, &work, NULL, &small));
    work.m = 4000;
    CHECK_OK(ctx, dkm_estimate(ctx, s, &work, NULL, &large));
    CHECK(small.count > 1 && large.peak > small.peak && large.flops > 30 * small.flops);
    CHECK(isnan(small.seconds));
    dkm_settings_destroy(&s);
}

static const check_case cases[] = {CASE(wrong_names_and_values_are_explained),
                                   CASE(second_names_set_the_same),
                                   CASE(every_table_is_sound),
                                   CASE(fits_borrow_examples),
                                   CASE(unfit_examples_and_settings_are_refused),
                                   CASE(clones_are_equal),
                                   CASE(estimates_follow_sizes)};

CHECK_MAIN(cases)
