/* Kernels that are functions of the program, held against built-in ones that do the same. */
#include <math.h>

#include <dkmap/grid.h>
#include <dkmap/kernel_callback.h>
#include <dkmap/krr.h>
#include <dkmap/method.h>
#include <dkmap/store.h>

#include "support/scratch.h"

enum { M = 29, NEW = 7, D = 3 };

static double element(dkm_idx i, dkm_idx j)
{
    return sin(1.7 * (double)i + 0.9 * (double)j);
}

/* exp(-||x - x'||^2 / 2 s^2), with s the user's. */
static int gauss(void *user, const dkm_rows *A, const dkm_rows *B, double *values)
{
    double s = *(const double *)user;

    for (dkm_idx i = 0; i < dkm_rows_count(A); i++)
        for (dkm_idx j = 0; j < dkm_rows_count(B); j++) {
            const double *x = dkm_rows_values(A, i), *z = dkm_rows_values(B, j);
            double square = 0;
            for (dkm_idx k = 0; k < dkm_rows_cols(A); k++)
                square += (x[k] - z[k]) * (x[k] - z[k]);
            values[i * dkm_rows_count(B) + j] = exp(-square / (2 * s * s));
        }
    return 0;
}

static int one(void *user, const dkm_rows *X, double *values)
{
    (void)user;
    for (dkm_idx i = 0; i < dkm_rows_count(X); i++)
        values[i] = 1;
    return 0;
}

/* Letters that two strings have at the same places. */
static int agreement(void *user, const dkm_rows *A, const dkm_rows *B, double *values)
{
    (void)user;
    for (dkm_idx i = 0; i < dkm_rows_count(A); i++)
        for (dkm_idx j = 0; j < dkm_rows_count(B); j++) {
            dkm_idx m, n;
            const char *s = dkm_rows_string(A, i, &m), *t = dkm_rows_string(B, j, &n);
            double same = 0;
            for (dkm_idx k = 0; k < m && k < n; k++)
                same += s[k] == t[k];
            values[i * dkm_rows_count(B) + j] = same;
        }
    return 0;
}

static dkm_data *make_points(dkm_ctx *ctx, dkm_idx m, dkm_idx from)
{
    double rows[M * D];
    dkm_array a = dkm_array_row_major(rows, dkm_ctx_rank(ctx) == 0 ? m : 0, D);
    dkm_data *data = NULL;

    for (dkm_idx i = 0; i < m; i++)
        for (dkm_idx j = 0; j < D; j++)
            rows[i * D + j] = element(from + i, j);
    CHECK_OK(ctx, dkm_data_from_array(ctx, DKM_DENSE, &a, &data));
    return data;
}

static void enter_gauss(dkm_ctx *ctx, int diagonal)
{
    static double width = 0.8;

    CHECK_OK(ctx, dkm_kernel_register(
                      ctx, "mine", &(dkm_kernel_callback){&width, gauss, diagonal ? one : NULL}));
}

/* Local rows of the Gram matrix of some points. */
static void gram_of(dkm_ctx *ctx, const char *expression, double *rows)
{
    dkm_data *X = make_points(ctx, M, 0);
    dkm_kernel *kernel = NULL;
    dkm_prepared *prepared = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, expression, &kernel));
    CHECK_OK(ctx, dkm_kernel_prepare(kernel, X, &prepared));
    CHECK_OK(ctx, dkm_gram_slab(prepared, rows));
    dkm_prepared_destroy(&prepared);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
}

static void check_same(dkm_ctx *ctx, const char *mine, const char *built_in)
{
    double a[M * M], b[M * M];
    dkm_idx n = dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    gram_of(ctx, mine, a);
    gram_of(ctx, built_in, b);
    for (dkm_idx k = 0; k < n * M; k++)
        CHECK_CLOSE(a[k], b[k], 1e-14);
}

static void a_registered_kernel_is_one_like_any(dkm_ctx *ctx)
{
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        enter_gauss(ctx, diagonal);
        check_same(ctx, "mine", "rbf(sigma=0.8)");
        check_same(ctx, "sum(mine, poly(degree=2, c=1))",
                   "sum(rbf(sigma=0.8), poly(degree=2, c=1))");
        check_same(ctx, "normalize(scale(mine, by=3))", "rbf(sigma=0.8)");
        check_same(ctx, "rbf(mine, sigma=2)", "rbf(rbf(sigma=0.8), sigma=2)");
    }
}

static void two_registered_kernels_do_not_mix(dkm_ctx *ctx)
{
    static double wide = 2.5;

    enter_gauss(ctx, 0);
    CHECK_OK(ctx, dkm_kernel_register(ctx, "wide", &(dkm_kernel_callback){&wide, gauss, NULL}));
    check_same(ctx, "sum(mine, wide)", "sum(rbf(sigma=0.8), rbf(sigma=2.5))");
    check_same(ctx, "product(wide, mine)", "product(rbf(sigma=2.5), rbf(sigma=0.8))");
}

static dkm_model *fit(dkm_ctx *ctx, const char *expression, dkm_precision precision)
{
    dkm_data *X = make_points(ctx, M, 0), *Y = make_points(ctx, M, 100);
    dkm_krr_settings settings = dkm_krr_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_model *model = NULL;

    settings.ridge.gamma = 1e-2;
    settings.ridge.precision = precision == DKM_F64 ? DKM_RIDGE_DOUBLE : DKM_RIDGE_MIXED;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, expression, &kernel));
    CHECK_OK(ctx, dkm_krr_fit(ctx, X, Y, kernel, &settings, &model, NULL));
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return model;
}

/* Predictions of new points, all on this rank. */
static void predict(dkm_ctx *ctx, dkm_model *model, double *values)
{
    dkm_data *X = make_points(ctx, NEW, 40), *Y = NULL;
    dkm_rows *rows = NULL;

    CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
    CHECK_OK(ctx, dkm_rows_get(Y, 0, NEW, &rows));
    for (dkm_idx i = 0; i < NEW; i++)
        for (dkm_idx j = 0; j < D; j++)
            values[i * D + j] = dkm_rows_values(rows, i)[j];
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

static void a_fit_is_that_of_the_built_in_kernel(dkm_ctx *ctx)
{
    double mine[NEW * D], built_in[NEW * D];

    enter_gauss(ctx, 1);
    for (int precision = DKM_F64; precision <= DKM_F32; precision++) {
        dkm_model *a = fit(ctx, "mine", (dkm_precision)precision);
        dkm_model *b = fit(ctx, "rbf(sigma=0.8)", (dkm_precision)precision);
        predict(ctx, a, mine);
        predict(ctx, b, built_in);
        for (int k = 0; k < NEW * D; k++)
            CHECK_CLOSE(mine[k], built_in[k], precision == DKM_F64 ? 1e-12 : 1e-8);
        dkm_model_destroy(&a);
        dkm_model_destroy(&b);
    }
}

/* Labels 0, 1, 2 by the sign of the inputs. */
static dkm_data *make_labels(dkm_ctx *ctx)
{
    int64_t labels[M];
    dkm_data *data = NULL;

    for (dkm_idx i = 0; i < M; i++)
        labels[i] = (element(i, 0) > 0) + (element(i, 1) > 0);
    CHECK_OK(ctx, dkm_data_from_labels(ctx, dkm_ctx_rank(ctx) == 0 ? M : 0, labels, &data));
    return data;
}

/* A method and what it asks for beside the kernel of the inputs. */
typedef struct named_fit {
    const char *method, *names[3], *values[3];
    int learns_labels;
} named_fit;

/* Predictions of a method that was fitted by name, all on this rank; @return how many numbers. */
static dkm_idx fit_by_name(dkm_ctx *ctx, const named_fit *f, const char *kernel, double *values)
{
    int has_outputs = dkm_method_outputs(dkm_method_find(f->method)) != NULL;
    dkm_data *X = make_points(ctx, M, 0), *Z = make_points(ctx, NEW, 40), *F = NULL;
    dkm_data *Y = f->learns_labels ? make_labels(ctx) : make_points(ctx, M, 100);
    dkm_settings *settings = NULL;
    dkm_model *model = NULL;
    dkm_rows *rows = NULL;
    dkm_idx count = 0;

    CHECK_OK(ctx, dkm_settings_create(ctx, f->method, &settings));
    CHECK_OK(ctx, dkm_settings_set(settings, "kx", kernel));
    for (int k = 0; k < 3 && f->names[k]; k++)
        CHECK_OK(ctx, dkm_settings_set(settings, f->names[k], f->values[k]));
    CHECK_OK(ctx, dkm_fit(ctx, f->method, X, has_outputs ? Y : NULL, settings, &model, NULL));
    if (model)
        CHECK_OK(ctx, dkm_model_predict(model, Z, &F));
    if (F) {
        CHECK_OK(ctx, dkm_rows_get(F, 0, NEW, &rows));
        for (dkm_idx i = 0; i < NEW; i++)
            for (dkm_idx j = 0; j < dkm_rows_cols(rows); j++)
                values[count++] = dkm_rows_values(rows, i)[j];
    }
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&F);
    dkm_model_destroy(&model);
    dkm_settings_destroy(&settings);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
    return count;
}

static void methods_take_registered_kernels(dkm_ctx *ctx)
{
    static const named_fit fits[] = {
        {"krr", {"gamma"}, {"0.5"}, 0},
        {"kpca", {"components"}, {"3"}, 0},
        {"kde", {"ky", "components", "gamma"}, {"linear", "all", "0.5"}, 0},
        {"knn", {"k"}, {"3"}, 0},
        {"svm", {"C"}, {"2"}, 1},
        {"jkm", {"joint", "C"}, {"tensor", "2"}, 1},
    };
    double mine[NEW * M], built_in[NEW * M];

    enter_gauss(ctx, 0);
    for (size_t k = 0; k < sizeof fits / sizeof *fits; k++) {
        dkm_idx count = fit_by_name(ctx, &fits[k], "mine", mine);
        CHECK(count > 0 && fit_by_name(ctx, &fits[k], "rbf(sigma=0.8)", built_in) == count);
        for (dkm_idx i = 0; i < count; i++)
            CHECK_CLOSE(mine[i], built_in[i], 1e-9);
    }
}

static void strings_have_registered_kernels_too(dkm_ctx *ctx)
{
    const char *strings[] = {"abcd", "abxd", "zzcd", ""};
    const double want[] = {4, 3, 2, 0, 3, 4, 1, 0, 2, 1, 4, 0, 0, 0, 0, 0};
    double rows[16];
    dkm_data *X = NULL;
    dkm_kernel *kernel = NULL;
    dkm_prepared *prepared = NULL;

    CHECK_OK(ctx,
             dkm_kernel_register(ctx, "places", &(dkm_kernel_callback){NULL, agreement, NULL}));
    CHECK_OK(ctx, dkm_data_from_strings(ctx, DKM_STRINGS, dkm_ctx_rank(ctx) == 0 ? 4 : 0, strings,
                                        NULL, &X));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "places", &kernel));
    CHECK_OK(ctx, dkm_kernel_prepare(kernel, X, &prepared));
    CHECK_OK(ctx, dkm_gram_slab(prepared, rows));
    for (dkm_idx k = 0; k < 4 * dkm_data_local_rows(X); k++)
        CHECK(rows[k] == want[4 * dkm_data_local_first(X) + k]);
    dkm_prepared_destroy(&prepared);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
}

/* Fails, or gives NaN, on the rank that has object 0 as a row. */
static int fail_at_first(void *user, const dkm_rows *A, const dkm_rows *B, double *values)
{
    static double width = 1;
    int code = gauss(&width, A, B, values);

    if (dkm_rows_count(A) == 0 || dkm_rows_values(A, 0)[0] != element(0, 0))
        return code;
    values[0] = NAN;
    return *(const int *)user;
}

static void a_failing_function_fails_on_all_ranks(dkm_ctx *ctx)
{
    int code = 7;
    dkm_data *X = make_points(ctx, M, 0);
    dkm_kernel *kernel = NULL;
    dkm_prepared *prepared = NULL;

    CHECK_OK(ctx,
             dkm_kernel_register(ctx, "bad", &(dkm_kernel_callback){&code, fail_at_first, NULL}));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "sum(bad, bad)", &kernel));
    CHECK(dkm_kernel_prepare(kernel, X, &prepared) == DKM_ERR_ARG && !prepared);
    CHECK(strstr(dkm_ctx_message(ctx), "'bad' failed with code 7") != NULL);
    code = 0;
    CHECK(dkm_kernel_prepare(kernel, X, &prepared) == DKM_ERR_NUMERIC && !prepared);
    CHECK(strstr(dkm_ctx_message(ctx), "'bad' gave") != NULL);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
}

static void wrong_names_are_refused(dkm_ctx *ctx)
{
    dkm_kernel_callback f = {NULL, agreement, NULL}, none = {0};
    dkm_kernel *kernel = NULL;

    CHECK(dkm_kernel_register(ctx, "rbf", &f) == DKM_ERR_ARG);
    CHECK(dkm_kernel_register(ctx, "2nd", &f) == DKM_ERR_ARG);
    CHECK(dkm_kernel_register(ctx, "a b", &f) == DKM_ERR_ARG);
    CHECK(dkm_kernel_register(ctx, "fine", &none) == DKM_ERR_ARG);
    CHECK(dkm_kernel_parse(ctx, "fine", &kernel) == DKM_ERR_ARG);
    enter_gauss(ctx, 0);
    CHECK(dkm_kernel_parse(ctx, "mine(linear)", &kernel) == DKM_ERR_ARG);
    CHECK(dkm_kernel_parse(ctx, "mine(sigma=2)", &kernel) == DKM_ERR_ARG);
}

static void a_saved_model_needs_its_function_again(dkm_ctx *ctx)
{
    double before[NEW * D], after[NEW * D];
    char path[SCRATCH_LENGTH];
    dkm_layout layout = {0};
    dkm_model *model = NULL, *loaded = NULL;
    dkm_ctx *other = NULL;

    enter_gauss(ctx, 0);
    model = fit(ctx, "sum(mine, linear)", DKM_F64);
    predict(ctx, model, before);
    scratch_path(ctx, "callback.h5", path);
    CHECK_OK(ctx, dkm_model_save(model, path, "test"));
    dkm_model_destroy(&model);

    CHECK(dkm_ctx_create(dkm_ctx_comm(ctx), &other) == DKM_OK);
    CHECK(dkm_model_load(other, path, &layout, &loaded) == DKM_ERR_UNSUPPORTED && !loaded);
    CHECK(strstr(dkm_ctx_message(other), "'mine'") && strstr(dkm_ctx_message(other), "register"));
    enter_gauss(other, 1);
    CHECK_OK(other, dkm_model_load(other, path, &layout, &loaded));
    predict(other, loaded, after);
    for (int k = 0; k < NEW * D; k++)
        CHECK_CLOSE(after[k], before[k], 1e-12);
    dkm_model_destroy(&loaded);
    dkm_ctx_destroy(&other);
    scratch_remove(ctx, path);
}

static dkm_status gram_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    double rows[4 * 4];
    dkm_data *X = NULL;
    dkm_kernel *kernel = NULL;
    dkm_prepared *prepared = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, 4, D, &X));
    DKM_TRY(dkm_kernel_parse(ctx, "sum(mine, mine)", &kernel));
    DKM_TRY(dkm_kernel_prepare(kernel, X, &prepared));
    DKM_TRY(dkm_gram_slab(prepared, rows));
out:
    dkm_prepared_destroy(&prepared);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
    return status;
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    enter_gauss(ctx, 0);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, gram_under_pressure);
}

static const check_case cases[] = {
    CASE(a_registered_kernel_is_one_like_any),
    CASE(two_registered_kernels_do_not_mix),
    CASE(a_fit_is_that_of_the_built_in_kernel),
    CASE(strings_have_registered_kernels_too),
    CASE(methods_take_registered_kernels),
    CASE(a_failing_function_fails_on_all_ranks),
    CASE(wrong_names_are_refused),
    CASE(a_saved_model_needs_its_function_again),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
