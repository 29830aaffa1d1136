#include <dkmap/update.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "models/registry/model_impl.h"
#include "models/registry/report_impl.h"

static dkm_local update_check_able(const dkm_model *model, int able)
{
    if (able)
        return DKM_LOCAL_OK;
    return dkm_fail(model->ctx, DKM_ERR_UNSUPPORTED,
                    "examples are added to and removed from models of krr in dual form that keep "
                    "their factor, not of %s: fit it with --keep-factor, or anew",
                    model->class->name);
}

/* Names of classes become the labels that the model knows them by. */
static dkm_status update_outputs(const dkm_model *model, const dkm_data *Y, dkm_data **labels)
{
    if (model->class_names && dkm_data_type(Y) == DKM_STRINGS)
        return dkm_categories_encode(model->class_names, Y, labels);
    *labels = dkm_data_share(Y);
    return DKM_OK;
}

/* What was calibrated is no longer held out, or no longer of this model. */
static void update_drop_residuals(dkm_model *model)
{
    dkm_data_destroy(&model->residuals);
    DKM_FREE(model->radius);
}

dkm_status dkm_model_append(dkm_model *model, const dkm_data *X, const dkm_data *Y,
                            dkm_report **report)
{
    return dkm_model_append_weighted(model, X, Y, NULL, report);
}

dkm_status dkm_model_append_weighted(dkm_model *model, const dkm_data *X, const dkm_data *Y,
                                     const dkm_data *weights, dkm_report **report)
{
    dkm_status status = DKM_OK;
    dkm_report *filled = NULL;
    dkm_data *labels = NULL;

    if (report)
        *report = NULL;
    DKM_AGREE(model->ctx, update_check_able(model, model->class->append != NULL));
    DKM_AGREE(model->ctx, dkm_report_create(model->ctx, &filled));
    DKM_TRY(update_outputs(model, Y, &labels));
    DKM_TRY(model->class->append(model->state, X, labels, weights, filled, &model->output_cols));
    DKM_AGREE(model->ctx, dkm_report_check(filled));
    update_drop_residuals(model);
    if (report) {
        *report = filled;
        filled = NULL;
    }
out:
    dkm_data_destroy(&labels);
    dkm_report_destroy(&filled);
    return status;
}

dkm_status dkm_model_forget(dkm_model *model, dkm_idx count, const dkm_idx *rows,
                            dkm_report **report)
{
    dkm_status status = DKM_OK;
    dkm_report *filled = NULL;

    if (report)
        *report = NULL;
    DKM_AGREE(model->ctx, update_check_able(model, model->class->forget != NULL));
    DKM_AGREE(model->ctx, dkm_report_create(model->ctx, &filled));
    DKM_TRY(model->class->forget(model->state, count, rows, filled, &model->output_cols));
    DKM_AGREE(model->ctx, dkm_report_check(filled));
    update_drop_residuals(model);
    if (report) {
        *report = filled;
        filled = NULL;
    }
out:
    dkm_report_destroy(&filled);
    return status;
}

dkm_status dkm_model_store_factor(dkm_model *model, dkm_factor_storage storage, const char *path)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(model->ctx, update_check_able(model, model->class->store_factor != NULL));
    DKM_AGREE(model->ctx, model->class->store_factor(model->state, storage, path));
out:
    return status;
}
