/* A cross-validation whose loss is given by name and whose outcome is a report. */
#include <stdio.h>
#include <string.h>

#include <dkmap/cv.h>
#include <dkmap/folds.h>

#include "core/alloc.h"
#include "models/registry/report_impl.h"

enum { LOSSES_MAX = 16 };

/* A loss by the first @p length letters of a text. */
static dkm_local find_loss(dkm_ctx *ctx, const char *name, size_t length, dkm_loss *loss)
{
    for (int k = 0; k < DKM_LOSS_COUNT; k++)
        if (strlen(dkm_loss_name((dkm_loss)k)) == length &&
            strncmp(dkm_loss_name((dkm_loss)k), name, length) == 0) {
            *loss = (dkm_loss)k;
            return DKM_LOCAL_OK;
        }
    return dkm_fail(ctx, DKM_ERR_ARG, "there is no loss '%.*s'", (int)length, name);
}

/* Losses by their names; that of predictions that are right or wrong where outputs are no numbers.
 */
static dkm_local find_losses(dkm_ctx *ctx, const char *names, dkm_type outputs, dkm_loss *losses,
                             int *count)
{
    dkm_local local = DKM_LOCAL_OK;

    *count = 1;
    losses[0] = outputs == DKM_DENSE ? DKM_LOSS_MSE : DKM_LOSS_ZERO_ONE;
    if (!names)
        return local;
    for (*count = 0; *names; ++*count) {
        size_t length = strcspn(names, ",");
        if (*count == LOSSES_MAX)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "more than %d losses", LOSSES_MAX));
        DKM_STEP(find_loss(ctx, names, length, &losses[*count]));
        names += length + (names[length] == ',');
    }
out:
    return local;
}

static dkm_local check_losses(dkm_ctx *ctx, const dkm_loss *losses, int count,
                              const dkm_kernel *kernel)
{
    for (int k = 0; k < count; k++) {
        dkm_loss_input takes = dkm_loss_takes(losses[k]);
        if (takes != DKM_LOSS_OF_OBJECTS && takes != DKM_LOSS_OF_LABELS)
            return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                            "the loss %s is for lists of candidates, scores or distributions: "
                            "cross-validation predicts one output an example",
                            dkm_loss_name(losses[k]));
        if (losses[k] == DKM_LOSS_KERNEL && !kernel)
            return dkm_fail(ctx, DKM_ERR_ARG, "the loss kernel needs a kernel of the outputs");
    }
    return count > 0 ? DKM_LOCAL_OK : dkm_fail(ctx, DKM_ERR_ARG, "no loss is named");
}

/* One field of the scores of all points. */
static void report_scores(dkm_report *report, const char *name, dkm_idx points,
                          const dkm_cv_score *scores, size_t field, double *column)
{
    for (dkm_idx k = 0; k < points; k++)
        column[k] = *(const double *)((const char *)&scores[k] + field);
    dkm_report_add_reals(report, name, points, column);
}

static void report_more(dkm_report *report, const dkm_cv_problem *problem,
                        const dkm_cv_result *result, double *column)
{
    char name[64];

    for (int l = 0; l < problem->more_losses; l++) {
        const char *loss = dkm_loss_name(problem->more[l]);
        const dkm_cv_score *scores = result->more + l * result->points;
        snprintf(name, sizeof name, "loss.%s.mean", loss);
        dkm_report_add_real(report, name, result->more_outer[l].mean);
        snprintf(name, sizeof name, "loss.%s.stderr", loss);
        dkm_report_add_real(report, name, result->more_outer[l].stderror);
        snprintf(name, sizeof name, "table.%s.mean", loss);
        report_scores(report, name, result->points, scores, offsetof(dkm_cv_score, mean), column);
        snprintf(name, sizeof name, "table.%s.stderr", loss);
        report_scores(report, name, result->points, scores, offsetof(dkm_cv_score, stderror),
                      column);
    }
}

static dkm_local report_result(dkm_ctx *ctx, const dkm_cv_problem *problem,
                               const dkm_cv_result *result, dkm_report *report)
{
    dkm_local local = DKM_LOCAL_OK;
    double *column = NULL;

    DKM_STEP(dkm_alloc(ctx, result->points + result->folds, &column));
    dkm_report_add_text(report, "loss", dkm_loss_name(problem->loss));
    dkm_report_add_int(report, "best", result->best);
    dkm_report_add_real(report, "loss.mean", result->outer.mean);
    dkm_report_add_real(report, "loss.stderr", result->outer.stderror);
    report_scores(report, "table.mean", result->points, result->table, offsetof(dkm_cv_score, mean),
                  column);
    report_scores(report, "table.stderr", result->points, result->table,
                  offsetof(dkm_cv_score, stderror), column);
    report_more(report, problem, result, column);
    for (dkm_idx k = 0; result->examples && k < result->points; k++)
        column[k] = (double)result->examples[k];
    if (result->examples)
        dkm_report_add_reals(report, "table.examples", result->points, column);
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

/* Losses and folds of a request. */
static dkm_status take_request(dkm_ctx *ctx, const dkm_cv_request *request, dkm_loss *losses,
                               dkm_cv_problem *problem)
{
    dkm_status status = DKM_OK;
    int count = 0;

    DKM_AGREE(ctx, find_losses(ctx, request->loss, dkm_data_type(problem->Y), losses, &count));
    DKM_AGREE(ctx, check_losses(ctx, losses, count, problem->loss_kernel));
    problem->loss = losses[0];
    problem->more_losses = count - 1;
    problem->more = losses + 1;
    problem->wanted = request->wanted;
    problem->folds = request->folds;
    problem->fold = request->fold;
    if (request->group)
        problem->group = request->group;
    problem->inner = request->inner;
    problem->train_on_one = request->train_on_one;
    problem->groups = request->groups;
    if (request->fold)
        DKM_TRY(dkm_folds_count(request->fold, &problem->folds));
out:
    return status;
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
    dkm_loss losses[LOSSES_MAX];
    dkm_report *R = NULL;

    *report = NULL;
    DKM_TRY(dkm_cv_search_create(ctx, points, &search));
    DKM_TRY(dkm_cv_search_problem(search, X, Y, &problem));
    if (request->loss_kernel)
        DKM_TRY(dkm_kernel_parse(ctx, request->loss_kernel, &loss_kernel));
    problem.loss_kernel = loss_kernel;
    DKM_TRY(take_request(ctx, request, losses, &problem));
    DKM_TRY(request->halving ? dkm_cross_validate_halving(ctx, &problem, &result)
                             : dkm_cross_validate(ctx, &problem, &result));
    DKM_AGREE(ctx, dkm_report_create(ctx, &R));
    DKM_AGREE(ctx, report_result(ctx, &problem, &result, R));
    *report = R;
    R = NULL;
out:
    dkm_report_destroy(&R);
    dkm_cv_result_free(&result);
    dkm_kernel_destroy(&loss_kernel);
    dkm_cv_search_destroy(&search);
    return status;
}
