#include "support/fixture_points.h"

#include <dkmap/random.h>

#include "support/check.h"

double points_element(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(12, 0, (uint64_t)i, (uint64_t)k) + 0.4;
}

double points_new(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(12, 1, (uint64_t)i, (uint64_t)k) + 0.4;
}

dkm_status points_fit_objects(dkm_ctx *ctx, const dkm_data *X, const char *expression,
                              dkm_idx components, dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_kpca_settings s = dkm_kpca_settings_default();
    dkm_kernel *kernel = NULL;

    *model = NULL;
    s.eigen.components = components;
    DKM_TRY(dkm_kernel_parse(ctx, expression, &kernel));
    DKM_TRY(dkm_kpca_fit(ctx, X, kernel, &s, model, NULL));
out:
    dkm_kernel_destroy(&kernel);
    return status;
}

dkm_model *points_fit(dkm_ctx *ctx, const char *expression, dkm_idx components)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, POINTS, POINTS_D, points_element);
    dkm_model *model = NULL;

    CHECK_OK(ctx, points_fit_objects(ctx, X, expression, components, &model));
    dkm_data_destroy(&X);
    return model;
}

dkm_data *points_encode(dkm_ctx *ctx, dkm_model *model, dkm_idx n, object_value value)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, n, POINTS_D, value), *Z = NULL;

    CHECK_OK(ctx, dkm_model_predict(model, X, &Z));
    dkm_data_destroy(&X);
    return Z;
}
