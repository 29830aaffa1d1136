#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "io/source_impl.h"
#include "models/registry/method_impl.h"

#define SVM_BASE    "svm_base"
#define CLASS_NAMES "class_names"
#define TABLE       "input_table"
#define RESIDUALS   "held_out_residuals"

dkm_status dkm_model_wrap(dkm_ctx *ctx, const dkm_model_class *class, void *state,
                          dkm_type output_type, dkm_idx output_cols, dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings standard = {0};
    dkm_model *M = NULL;

    *model = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &M));
    *M = (dkm_model){.ctx = ctx,
                     .class = class,
                     .state = state,
                     .output_type = output_type,
                     .output_cols = output_cols,
                     .svm_base = dkm_ctx_svm_base(ctx)};
    state = NULL;
    if (class->decode)
        DKM_TRY(dkm_model_configure(M, &standard));
    *model = M;
    M = NULL;
out:
    dkm_model_destroy(&M);
    if (state)
        class->destroy(state);
    return status;
}

const char *dkm_model_method(const dkm_model *model)
{
    return model->class->name;
}

/* Whether predictions, which are labels to the method, have names. */
static int has_names(const dkm_model *model)
{
    return model->class_names && model->output_type == DKM_LABELS;
}

dkm_type dkm_model_output_type(const dkm_model *model)
{
    return has_names(model) ? DKM_STRINGS : model->output_type;
}

dkm_idx dkm_model_output_cols(const dkm_model *model)
{
    return has_names(model) ? 0 : model->output_cols;
}

const dkm_categories *dkm_model_class_names(const dkm_model *model)
{
    return model->class_names;
}

const dkm_table *dkm_model_table(const dkm_model *model)
{
    return model->table;
}

void dkm_model_take_table(dkm_model *model, dkm_table **table)
{
    dkm_table_destroy(&model->table);
    model->table = *table;
    *table = NULL;
}

int dkm_model_svm_base(const dkm_model *model)
{
    return model->svm_base;
}

dkm_idx dkm_model_batch_rows(const dkm_model *model)
{
    return model->unconfigured ? 1 : model->class->batch_rows(model->state);
}

/* A method that refused settings may have dropped the earlier ones. */
static dkm_local check_configured(const dkm_model *model)
{
    if (!model->unconfigured)
        return DKM_LOCAL_OK;
    return dkm_fail(model->ctx, DKM_ERR_ARG,
                    "the last settings of pre-images were refused: configure the model again");
}

/* A model file may promise outputs of another kind than its method makes. */
static dkm_local model_check_outputs(const dkm_model *model, const dkm_data *Y)
{
    dkm_type type = dkm_data_type(Y);
    int rows = dkm_type_storage_form(type) == DKM_STORED_VALUES;

    if (type == model->output_type && (!rows || dkm_data_cols(Y) == model->output_cols))
        return DKM_LOCAL_OK;
    return dkm_fail(model->ctx, DKM_ERR_FORMAT,
                    "damaged model file: outputs are %s of %lld columns, and it says %s of %lld",
                    dkm_type_name(type), (long long)dkm_data_cols(Y),
                    dkm_type_name(model->output_type), (long long)model->output_cols);
}

static dkm_local check_named(const dkm_model *model, const dkm_data *Y)
{
    for (dkm_idx i = 0; i < Y->mine.n; i++)
        if (Y->mine.values[i] < 0 ||
            Y->mine.values[i] >= (double)dkm_categories_count(model->class_names))
            return dkm_fail(model->ctx, DKM_ERR_FORMAT,
                            "damaged model file: a class %g, and there are %lld names",
                            Y->mine.values[i], (long long)dkm_categories_count(model->class_names));
    return DKM_LOCAL_OK;
}

/* Names in place of labels. */
static dkm_status name_labels(const dkm_model *model, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_data *named = NULL;

    DKM_AGREE(model->ctx, check_named(model, *Y));
    DKM_TRY(dkm_categories_decode(model->class_names, *Y, &named));
    dkm_data_destroy(Y);
    *Y = named;
out:
    return status;
}

/* A candidate and its score or distance, as lists have them. */
typedef struct listed {
    double index, value;
} listed;

/* Ascending; those that do not count, whose index is NaN, last. */
static int by_index(const void *a, const void *b)
{
    const listed *u = a, *v = b;

    if (isnan(u->index) || isnan(v->index))
        return isnan(u->index) - isnan(v->index);
    return (u->index > v->index) - (u->index < v->index);
}

/* From a list of all candidates, the best first, to a score per candidate, in their order; NaN for
 * those that do not count for own row @p i. */
static void order_row(const dkm_model *model, dkm_idx i, listed *list, double *scores)
{
    dkm_idx count = model->output_cols, counts = count;
    const dkm_objs *lists = model->lists ? &model->lists->mine : NULL;
    const dkm_idx *place = lists ? lists->col + lists->start[i] : NULL;

    qsort(list, (size_t)count, sizeof *list, by_index);
    for (dkm_idx k = 0; lists && k < count; k++)
        scores[k] = NAN;
    if (lists)
        counts = lists->start[i + 1] - lists->start[i];
    for (dkm_idx k = 0; k < counts; k++)
        scores[place ? place[k] : k] =
            model->class->lists_scores ? list[k].value : 0.0 - list[k].value;
}

static dkm_status order_scores(const dkm_model *model, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx count = model->output_cols;
    dkm_data *scores = NULL;

    DKM_REQUIRE(model->ctx, dkm_data_cols(*Y) == 2 * count, DKM_ERR_INTERNAL,
                "lists of %lld columns for %lld candidates", (long long)dkm_data_cols(*Y),
                (long long)count);
    DKM_TRY(dkm_data_create_dense(model->ctx, dkm_data_rows(*Y), count, &scores));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*Y); i++)
        order_row(model, i, (listed *)(void *)(dkm_data_values(*Y) + 2 * i * count),
                  dkm_data_values(scores) + i * count);
    dkm_data_destroy(Y);
    *Y = scores;
out:
    return status;
}

dkm_status dkm_model_predict(dkm_model *model, const dkm_data *X, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    *Y = NULL;
    DKM_AGREE(model->ctx, check_configured(model));
    DKM_TRY(model->class->predict(model->state, X, Y));
    if (model->scores)
        DKM_TRY(order_scores(model, Y));
    DKM_AGREE(model->ctx, model_check_outputs(model, *Y));
    if (has_names(model))
        DKM_TRY(name_labels(model, Y));
out:
    if (status != DKM_OK)
        dkm_data_destroy(Y);
    return status;
}

int dkm_model_has_candidates(const dkm_model *model)
{
    return model->class->configure && !model->class->predicts_coordinates;
}

dkm_status dkm_model_set_candidate_lists(dkm_model *model, const dkm_data *lists)
{
    dkm_status status = DKM_OK;

    DKM_REQUIRE(model->ctx, model->class->set_lists != NULL, DKM_ERR_UNSUPPORTED,
                "lists of candidates per input are of models of jkm, not of %s",
                model->class->name);
    DKM_TRY(model->class->set_lists(model->state, lists));
    dkm_data_destroy(&model->lists);
    model->lists = lists ? dkm_data_share(lists) : NULL;
out:
    return status;
}

static dkm_local choose(dkm_model *model, dkm_prediction prediction, double threshold)
{
    if (!model->class->choose)
        return dkm_fail(model->ctx, DKM_ERR_UNSUPPORTED,
                        "scores, probabilities and thresholds are of models of krr and svm, and "
                        "scores of candidates of kde, jkm and knn with --ky: not of %s",
                        model->class->name);
    return model->class->choose(model->state, prediction, threshold, &model->output_type,
                                &model->output_cols);
}

dkm_status dkm_model_choose_prediction(dkm_model *model, dkm_prediction prediction,
                                       double threshold)
{
    return dkm_agree(model->ctx, choose(model, prediction, threshold));
}

dkm_status dkm_model_choose_std(dkm_model *model, dkm_noise noise, double variance,
                                dkm_std_info *info)
{
    dkm_status status = DKM_OK;
    dkm_std_info own = {0};

    DKM_REQUIRE(
        model->ctx, model->class->choose_std != NULL, DKM_ERR_UNSUPPORTED,
        "standard deviations are of models of krr in dual form, not of %s%s", model->class->name,
        strcmp(model->class->name, "krr-primal") == 0 ? ": fit it by --keep-factor or --primal no"
                                                      : "");
    DKM_REQUIRE(model->ctx, noise != DKM_NOISE_GIVEN || (variance > 0 && isfinite(variance)),
                DKM_ERR_ARG, "a noise of variance %g: it must be a number above 0", variance);
    DKM_TRY(model->class->choose_std(model->state, noise, variance, &own, &model->output_cols));
    if (info)
        *info = own;
out:
    return status;
}

/* Whether the method can do what is asked of it. */
static dkm_local check_able(const dkm_model *model, int able)
{
    if (able)
        return DKM_LOCAL_OK;
    return dkm_fail(model->ctx, DKM_ERR_UNSUPPORTED,
                    "a model of %s has no coordinates to turn into objects, and so no pre-images",
                    model->class->name);
}

dkm_status dkm_model_configure(dkm_model *model, const dkm_preimage_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings own = *settings;

    own.candidates = own.candidates ? dkm_data_share(own.candidates) : NULL;
    own.stream = own.stream ? dkm_source_share(own.stream) : NULL;
    own.kz = NULL;
    if (settings->kz)
        DKM_TRY(dkm_kernel_clone(model->ctx, settings->kz, &own.kz));
    DKM_AGREE(model->ctx, check_able(model, model->class->configure != NULL));
    DKM_REQUIRE(model->ctx, !own.scores || (own.top == 0 && !model->class->predicts_coordinates),
                DKM_ERR_ARG,
                "scores of all candidates are predicted by kde, knn and jkm, and "
                "without a list of the best");
    if (own.scores)
        own.top = DKM_PREIMAGE_TOP_ALL;
    model->unconfigured = 1;
    DKM_TRY(
        model->class->configure(model->state, &own, &model->decoded_type, &model->decoded_cols));
    model->unconfigured = 0;
    model->scores = settings->scores;
    if (settings->scores)
        model->decoded_cols /= 2;
    if (!model->class->predicts_coordinates) {
        model->output_type = model->decoded_type;
        model->output_cols = model->decoded_cols;
    }
out:
    dkm_preimage_settings_clear(&own);
    return status;
}

dkm_status dkm_model_decode(dkm_model *model, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    *Y = NULL;
    DKM_AGREE(model->ctx, check_able(model, model->class->decode != NULL));
    DKM_AGREE(model->ctx, check_configured(model));
    DKM_TRY(model->class->decode(model->state, Z, Y));
out:
    return status;
}

dkm_type dkm_model_decoded_type(const dkm_model *model)
{
    return model->decoded_type;
}

dkm_idx dkm_model_decoded_cols(const dkm_model *model)
{
    return model->decoded_cols;
}

static dkm_local put_class_names(const dkm_model *model, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    char *text = NULL;

    DKM_STEP(dkm_categories_print(model->class_names, &text));
    DKM_STEP(dkm_archive_put_text(archive, CLASS_NAMES, text));
out:
    DKM_FREE(text);
    return local;
}

static dkm_local put_table(const dkm_model *model, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    char *text = NULL;

    DKM_STEP(dkm_table_print(model->table, &text));
    DKM_STEP(dkm_archive_put_text(archive, TABLE, text));
out:
    DKM_FREE(text);
    return local;
}

dkm_status dkm_model_to_archive(dkm_model *model, dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(model->ctx, check_configured(model));
    DKM_AGREE(model->ctx,
              dkm_archive_put_text(archive, "output_type", dkm_type_name(model->output_type)));
    DKM_AGREE(model->ctx, dkm_archive_put_real(archive, "output_cols", (double)model->output_cols));
    if (model->class_names)
        DKM_AGREE(model->ctx, put_class_names(model, archive));
    if (model->table)
        DKM_AGREE(model->ctx, put_table(model, archive));
    if (model->svm_base != DKM_SVM_BASE_AUTO)
        DKM_AGREE(model->ctx, dkm_archive_put_real(archive, SVM_BASE, model->svm_base));
    DKM_TRY(model->class->to_archive(model->state, archive));
    if (model->residuals)
        DKM_AGREE(model->ctx, dkm_archive_borrow_data(archive, RESIDUALS, model->residuals));
out:
    return status;
}

static dkm_local read_outputs(const dkm_archive *archive, dkm_type *type, dkm_idx *cols)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *name;

    DKM_STEP(dkm_archive_check_finite(archive));
    DKM_STEP(dkm_archive_text(archive, "output_type", &name));
    DKM_STEP(dkm_archive_count(archive, "output_cols", 0, INT64_MAX, cols));
    *type = dkm_type_from_name(name);
    if (*type == DKM_TYPE_COUNT)
        local = dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                         "the model's outputs are of unknown type '%s'", name);
out:
    return local;
}

/* Models without the part are of another time, or their inputs were no svmlight file. */
static dkm_local read_svm_base(const dkm_archive *archive, int *fitted)
{
    dkm_local local = DKM_LOCAL_OK;
    double value = 0;

    *fitted = DKM_SVM_BASE_AUTO;
    if (!dkm_archive_find(archive, SVM_BASE))
        return local;
    DKM_STEP(dkm_archive_real(archive, SVM_BASE, &value));
    if (value != 0 && value != 1)
        DKM_STEP(dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                          "the model's svmlight indices count from %g, not from 0 or 1", value));
    *fitted = value == 1;
out:
    return local;
}

/* Models whose outputs were not strings have no such part. */
static dkm_local read_class_names(const dkm_archive *archive, dkm_categories **names)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *text;

    if (!dkm_archive_find(archive, CLASS_NAMES))
        return local;
    DKM_STEP(dkm_archive_text(archive, CLASS_NAMES, &text));
    DKM_STEP(dkm_categories_parse(archive->ctx, text, names));
out:
    return local;
}

static dkm_local read_table(const dkm_archive *archive, dkm_table **table)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *text;

    if (!dkm_archive_find(archive, TABLE))
        return local;
    DKM_STEP(dkm_archive_text(archive, TABLE, &text));
    DKM_STEP(dkm_table_parse(archive->ctx, text, table));
out:
    return local;
}

static dkm_local known(dkm_ctx *ctx, const char *name, const dkm_model_class *method)
{
    if (!method)
        return dkm_fail(ctx, DKM_ERR_FORMAT,
                        "a model of the method '%s', which this program has not", name);
    return DKM_LOCAL_OK;
}

dkm_status dkm_model_from_archive(dkm_ctx *ctx, const char *method, dkm_archive *archive,
                                  const dkm_layout *layout, dkm_model **model)
{
    dkm_status status = DKM_OK;
    const dkm_model_class *found = dkm_registry_class(method);
    dkm_type type = DKM_DENSE;
    dkm_idx cols = 0;
    int svm_base = DKM_SVM_BASE_AUTO;
    dkm_categories *names = NULL;
    dkm_table *table = NULL;
    void *state = NULL;

    *model = NULL;
    DKM_AGREE(ctx, known(ctx, method, found));
    DKM_AGREE(ctx, read_outputs(archive, &type, &cols));
    DKM_AGREE(ctx, read_svm_base(archive, &svm_base));
    DKM_AGREE(ctx, read_class_names(archive, &names));
    DKM_AGREE(ctx, read_table(archive, &table));
    DKM_TRY(found->from_archive(ctx, archive, layout, &state));
    DKM_TRY(dkm_model_wrap(ctx, found, state, type, cols, model));
    (*model)->svm_base = svm_base;
    (*model)->class_names = names;
    names = NULL;
    dkm_model_take_table(*model, &table);
    if (dkm_archive_find(archive, RESIDUALS))
        DKM_AGREE(ctx, dkm_archive_take_rows(archive, RESIDUALS, &(*model)->residuals));
out:
    if (status != DKM_OK)
        dkm_model_destroy(model);
    dkm_table_destroy(&table);
    dkm_categories_destroy(&names);
    return status;
}

void dkm_model_destroy(dkm_model **model)
{
    dkm_model *M = *model;

    if (!M)
        return;
    if (M->state)
        M->class->destroy(M->state);
    DKM_FREE(M->radius);
    dkm_data_destroy(&M->residuals);
    dkm_data_destroy(&M->lists);
    dkm_categories_destroy(&M->class_names);
    dkm_table_destroy(&M->table);
    dkm_free_block(M);
    *model = NULL;
}
