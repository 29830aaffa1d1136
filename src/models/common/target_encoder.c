#include "models/common/target_encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/builder.h"

#define THRESHOLD 0.5 /* half way between a label that is there and one that is not */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static dkm_idx sort_distinct(dkm_idx n, double *values)
{
    dkm_idx n_kept = 0;

    qsort(values, (size_t)n, sizeof *values, ascending);
    for (dkm_idx i = 0; i < n; i++)
        if (n_kept == 0 || values[i] != values[n_kept - 1])
            values[n_kept++] = values[i];
    return n_kept;
}

/* The distinct labels of this rank. */
static dkm_local own_classes(const dkm_data *Y, double **classes, int *count)
{
    const dkm_objs *y = &Y->mine;
    dkm_idx n = y->type == DKM_LABELS ? y->n : y->start[y->n];
    dkm_local local = dkm_alloc(Y->ctx, n, classes);

    *count = 0;
    for (dkm_idx k = 0; local.code == DKM_OK && k < n; k++)
        (*classes)[k] = y->type == DKM_LABELS ? y->values[k] : (double)y->col[k];
    if (local.code == DKM_OK)
        *count = (int)sort_distinct(n, *classes);
    return local;
}

static dkm_local target_encoder_allocate_all(dkm_ctx *ctx, const int *counts, int *starts,
                                             double **all)
{
    dkm_idx total = 0;

    for (int r = 0; r < dkm_ctx_size(ctx); r++) {
        starts[r] = (int)total;
        total += counts[r];
    }
    return dkm_alloc(ctx, total, all);
}

static dkm_status learn_classes(dkm_target_encoder *t, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    int *counts = NULL, *starts = NULL, size = dkm_ctx_size(t->ctx), mine = 0;
    double *own = NULL, *all = NULL;

    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, size, &counts));
    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, size, &starts));
    DKM_AGREE(t->ctx, own_classes(Y, &own, &mine));
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(t->ctx));
    DKM_AGREE(t->ctx, target_encoder_allocate_all(t->ctx, counts, starts, &all));
    MPI_Allgatherv(own, mine, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, dkm_ctx_comm(t->ctx));
    t->cols = sort_distinct(starts[size - 1] + counts[size - 1], all);
    t->classes = all;
    all = NULL;
out:
    DKM_FREE(all);
    DKM_FREE(own);
    DKM_FREE(starts);
    DKM_FREE(counts);
    return status;
}

dkm_status dkm_target_encoder_learn(dkm_target_encoder *encoder, const dkm_data *Y)
{
    dkm_ctx *ctx = dkm_data_ctx(Y);
    dkm_type type = dkm_data_type(Y);

    *encoder = (dkm_target_encoder){
        .ctx = ctx, .type = type, .cols = dkm_data_cols(Y), .threshold = THRESHOLD};
    if (type == DKM_LABELS || type == DKM_LABEL_SETS)
        return learn_classes(encoder, Y);
    if (type == DKM_DENSE)
        return DKM_OK;
    return dkm_agree(ctx,
                     dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                              "ridge regression takes dense outputs, labels or label sets, not %s",
                              dkm_type_name(type)));
}

static dkm_idx find_class(const dkm_target_encoder *encoder, double class)
{
    const double *at = bsearch(&class, encoder->classes, (size_t)encoder->cols,
                               sizeof *encoder->classes, ascending);

    return at ? (dkm_idx)(at - encoder->classes) : -1;
}

static void encode_sets(const dkm_target_encoder *encoder, const dkm_objs *y, double *rows)
{
    memset(rows, 0, (size_t)(y->n * encoder->cols) * sizeof *rows);
    for (dkm_idx i = 0; i < y->n; i++)
        for (dkm_idx k = y->start[i]; k < y->start[i + 1]; k++) {
            dkm_idx j = find_class(encoder, (double)y->col[k]);
            if (j >= 0)
                rows[i * encoder->cols + j] = 1.0;
        }
}

void dkm_target_encoder_encode(const dkm_target_encoder *encoder, const dkm_data *Y, double *rows)
{
    dkm_idx n = dkm_data_local_rows(Y), cols = encoder->cols;
    const double *y = dkm_data_values_const(Y);

    if (!encoder->classes) {
        memcpy(rows, y, (size_t)(n * cols) * sizeof *rows);
        return;
    }
    if (encoder->type == DKM_LABEL_SETS) {
        encode_sets(encoder, &Y->mine, rows);
        return;
    }
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            rows[i * cols + j] = y[i] == encoder->classes[j];
}

static dkm_idx target_encoder_largest(const double *row, dkm_idx n)
{
    dkm_idx best = 0;

    for (dkm_idx j = 1; j < n; j++)
        if (row[j] > row[best])
            best = j;
    return best;
}

static dkm_local decode_sets(const dkm_target_encoder *encoder, const dkm_objs *numbers,
                             dkm_objs *sets)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_builder g;

    DKM_STEP(dkm_builder_begin(&g, sets, encoder->ctx, DKM_LABEL_SETS, numbers->n, 0));
    for (dkm_idx i = 0; i < numbers->n; i++) {
        const double *row = numbers->values + i * encoder->cols;
        double threshold = encoder->by_share
                               ? encoder->level * row[target_encoder_largest(row, encoder->cols)]
                               : encoder->threshold;
        for (dkm_idx j = 0; j < encoder->cols; j++)
            if (row[j] >= threshold)
                DKM_STEP(dkm_builder_entry(&g, (dkm_idx)encoder->classes[j], 1.0));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

static dkm_status make_sets(const dkm_target_encoder *encoder, const dkm_data *numbers,
                            dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_objs sets = {0};

    DKM_AGREE(encoder->ctx, decode_sets(encoder, &numbers->mine, &sets));
    DKM_TRY(dkm_data_wrap(encoder->ctx, numbers->m, &sets, Y));
out:
    dkm_objs_clear(&sets);
    return status;
}

/* Rows become softmax(level f). */
static void make_probabilities(const dkm_target_encoder *encoder, dkm_idx n, double *rows)
{
    for (dkm_idx i = 0; i < n; i++) {
        double *row = rows + i * encoder->cols, sum = 0;
        double most = row[target_encoder_largest(row, encoder->cols)];
        for (dkm_idx j = 0; j < encoder->cols; j++)
            sum += row[j] = exp(encoder->level * (row[j] - most));
        for (dkm_idx j = 0; j < encoder->cols; j++)
            row[j] /= sum;
    }
}

dkm_local dkm_target_encoder_choose(dkm_target_encoder *encoder, dkm_prediction prediction,
                                    double threshold, dkm_type *type, dkm_idx *cols)
{
    int probabilities = prediction == DKM_PREDICT_PROBABILITIES;

    if (prediction != DKM_PREDICT_OUTPUTS && !encoder->classes)
        return dkm_fail(encoder->ctx, DKM_ERR_UNSUPPORTED,
                        "the model predicts numbers: scores and probabilities are of classes");
    if (probabilities && encoder->type != DKM_LABELS)
        return dkm_fail(encoder->ctx, DKM_ERR_UNSUPPORTED,
                        "probabilities are of classes, not of label sets: predict their scores");
    if ((probabilities || isnan(threshold)) && encoder->level <= 0)
        return dkm_fail(
            encoder->ctx, DKM_ERR_ARG,
            "the model was fitted without leave-one-out errors, which %s chosen by: fit "
            "krr with --loo, or several gammas",
            probabilities ? "probabilities are" : "the threshold is");
    encoder->prediction = prediction;
    encoder->by_share = isnan(threshold);
    if (!encoder->by_share)
        encoder->threshold = threshold;
    *type = dkm_target_encoder_type(encoder);
    *cols = dkm_target_encoder_output_cols(encoder);
    return DKM_LOCAL_OK;
}

dkm_type dkm_target_encoder_type(const dkm_target_encoder *encoder)
{
    return encoder->prediction == DKM_PREDICT_OUTPUTS ? encoder->type : DKM_DENSE;
}

dkm_idx dkm_target_encoder_output_cols(const dkm_target_encoder *encoder)
{
    if (encoder->prediction != DKM_PREDICT_OUTPUTS || encoder->type == DKM_DENSE)
        return encoder->cols;
    return encoder->type == DKM_LABELS ? 1 : 0;
}

dkm_status dkm_target_encoder_decode(const dkm_target_encoder *encoder, dkm_data **numbers,
                                     dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const double *rows = dkm_data_values_const(*numbers);
    double *labels;

    *Y = NULL;
    if (encoder->prediction == DKM_PREDICT_PROBABILITIES)
        make_probabilities(encoder, (*numbers)->mine.n, (*numbers)->mine.values);
    if (!encoder->classes || encoder->prediction != DKM_PREDICT_OUTPUTS) {
        *Y = *numbers;
        *numbers = NULL;
        return DKM_OK;
    }
    if (encoder->type == DKM_LABEL_SETS) {
        status = make_sets(encoder, *numbers, Y);
        goto out;
    }
    DKM_TRY(dkm_data_create_labels(encoder->ctx, dkm_data_rows(*numbers), Y));
    labels = dkm_data_values(*Y);
    for (dkm_idx i = 0; i < dkm_data_local_rows(*numbers); i++)
        labels[i] =
            encoder->classes[target_encoder_largest(rows + i * encoder->cols, encoder->cols)];
out:
    dkm_data_destroy(numbers);
    return status;
}

dkm_local dkm_target_encoder_to_archive(const dkm_target_encoder *encoder, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(archive, "target_type", dkm_type_name(encoder->type)));
    DKM_STEP(dkm_archive_put_real(archive, "target_cols", (double)encoder->cols));
    if (encoder->classes)
        DKM_STEP(dkm_archive_put_reals(archive, "classes", encoder->cols, encoder->classes));
    if (encoder->type == DKM_LABEL_SETS)
        DKM_STEP(dkm_archive_put_real(archive, "threshold", encoder->threshold));
    if (encoder->level > 0)
        DKM_STEP(dkm_archive_put_real(archive, "calibration", encoder->level));
out:
    return local;
}

/* Classes are labels as readers take them, integers of at most 2^53, in ascending order. */
static dkm_local check_classes(dkm_ctx *ctx, dkm_idx count, const double *classes)
{
    for (dkm_idx j = 0; j < count; j++)
        if (!(fabs(classes[j]) <= 9007199254740992.0) || classes[j] != floor(classes[j]) ||
            (j > 0 && classes[j] <= classes[j - 1]))
            return dkm_fail(ctx, DKM_ERR_FORMAT,
                            "class %lld is %g: classes are integers in ascending order",
                            (long long)j, classes[j]);
    return DKM_LOCAL_OK;
}

dkm_local dkm_target_encoder_from_archive(dkm_target_encoder *encoder, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *type;
    const double *classes;
    dkm_idx count = 0;

    *encoder = (dkm_target_encoder){.ctx = archive->ctx, .threshold = THRESHOLD};
    DKM_STEP(dkm_archive_text(archive, "target_type", &type));
    DKM_STEP(dkm_archive_count(archive, "target_cols", 0, INT64_MAX, &encoder->cols));
    encoder->type = dkm_type_from_name(type);
    if (encoder->type == DKM_DENSE)
        goto out;
    if (dkm_archive_find(archive, "calibration"))
        DKM_STEP(dkm_archive_number(archive, "calibration", 0, HUGE_VAL, &encoder->level));
    DKM_STEP(dkm_archive_reals(archive, "classes", &count, &classes));
    if ((encoder->type != DKM_LABELS && encoder->type != DKM_LABEL_SETS) || count < 1 ||
        count != encoder->cols)
        DKM_STEP(dkm_fail(archive->ctx, DKM_ERR_FORMAT, "targets that are %s, of %lld classes",
                          type, (long long)count));
    DKM_STEP(check_classes(archive->ctx, count, classes));
    DKM_STEP(dkm_alloc(archive->ctx, count, &encoder->classes));
    memcpy(encoder->classes, classes, (size_t)count * sizeof *classes);
    if (encoder->type == DKM_LABEL_SETS)
        DKM_STEP(
            dkm_archive_number(archive, "threshold", -HUGE_VAL, HUGE_VAL, &encoder->threshold));
out:
    return local;
}

void dkm_target_encoder_clear(dkm_target_encoder *encoder)
{
    DKM_FREE(encoder->classes);
}
