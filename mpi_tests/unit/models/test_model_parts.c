/* Parts of fitted models are enough to predict by hand. */
#include <math.h>
#include <string.h>

#include <dkmap/kpca.h>
#include <dkmap/krr.h>
#include <dkmap/method.h>
#include <dkmap/model_parts.h>
#include <dkmap/store.h>

#include "support/check.h"
#include "support/fixture_objects.h"
#include "support/scratch.h"

enum { M = 23, NEW = 5, D = 2 };

static double input(dkm_idx i, dkm_idx k)
{
    return sin(1.3 * (double)i + 2.1 * (double)k);
}

static double output(dkm_idx i, dkm_idx k)
{
    return cos(0.7 * (double)i) + (double)k + 3;
}

static double new_input(dkm_idx i, dkm_idx k)
{
    return input(i + M, k);
}

static double rbf(const double *x, const double *z, double sigma)
{
    return exp(-(pow(x[0] - z[0], 2) + pow(x[1] - z[1], 2)) / (2 * sigma * sigma));
}

static dkm_model *fit_krr(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, input);
    dkm_data *Y = objects_values(ctx, DKM_DENSE, M, 2, output);
    dkm_krr_settings settings = dkm_krr_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_model *model = NULL;

    settings.ridge.gamma = 0.25;
    settings.center = 1;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=0.9)", &kernel));
    CHECK_OK(ctx, dkm_krr_fit(ctx, X, Y, kernel, &settings, &model, NULL));
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return model;
}

/* A part as numbers on every rank; @return how many rows. */
static dkm_idx part_of(dkm_ctx *ctx, dkm_model *model, const char *name, double *all)
{
    dkm_data *part = NULL;
    dkm_idx rows = 0;

    CHECK_OK(ctx, dkm_model_part(model, name, &part));
    if (part) {
        objects_gather(part, all);
        rows = dkm_data_rows(part);
    }
    dkm_data_destroy(&part);
    return rows;
}

/* f(x) = k(x, X) B + b */
static void coefficients_inputs_and_intercept_predict(dkm_ctx *ctx)
{
    double B[M * 2], X[M * D], b[2], gamma, got[NEW * 2];
    dkm_model *model = fit_krr(ctx);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, NEW, D, new_input), *Y = NULL;

    CHECK(part_of(ctx, model, "coefficients", B) == M);
    CHECK(part_of(ctx, model, "inputs", X) == M);
    CHECK(part_of(ctx, model, "intercept", b) == 2);
    CHECK(part_of(ctx, model, "gamma", &gamma) == 1 && gamma == 0.25);
    CHECK_OK(ctx, dkm_model_predict(model, Z, &Y));
    objects_gather(Y, got);
    for (dkm_idx i = 0; i < NEW; i++)
        for (int k = 0; k < 2; k++) {
            double z[] = {new_input(i, 0), new_input(i, 1)}, f = b[k];
            for (dkm_idx j = 0; j < M; j++)
                f += rbf(z, X + D * j, 0.9) * B[2 * j + k];
            CHECK_CLOSE(got[2 * i + k], f, 1e-12);
        }
    dkm_data_destroy(&Y);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

static void parts_outlive_the_model(dkm_ctx *ctx)
{
    dkm_model *model = fit_krr(ctx);
    dkm_data *X = NULL;

    CHECK_OK(ctx, dkm_model_part(model, "inputs", &X));
    dkm_model_destroy(&model);
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        CHECK(dkm_data_values_const(X)[i * D] == input(dkm_data_local_first(X) + i, 0));
    dkm_data_destroy(&X);
}

static void all_parts_are_listed(dkm_ctx *ctx)
{
    dkm_model *model = fit_krr(ctx);
    dkm_parts *parts = NULL;
    dkm_idx count, found = 0;
    const double *b;

    CHECK_OK(ctx, dkm_parts_create(model, &parts));
    for (dkm_idx k = 0; k < dkm_parts_count(parts); k++)
        found += strcmp(dkm_parts_name(parts, k), "coefficients") == 0;
    CHECK(found == 1 && !dkm_parts_name(parts, dkm_parts_count(parts)));
    CHECK(strcmp(dkm_parts_text(parts, "kernel"), "rbf(sigma=0.9)") == 0);
    b = dkm_parts_reals(parts, "intercept", &count);
    CHECK(b && count == 2);
    CHECK(dkm_parts_data(parts, "inputs") != NULL);
    CHECK(!dkm_parts_data(parts, "kernel") && !dkm_parts_text(parts, "nothing"));
    dkm_parts_destroy(&parts);
    dkm_model_destroy(&model);
}

static void a_part_that_is_not_there_is_refused(dkm_ctx *ctx)
{
    dkm_model *model = fit_krr(ctx);
    dkm_data *part = NULL;

    CHECK(dkm_model_part(model, "coefficient", &part) == DKM_ERR_ARG && !part);
    CHECK(strstr(dkm_ctx_message(ctx), "coefficients") != NULL);
    dkm_model_destroy(&model);
}

/* The eigenvalues of a centered matrix sum up to its trace. */
static void eigenvalues_are_those_of_the_matrix(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, input);
    dkm_kpca_settings settings = dkm_kpca_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_model *model = NULL;
    double values[M], sum = 0, trace = 0, mean[D] = {0};
    dkm_idx count;

    settings.eigen.components = D;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &kernel));
    CHECK_OK(ctx, dkm_kpca_fit(ctx, X, kernel, &settings, &model, NULL));
    count = part_of(ctx, model, "eigenvalues", values);
    CHECK(count == D);
    for (dkm_idx k = 0; k < count; k++)
        sum += values[k];
    for (dkm_idx i = 0; i < M; i++)
        for (int k = 0; k < D; k++)
            mean[k] += input(i, k) / M;
    for (dkm_idx i = 0; i < M; i++)
        for (int k = 0; k < D; k++)
            trace += pow(input(i, k) - mean[k], 2);
    CHECK_CLOSE(sum, trace, 1e-11);
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
}

static double class_of(dkm_idx i, dkm_idx k)
{
    return input(i, k) > 0;
}

/* Every input of the model is the training input that its index names, also after a way through a
 * file. @return how many there are */
static dkm_idx check_indices(dkm_ctx *ctx, dkm_model **model)
{
    double X[M * D], rows[M];
    dkm_idx count = 0;
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "indices.h5", path);
    for (int loaded = 0; loaded < 2; loaded++) {
        dkm_data *indices = NULL;
        CHECK_OK(ctx, dkm_model_training_indices(*model, &indices));
        objects_gather(indices, rows);
        count = part_of(ctx, *model, "inputs", X);
        CHECK(dkm_data_rows(indices) == count && dkm_data_cols(indices) == 1);
        for (dkm_idx i = 0; i < count; i++)
            CHECK(X[D * i] == input((dkm_idx)rows[i], 0) && (i == 0 || rows[i] != rows[i - 1]));
        dkm_data_destroy(&indices);
        if (loaded)
            break;
        CHECK_OK(ctx, dkm_model_save(*model, path, ""));
        dkm_model_destroy(model);
        CHECK_OK(ctx, dkm_model_load(ctx, path, &(dkm_layout){0}, model));
    }
    dkm_model_destroy(model);
    scratch_remove(ctx, path);
    return count;
}

/* Landmarks of krr, support vectors of svm and of joint kernel maps, and models of all inputs. */
static void indices_are_those_of_the_training_inputs(dkm_ctx *ctx)
{
    static const char *const methods[][4] = {
        {"krr", "gamma", "0.1", NULL},    {"krr", "nystroem", "7", NULL},
        {"krr", "landmarks", "7", "pcg"}, {"kpca", "landmarks", "7", NULL},
        {"svm", "C", "100", NULL},        {"jkm", "C", "100", NULL}};
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, input);
    dkm_data *Y = objects_values(ctx, DKM_LABELS, M, 1, class_of);

    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const char *const *words = methods[k];
        int krr = strcmp(words[0], "krr") == 0, kpca = strcmp(words[0], "kpca") == 0;
        dkm_settings *settings = NULL;
        dkm_model *model = NULL;
        dkm_idx count;
        CHECK_OK(ctx, dkm_settings_create(ctx, words[0], &settings));
        CHECK_OK(ctx, dkm_settings_set(settings, "kx", "rbf(sigma=0.5)"));
        if (krr)
            CHECK_OK(ctx, dkm_settings_set(settings, "gamma", "0.1"));
        if (kpca)
            CHECK_OK(ctx, dkm_settings_set(settings, "components", "2"));
        if (words[3])
            CHECK_OK(ctx, dkm_settings_set(settings, "solver", words[3]));
        CHECK_OK(ctx, dkm_settings_set(settings, words[1], words[2]));
        CHECK_OK(ctx, dkm_fit(ctx, words[0], X, kpca ? NULL : Y, settings, &model, NULL));
        count = check_indices(ctx, &model);
        CHECK(k == 0 ? count == M : k < 4 ? count == 7 : count > 1 && count <= M);
        dkm_settings_destroy(&settings);
    }
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

static dkm_model *pressed;

static dkm_status part_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_data *part = NULL;

    (void)ctx;
    DKM_TRY(dkm_model_part(pressed, "inputs", &part));
    dkm_data_destroy(&part);
    DKM_TRY(dkm_model_part(pressed, "intercept", &part));
    dkm_data_destroy(&part);
    DKM_TRY(dkm_model_part(pressed, "kernel", &part));
out:
    dkm_data_destroy(&part);
    return status;
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    pressed = fit_krr(ctx);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, part_under_pressure);
    dkm_model_destroy(&pressed);
}

static const check_case cases[] = {
    CASE(coefficients_inputs_and_intercept_predict),
    CASE(parts_outlive_the_model),
    CASE(all_parts_are_listed),
    CASE(a_part_that_is_not_there_is_refused),
    CASE(eigenvalues_are_those_of_the_matrix),
    CASE(indices_are_those_of_the_training_inputs),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
