#include "data/objects.h"
#include "selection/cv/cv_impl.h"

static unsigned cv_refit_wants(const void *options)
{
    const dkm_cv_fits *fits = options;

    return fits->gram ? DKM_CV_INPUT_GRAM : DKM_CV_INPUTS;
}

/* Inputs of a part, as they are or as rows of kernel values to the training part. Those known by a
 * matrix are known by its columns of the training part. */
static dkm_status inputs_of(const dkm_cv_cell *cell, const dkm_cv_part *part, dkm_data **X)
{
    const dkm_cv_fits *fits = cell->problem->options;
    const dkm_data *all = cell->group->X;

    if (fits->gram)
        return dkm_cv_extract(cell->K, part, &cell->train, DKM_GRAM, X);
    if (all->mine.type == DKM_GRAM || all->mine.type == DKM_DISTANCE)
        return dkm_cv_extract(all, part, &cell->train, all->mine.type, X);
    return dkm_data_select(all, part->count, part->rows, X);
}

static dkm_status try_setting(dkm_cv_cell *cell, dkm_idx setting, const dkm_data *test)
{
    const dkm_cv_fits *fits = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL, *weights = NULL, *pred = NULL;
    dkm_model *model = NULL;

    DKM_TRY(inputs_of(cell, &cell->train, &X));
    DKM_TRY(dkm_data_select(cell->group->Y, cell->train.count, cell->train.rows, &Y));
    if (cell->group->weights)
        DKM_TRY(
            dkm_data_select(cell->group->weights, cell->train.count, cell->train.rows, &weights));
    DKM_TRY(fits->fit(fits->user, ctx, cell->id.kernel, setting, &(dkm_cv_examples){X, Y, weights},
                      &model));
    DKM_TRY(dkm_model_predict(model, test, &pred));
    DKM_TRY(dkm_cv_score_predictions(cell, setting, pred));
out:
    dkm_data_destroy(&pred);
    dkm_model_destroy(&model);
    dkm_data_destroy(&weights);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

static dkm_status cv_refit_run(dkm_cv_cell *cell, void *state)
{
    dkm_status status = DKM_OK;
    dkm_data *test = NULL;

    (void)state;
    DKM_TRY(inputs_of(cell, &cell->test, &test));
    for (dkm_idx s = 0; s < cell->problem->settings; s++)
        if (dkm_cv_wanted(cell, s))
            DKM_TRY(try_setting(cell, s, test));
out:
    dkm_data_destroy(&test);
    return status;
}

const dkm_cv_method dkm_cv_refit = {.name = "refit", .wants = cv_refit_wants, .run = cv_refit_run};
