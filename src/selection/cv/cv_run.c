/* A cross-validation whose loss is given by name and whose outcome is a report. */
#include <string.h>

#include <dkmap/cv.h>

#include "core/alloc.h"
#include "models/registry/report_impl.h"

/* A loss by its name; that of predictions that are right or wrong where outputs are no numbers. */
static dkm_local find_loss(dkm_ctx *ctx, const char *name, dkm_type outputs, dkm_loss *loss)
{
    *loss = outputs == DKM_DENSE ? DKM_LOSS_MSE : DKM_LOSS_ZERO_ONE;
    if (!name)
        return DKM_LOCAL_OK;
    for (int k = 0; k < DKM_LOSS_COUNT; k++)
        if (strcmp(dkm_loss_name((dkm_loss)k), name) == 0) {
            *loss = (dkm_loss)k;
            return DKM_LOCAL_OK;
        }
    return dkm_fail(ctx, DKM_ERR_ARG, "there is no loss '%s'", name);
}

static dkm_local check_loss(dkm_ctx *ctx, dkm_loss loss, const dkm_kernel *kernel)
{
    if (loss == DKM_LOSS_RANK)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "the loss rank is for lists of candidates: cross-validation predicts one "
                        "output an example");
    if (loss == DKM_LOSS_KERNEL && !kernel)
        return dkm_fail(ctx, DKM_ERR_ARG, "the loss kernel needs a kernel of the outputs");
    return DKM_LOCAL_OK;
}

/* One field of the scores of all points. */
static void report_scores(dkm_report *report, const char *name, const dkm_cv_result *result,
                          size_t field, double *column)
{
    for (dkm_idx k = 0; k < result->points; k++)
        column[k] = *(const double *)((const char *)&result->table[k] + field);
    dkm_report_add_reals(report, name, result->points, column);
}

static dkm_local report_result(dkm_ctx *ctx, const dkm_cv_result *result, dkm_loss loss,
                               dkm_report *report)
{
    dkm_local local = DKM_LOCAL_OK;
    double *column = NULL;

    DKM_STEP(dkm_alloc(ctx, result->points + result->folds, &column));
    dkm_report_add_text(report, "loss", dkm_loss_name(loss));
    dkm_report_add_int(report, "best", result->best);
    dkm_report_add_real(report, "loss.mean", result->outer.mean);
    dkm_report_add_real(report, "loss.stderr", result->outer.stderror);
    report_scores(report, "table.mean", result, offsetof(dkm_cv_score, mean), column);
    report_scores(report, "table.stderr", result, offsetof(dkm_cv_score, stderror), column);
    if (result->chosen) {
        for (dkm_idx f = 0; f < result->folds; f++)
            column[f] = (double)result->chosen[f];
        dkm_report_add_reals(report, "outer.chosen", result->folds, column);
        dkm_report_add_reals(report, "outer.mean", result->folds, result->outer_mean);
    }
    dkm_report_add_int(report, "groups", result->groups);
    local = dkm_report_check(report);
out:
    DKM_FREE(column);
    return local;
}

dkm_status dkm_cv_run(const dkm_cv_points *points, const dkm_data *X, const dkm_data *Y,
                      const dkm_cv_request *request, dkm_report **report)
{
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_status status = DKM_OK;
    dkm_cv_search *search = NULL;
    dkm_kernel *loss_kernel = NULL;
    dkm_cv_problem problem = {0};
    dkm_cv_result result = {0};
    dkm_report *R = NULL;

    *report = NULL;
    DKM_TRY(dkm_cv_search_create(ctx, points, &search));
    DKM_TRY(dkm_cv_search_problem(search, X, Y, &problem));
    DKM_AGREE(ctx, find_loss(ctx, request->loss, dkm_data_type(Y), &problem.loss));
    if (request->loss_kernel)
        DKM_TRY(dkm_kernel_parse(ctx, request->loss_kernel, &loss_kernel));
    DKM_AGREE(ctx, check_loss(ctx, problem.loss, loss_kernel));
    problem.loss_kernel = loss_kernel;
    problem.folds = request->folds;
    problem.inner = request->inner;
    problem.train_on_one = request->train_on_one;
    problem.groups = request->groups;
    DKM_TRY(dkm_cross_validate(ctx, &problem, &result));
    DKM_AGREE(ctx, dkm_report_create(ctx, &R));
    DKM_AGREE(ctx, report_result(ctx, &result, problem.loss, R));
    *report = R;
    R = NULL;
out:
    dkm_report_destroy(&R);
    dkm_cv_result_free(&result);
    dkm_kernel_destroy(&loss_kernel);
    dkm_cv_search_destroy(&search);
    return status;
}
