/* Split conformal prediction; see dkmap/conformal.h. Residuals come from the method. Their quantile
 * takes n numbers of a column on every rank: n words received and held per column, n log n operations;
 * columns pass in groups of up to GROUP numbers. */
#include <dkmap/conformal.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "data/builder.h"
#include "matrix/multivec.h"
#include "models/registry/model_impl.h"

#define GROUP ((dkm_idx)1 << 12)

int dkm_model_has_residuals(const dkm_model *model)
{
    return model->residuals != NULL;
}

int dkm_model_has_sets(const dkm_model *model)
{
    return model->class->prediction_sets != NULL;
}

static dkm_local conformal_check(const dkm_model *model)
{
    if (dkm_model_has_sets(model))
        return DKM_LOCAL_OK;
    return dkm_fail(model->ctx, DKM_ERR_UNSUPPORTED,
                    "prediction sets are of models of krr, kde, knn and jkm, not of %s%s",
                    model->class->name,
                    model->class == &dkm_class_krr_primal ? ": fit it by --primal no" : "");
}

/* Rows [first, first + count) of both. */
static dkm_status conformal_rows(const dkm_data *X, const dkm_data *Y, dkm_idx first, dkm_idx count,
                                 dkm_data *part[2])
{
    dkm_status status = DKM_OK;
    dkm_idx *indices = NULL;

    DKM_AGREE(X->ctx, dkm_alloc(X->ctx, count, &indices));
    for (dkm_idx k = 0; k < count; k++)
        indices[k] = first + k;
    DKM_TRY(dkm_data_select(X, count, indices, &part[0]));
    DKM_TRY(dkm_data_select(Y, count, indices, &part[1]));
out:
    DKM_FREE(indices);
    return status;
}

/* Residuals of a batch, after those before it. */
static dkm_status conformal_add(dkm_model *model, dkm_data *part[2], dkm_data **all)
{
    dkm_status status = DKM_OK;
    dkm_data *now = NULL, *joined = NULL;

    DKM_TRY(model->class->residuals(model->state, part[0], part[1], &now));
    if (*all) {
        DKM_TRY(dkm_data_join(*all, now, &joined));
        dkm_data_destroy(all);
        *all = joined;
    } else {
        *all = now;
        now = NULL;
    }
out:
    dkm_data_destroy(&now);
    return status;
}

dkm_status dkm_model_hold_out(dkm_model *model, const dkm_data *X, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = model->ctx;
    dkm_idx m = dkm_data_rows(X), step, count;
    dkm_data *labels = NULL, *all = NULL, *part[2] = {NULL, NULL};

    DKM_AGREE(ctx, conformal_check(model));
    DKM_REQUIRE(ctx, m == dkm_data_rows(Y) && m > 0, DKM_ERR_ARG,
                "%lld inputs and %lld outputs to calibrate by: they must match, and be there",
                (long long)m, (long long)dkm_data_rows(Y));
    if (model->class_names && dkm_data_type(Y) == DKM_STRINGS)
        DKM_TRY(dkm_categories_encode(model->class_names, Y, &labels));
    step = dkm_model_batch_rows(model);
    dkm_phase_begin(ctx, "calibrate");
    for (dkm_idx first = 0; status == DKM_OK && first < m; first += count) {
        count = m - first < step ? m - first : step;
        status = conformal_rows(X, labels ? labels : Y, first, count, part);
        if (status == DKM_OK)
            status = conformal_add(model, part, &all);
        dkm_data_destroy(&part[1]);
        dkm_data_destroy(&part[0]);
    }
    dkm_phase_end(ctx);
    DKM_TRY(status);
    dkm_data_destroy(&model->residuals);
    model->residuals = all;
    all = NULL;
out:
    dkm_data_destroy(&all);
    dkm_data_destroy(&labels);
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The ceil((n + 1) c)-th smallest residual of each of @p count columns; infinite where there are too few.
 * @param[in] all  n x count; @param column  n numbers of workspace */
static void column_quantiles(dkm_idx n, dkm_idx count, const double *all, double coverage,
                             double *column, double *radius)
{
    dkm_idx rank = (dkm_idx)ceil((double)(n + 1) * coverage - 1e-9);

    for (dkm_idx j = 0; j < count; j++) {
        for (dkm_idx i = 0; i < n; i++)
            column[i] = all[i * count + j];
        qsort(column, (size_t)n, sizeof *column, ascending);
        radius[j] = rank > n ? INFINITY : column[rank < 1 ? 0 : rank - 1];
    }
}

static dkm_status conformal_quantiles(const dkm_data *R, double coverage, double *radius)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = R->ctx;
    dkm_idx n = dkm_data_rows(R), d = dkm_data_cols(R);
    dkm_idx group = dkm_idx_min(d, dkm_idx_max(GROUP / dkm_idx_max(n, 1), 1));
    double *all = NULL, *column = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * group, &all));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &column));
    for (dkm_idx first = 0; first < d; first += group) {
        dkm_idx count = dkm_idx_min(group, d - first);
        dkm_multivec rows = dkm_multivec_view(ctx, n, d, R->mine.values);
        rows.a += first;
        rows.cols = count;
        DKM_TRY(dkm_multivec_allgather(&rows, n, all));
        column_quantiles(n, count, all, coverage, column, radius + first);
    }
out:
    DKM_FREE(column);
    DKM_FREE(all);
    return status;
}

/* Residuals may come from a file: a column per output, or one, and numbers. */
static dkm_local conformal_check_residuals(const dkm_model *model)
{
    const dkm_data *R = model->residuals;
    dkm_idx d = model->set_type == DKM_DENSE ? model->set_cols / 2 : 1;

    if (dkm_data_type(R) != DKM_DENSE || dkm_data_cols(R) != d)
        return dkm_fail(model->ctx, DKM_ERR_FORMAT,
                        "damaged model file: held out residuals of %lld columns, where there "
                        "must be %lld",
                        (long long)dkm_data_cols(R), (long long)d);
    for (dkm_idx k = 0; k < dkm_data_local_rows(R) * d; k++)
        if (!isfinite(dkm_data_values_const(R)[k]))
            return dkm_fail(
                model->ctx, DKM_ERR_FORMAT, "damaged model file: held out residual %lld is %g",
                (long long)(dkm_data_local_first(R) + k / d), dkm_data_values_const(R)[k]);
    return DKM_LOCAL_OK;
}

dkm_status dkm_model_calibrate(dkm_model *model, double coverage, dkm_conformal_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = model->ctx;
    double sum = 0;
    dkm_idx d;

    DKM_AGREE(ctx, conformal_check(model));
    DKM_REQUIRE(ctx, coverage > 0 && coverage < 1, DKM_ERR_ARG,
                "a coverage of %g: it must be above 0 and below 1", coverage);
    DKM_TRY(model->class->open_sets(model->state, &model->set_type, &model->set_cols));
    DKM_REQUIRE(ctx, model->residuals != NULL, DKM_ERR_ARG,
                "prediction sets need examples that the model was not fitted to: give "
                "--calibration-x and --calibration-y, or fit with --holdout");
    DKM_AGREE(ctx, conformal_check_residuals(model));
    d = dkm_data_cols(model->residuals);
    DKM_FREE(model->radius);
    DKM_AGREE(ctx, dkm_calloc(ctx, d, &model->radius));
    DKM_TRY(conformal_quantiles(model->residuals, coverage, model->radius));
    for (dkm_idx j = 0; j < d; j++)
        sum += model->radius[j] / (double)d;
    if (isinf(sum))
        dkm_log(ctx, DKM_WARN,
                "%lld calibration examples are too few for a coverage of %g, which takes %lld: "
                "sets hold everything",
                (long long)dkm_data_rows(model->residuals), coverage,
                (long long)ceil(coverage / (1.0 - coverage) - 1e-9));
    if (info)
        *info = (dkm_conformal_info){dkm_data_rows(model->residuals), sum};
out:
    return status;
}

/* Whether sets are of classes that have names; those of kde are of numbers of candidates. */
static int conformal_has_names(const dkm_model *model)
{
    return model->class_names && model->set_type == DKM_LABEL_SETS &&
           model->class != &dkm_class_kde;
}

dkm_type dkm_model_set_type(const dkm_model *model)
{
    return conformal_has_names(model) ? DKM_SETS : model->set_type;
}

/* Names are in the order of their numbers, as words of a set are. */
static dkm_local conformal_name(const dkm_model *model, const dkm_data *S, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_objs *sets = &S->mine;
    dkm_builder g;
    dkm_idx length;

    DKM_STEP(dkm_builder_begin(&g, objs, model->ctx, DKM_SETS, sets->n, 0));
    for (dkm_idx i = 0; i < sets->n; i++) {
        for (dkm_idx k = sets->start[i]; k < sets->start[i + 1]; k++) {
            const char *name;
            if (sets->col[k] < 0 || sets->col[k] >= dkm_categories_count(model->class_names))
                DKM_STEP(dkm_fail(model->ctx, DKM_ERR_FORMAT,
                                  "damaged model file: a class %lld, and there are %lld names",
                                  (long long)sets->col[k],
                                  (long long)dkm_categories_count(model->class_names)));
            name = dkm_categories_name(model->class_names, sets->col[k], &length);
            if (memchr(name, ' ', (size_t)length))
                DKM_STEP(dkm_fail(model->ctx, DKM_ERR_UNSUPPORTED,
                                  "the class '%.*s' has a blank in its name, and sets are words "
                                  "with blanks between them: rename it",
                                  (int)length, name));
            if (k > sets->start[i])
                DKM_STEP(dkm_builder_bytes(&g, " ", 1));
            DKM_STEP(dkm_builder_bytes(&g, name, length));
        }
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

static dkm_status conformal_name_sets(const dkm_model *model, dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_data *named = NULL;
    dkm_objs objs = {0};

    DKM_AGREE(model->ctx, conformal_name(model, *S, &objs));
    DKM_TRY(dkm_data_wrap(model->ctx, (*S)->m, &objs, &named));
    dkm_data_destroy(S);
    *S = named;
out:
    dkm_objs_clear(&objs);
    return status;
}

dkm_idx dkm_model_set_cols(const dkm_model *model)
{
    return model->set_cols;
}

dkm_status dkm_model_prediction_sets(dkm_model *model, const dkm_data *X, dkm_data **S)
{
    dkm_status status = DKM_OK;

    *S = NULL;
    DKM_AGREE(model->ctx, conformal_check(model));
    DKM_REQUIRE(model->ctx, model->radius != NULL, DKM_ERR_ARG,
                "prediction sets of a model that was not calibrated");
    DKM_TRY(model->class->prediction_sets(model->state, X, model->radius, S));
    if (conformal_has_names(model))
        DKM_TRY(conformal_name_sets(model, S));
out:
    if (status != DKM_OK)
        dkm_data_destroy(S);
    return status;
}
