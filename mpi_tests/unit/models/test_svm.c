#include <math.h>
#include <string.h>

#include <dkmap/random.h>
#include <dkmap/store.h>
#include <dkmap/svm.h>

#include "support/scratch.h"

/* Three clumps on the plane. */
enum { M = 60, NEW = 30 };

static double label(dkm_idx i)
{
    return (double)(4 * (i % 3) - 1);
}

static double input(uint64_t stream, dkm_idx i, dkm_idx j)
{
    double center = j == 0 ? 3.0 * (double)(i % 3) : i % 3 == 1 ? 2.0 : 0.0;

    return center + 0.7 * dkm_random_normal(9, stream, (uint64_t)i, (uint64_t)j);
}

static dkm_status make_inputs(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, 2, X);

    for (dkm_idx k = 0; status == DKM_OK && k < 2 * dkm_data_local_rows(*X); k++)
        dkm_data_values(*X)[k] = input(stream, dkm_data_local_first(*X) + k / 2, k % 2);
    return status;
}

static dkm_status make_labels(dkm_ctx *ctx, int alike, dkm_data **Y)
{
    dkm_status status = dkm_data_create_labels(ctx, M, Y);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = alike ? 1.0 : label(dkm_data_local_first(*Y) + i);
    return status;
}

static dkm_status fit(dkm_ctx *ctx, const char *expression, int alike, dkm_model **model,
                      dkm_svm_info *info)
{
    dkm_svm_settings s = dkm_svm_settings_default();
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;

    *model = NULL;
    s.margin.C = 10;
    DKM_TRY(dkm_kernel_parse(ctx, expression, &kernel));
    DKM_TRY(make_inputs(ctx, 0, M, &X));
    DKM_TRY(make_labels(ctx, alike, &Y));
    DKM_TRY(dkm_svm_fit(ctx, X, Y, kernel, &s, model, info));
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static int wrong_labels(const dkm_data *Y)
{
    int wrong = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
        wrong += dkm_data_values_const(Y)[i] != label(dkm_data_local_first(Y) + i);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, dkm_ctx_comm(dkm_data_ctx(Y)));
    return wrong;
}

static void clumps_are_told_apart_by_few_of_their_points(dkm_ctx *ctx)
{
    const char *kernels[] = {"rbf(sigma=2)", "linear"};

    for (int k = 0; k < 2; k++) {
        dkm_svm_info info;
        dkm_model *model = NULL;
        dkm_data *X = NULL, *Y = NULL;
        CHECK_OK(ctx, fit(ctx, kernels[k], 0, &model, &info));
        CHECK(info.classes == 3 && info.support > 3 && info.support < M);
        CHECK_OK(ctx, make_inputs(ctx, 1, NEW, &X));
        CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
        CHECK(wrong_labels(Y) <= (k == 1 ? 12 : 2)); /* no line has the middle clump alone */
        dkm_data_destroy(&Y);
        dkm_data_destroy(&X);
        dkm_model_destroy(&model);
    }
}

static void models_survive_a_file(dkm_ctx *ctx)
{
    /* the second one looks at all training inputs, and keeps them all */
    const char *kernels[] = {"rbf(sigma=2)", "scale(rownorm(rbf(sigma=2)), by=1000)"};
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "svm.h5", path);
    for (int k = 0; k < 2; k++) {
        dkm_layout layout = {0};
        dkm_model *model = NULL, *again = NULL;
        dkm_data *X = NULL, *Y = NULL, *Z = NULL;
        CHECK_OK(ctx, fit(ctx, kernels[k], 0, &model, NULL));
        CHECK_OK(ctx, dkm_model_save(model, path, "test"));
        CHECK_OK(ctx, dkm_model_load(ctx, path, &layout, &again));
        CHECK(strcmp(dkm_model_method(again), "svm") == 0);
        CHECK_OK(ctx, make_inputs(ctx, 1, NEW, &X));
        CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
        CHECK_OK(ctx, dkm_model_predict(again, X, &Z));
        CHECK(wrong_labels(Y) <= 2);
        for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
            CHECK(dkm_data_values_const(Y)[i] == dkm_data_values_const(Z)[i]);
        dkm_data_destroy(&Z);
        dkm_data_destroy(&Y);
        dkm_data_destroy(&X);
        dkm_model_destroy(&again);
        dkm_model_destroy(&model);
    }
    scratch_remove(ctx, path);
}

static void one_class_alone_is_refused(dkm_ctx *ctx)
{
    dkm_model *model = NULL;

    CHECK(fit(ctx, "linear", 1, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "one label") != NULL);
}

static dkm_status fit_once(dkm_ctx *ctx)
{
    dkm_model *model = NULL;
    dkm_status status = fit(ctx, "rbf(sigma=2)", 0, &model, NULL);

    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_once);
}

static const check_case cases[] = {
    CASE(clumps_are_told_apart_by_few_of_their_points),
    CASE(models_survive_a_file),
    CASE(one_class_alone_is_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
