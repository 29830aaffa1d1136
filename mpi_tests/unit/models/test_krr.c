#include <math.h>
#include <string.h>

#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "io/archive/archive.h"
#include "models/registry/model_impl.h"
#include "support/check.h"

enum { M = 23, D = 3, OUTPUTS = 2, NEW = 7 };

static const double gammas[] = {1e-4, 1e-2, 1.0};

static double entry(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(7, 0, (uint64_t)i, (uint64_t)j);
}

/* Rows [first, first + m) of an endless table. */
static dkm_status make_rows(dkm_ctx *ctx, dkm_idx first, dkm_idx m, dkm_idx d, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, d, X);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*X) * d; k++)
        dkm_data_values(*X)[k] = entry(first + dkm_data_local_first(*X) + k / d, k % d);
    return status;
}

/* Class 1 or 4 by the sign of the first column. */
static dkm_status make_labels(dkm_ctx *ctx, dkm_data **Y)
{
    dkm_status status = dkm_data_create_labels(ctx, M, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y); k++)
        dkm_data_values(*Y)[k] = entry(dkm_data_local_first(*Y) + k, 0) < 0 ? 1 : 4;
    return status;
}

typedef struct setup {
    const char *kernel;
    int labels;
    dkm_krr_settings settings;
} setup;

static setup setup_of(const char *kernel, dkm_idx count)
{
    setup s = {.kernel = kernel, .settings = dkm_krr_settings_default()};

    s.settings.gammas = gammas;
    s.settings.count = count;
    s.settings.center = 1;
    return s;
}

static dkm_status fit(dkm_ctx *ctx, const setup *s, dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;

    *model = NULL;
    *info = (dkm_krr_info){0};
    DKM_TRY(dkm_kernel_parse(ctx, s->kernel, &kernel));
    DKM_TRY(make_rows(ctx, 0, M, D, &X));
    DKM_TRY(s->labels ? make_labels(ctx, &Y) : make_rows(ctx, 500, M, OUTPUTS, &Y));
    DKM_TRY(dkm_krr_fit(ctx, X, Y, kernel, &s->settings, model, info));
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* Predictions of a model that went through a archive. */
static dkm_status predict_again(dkm_ctx *ctx, dkm_model *model, dkm_data **P)
{
    dkm_status status = DKM_OK;
    dkm_archive archive = dkm_archive_empty(ctx);
    dkm_layout layout = {.block = 2};
    dkm_model *again = NULL;
    dkm_data *Z = NULL;

    *P = NULL;
    DKM_TRY(dkm_model_to_archive(model, &archive));
    for (dkm_idx k = 0; k < archive.count; k++) /* lent data stay the first model's */
        if (archive.parts[k].borrowed) {
            dkm_data *copy = NULL;
            DKM_TRY(make_rows(ctx, 0, M, D, &copy));
            archive.parts[k].data = copy;
            archive.parts[k].borrowed = 0;
        }
    DKM_TRY(dkm_model_from_archive(ctx, dkm_model_method(model), &archive, &layout, &again));
    DKM_TRY(make_rows(ctx, 900, NEW, D, &Z));
    DKM_TRY(dkm_model_predict(again, Z, P));
out:
    dkm_data_destroy(&Z);
    dkm_model_destroy(&again);
    dkm_archive_clear(&archive);
    return status;
}

static void compare(const dkm_data *A, const dkm_data *B)
{
    CHECK(dkm_data_rows(A) == NEW && dkm_data_cols(A) == dkm_data_cols(B));
    for (dkm_idx k = 0; k < dkm_data_local_rows(A) * dkm_data_cols(A); k++)
        CHECK_CLOSE(dkm_data_values_const(A)[k], dkm_data_values_const(B)[k], 1e-9);
}

static void both_forms_predict_alike(dkm_ctx *ctx)
{
    for (int way = 0; way < 4; way++) {
        setup s = setup_of("linear", way & 1 ? 3 : 1);
        const char *const forms[] = {"primal", "dual"};
        dkm_krr_info info[2];
        dkm_model *models[2] = {NULL, NULL};
        dkm_data *P[2] = {NULL, NULL};
        s.labels = way & 2;
        for (int k = 0; k < 2; k++) {
            s.settings.primal = k == 0;
            CHECK_OK(ctx, fit(ctx, &s, &models[k], &info[k]));
            CHECK(info[k].form && strcmp(info[k].form, forms[k]) == 0 && info[k].m == M);
            CHECK(strcmp(dkm_model_method(models[k]), k ? "krr" : "krr-primal") == 0);
            CHECK(dkm_model_output_type(models[k]) == (s.labels ? DKM_LABELS : DKM_DENSE));
            CHECK_OK(ctx, predict_again(ctx, models[k], &P[k]));
        }
        compare(P[0], P[1]);
        CHECK(info[0].gamma == info[1].gamma && info[0].path.best == info[1].path.best);
        CHECK((info[0].path.points != NULL) == (way & 1));
        CHECK((info[1].path.points != NULL) == (way & 1));
        for (int k = 0; k < 2; k++) {
            dkm_data_destroy(&P[k]);
            dkm_model_destroy(&models[k]);
            dkm_krr_info_free(&info[k]);
        }
    }
}

static void the_primal_is_left_where_it_does_not_serve(dkm_ctx *ctx)
{
    setup cases[] = {setup_of("rbf(sigma=1)", 1), setup_of("scale(linear, by=2)", 1),
                     setup_of("linear", 1), setup_of("linear", 1)};

    cases[2].settings.penalty = DKM_PENALTY_COEFFICIENTS;
    cases[3].settings.ridge.precision = DKM_RIDGE_MIXED;
    for (int k = 0; k < 4; k++) {
        dkm_krr_info info;
        dkm_model *model = NULL;
        CHECK_OK(ctx, fit(ctx, &cases[k], &model, &info));
        CHECK(info.form && strcmp(info.form, "dual") == 0);
        dkm_model_destroy(&model);
        dkm_krr_info_free(&info);
    }
}

static void settings_that_cannot_be_are_refused(dkm_ctx *ctx)
{
    static const double bad[] = {1.0, 0.0};
    setup s = setup_of("rbf(sigma=1)", 2);
    dkm_krr_info info;
    dkm_model *model = NULL;

    s.settings.ridge.precision = DKM_RIDGE_SINGLE;
    CHECK(fit(ctx, &s, &model, &info) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "single precision") != NULL);
    s.settings.ridge.precision = DKM_RIDGE_AUTO;
    s.settings.gammas = bad;
    CHECK(fit(ctx, &s, &model, &info) == DKM_ERR_ARG && !model && !info.path.points);
    s.settings.count = 0;
    s.settings.ridge.gamma = -1;
    CHECK(fit(ctx, &s, &model, &info) == DKM_ERR_ARG && !model);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    setup s = setup_of("linear", 2);
    dkm_krr_info info = {0};
    dkm_model *model = NULL;
    dkm_data *P = NULL;

    DKM_TRY(fit(ctx, &s, &model, &info));
    DKM_TRY(predict_again(ctx, model, &P));
out:
    dkm_data_destroy(&P);
    dkm_model_destroy(&model);
    dkm_krr_info_free(&info);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {
    CASE(both_forms_predict_alike),
    CASE(the_primal_is_left_where_it_does_not_serve),
    CASE(settings_that_cannot_be_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
