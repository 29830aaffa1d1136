/* Components of the Nystroem kernel: with every object a landmark they are those of kernel PCA. */
#include <math.h>

#include <dkmap/kde.h>
#include <dkmap/kpca.h>
#include <dkmap/random.h>

#include "support/check.h"

enum { M = 40, NEW = 9, D = 3, COMPONENTS = 3 };

static dkm_status make_rows(dkm_ctx *ctx, dkm_idx first, dkm_idx m, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, D, X);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*X) * D; k++)
        dkm_data_values(*X)[k] = dkm_random_normal(
            7, 0, (uint64_t)(first + dkm_data_local_first(*X) + k / D), (uint64_t)(k % D));
    return status;
}

/* Coordinates of new objects, with so many landmarks; 0 is kernel PCA itself. */
static dkm_status encode(dkm_ctx *ctx, dkm_idx landmarks, dkm_data **Z, dkm_kpca_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kpca_settings settings = dkm_kpca_settings_default();
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *new = NULL;
    dkm_model *model = NULL;

    settings.eigen.components = COMPONENTS;
    settings.nystroem.landmarks = landmarks;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kernel));
    DKM_TRY(make_rows(ctx, 0, M, &X));
    DKM_TRY(make_rows(ctx, 100, NEW, &new));
    DKM_TRY(dkm_kpca_fit(ctx, X, kernel, &settings, &model, info));
    DKM_TRY(dkm_model_predict(model, new, Z));
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&new);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static void all_objects_as_landmarks_give_kernel_pca(dkm_ctx *ctx)
{
    dkm_data *exact = NULL, *Z = NULL;
    dkm_kpca_info info;

    CHECK_OK(ctx, encode(ctx, 0, &exact, &info));
    CHECK(info.landmarks == 0 && info.m == M);
    CHECK_OK(ctx, encode(ctx, M, &Z, &info));
    CHECK(info.landmarks == M && info.m == M && info.eigen.components == COMPONENTS);
    /* signs are free; the diagonal of K is shifted by 1e-8 of its trace */
    for (dkm_idx k = 0; exact && Z && k < dkm_data_local_rows(Z) * COMPONENTS; k++)
        CHECK_CLOSE(fabs(dkm_data_values(Z)[k]), fabs(dkm_data_values(exact)[k]), 1e-5);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&exact);
}

static dkm_status fit_kde(dkm_ctx *ctx, dkm_idx landmarks, dkm_data **P)
{
    dkm_status status = DKM_OK;
    dkm_kde_settings settings = dkm_kde_settings_default();
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_data *X = NULL, *Y = NULL, *new = NULL;
    dkm_model *model = NULL;

    settings.eigen.components = 2;
    settings.ridge.gamma = 0.1;
    settings.landmarks = landmarks > 0;
    settings.nystroem.landmarks = landmarks;
    settings.nystroem.tolerance = 1e-12;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kx));
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=2)", &ky));
    DKM_TRY(make_rows(ctx, 0, M, &X));
    DKM_TRY(make_rows(ctx, 0, M, &Y));
    DKM_TRY(make_rows(ctx, 100, NEW, &new));
    DKM_TRY(dkm_kde_fit(ctx, X, Y, kx, ky, &settings, &model, NULL));
    DKM_TRY(dkm_model_predict(model, new, P));
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&new);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

static void all_examples_as_landmarks_give_the_same_objects(dkm_ctx *ctx)
{
    dkm_data *exact = NULL, *P = NULL;

    CHECK_OK(ctx, fit_kde(ctx, 0, &exact));
    CHECK_OK(ctx, fit_kde(ctx, M, &P));
    for (dkm_idx k = 0; exact && P && k < dkm_data_local_rows(P) * D; k++)
        CHECK(dkm_data_values(P)[k] == dkm_data_values(exact)[k]); /* candidates themselves */
    dkm_data_destroy(&P);
    dkm_data_destroy(&exact);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_data *P = NULL;
    dkm_status status = fit_kde(ctx, 4, &P);

    dkm_data_destroy(&P);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {
    CASE(all_objects_as_landmarks_give_kernel_pca),
    CASE(all_examples_as_landmarks_give_the_same_objects),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
