#include "selection/metrics/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "data/builder.h"
#include "data/objects.h"
#include "kernels/evaluation/object_hash.h"
#include "selection/metrics/score_inputs.h"

dkm_status dkm_column_means(const dkm_data *data, double *means)
{
    dkm_status status = DKM_OK;
    int d = 0;

    DKM_AGREE(data->ctx, dkm_checked_int(data->ctx, data->mine.d, "the number of columns", &d));
    memset(means, 0, (size_t)d * sizeof *means);
    for (dkm_idx i = 0; i < data->mine.n; i++)
        for (dkm_idx j = 0; j < d; j++)
            means[j] += data->mine.values[i * d + j];
    MPI_Allreduce(MPI_IN_PLACE, means, d, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(data->ctx));
    for (dkm_idx j = 0; j < d; j++)
        means[j] /= (double)data->m;
out:
    return status;
}

static dkm_status repeat_mean(const dkm_data *truth, dkm_data **pred)
{
    dkm_status status = DKM_OK;
    double *means = NULL;
    dkm_idx d = truth->mine.d;

    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, d, &means));
    DKM_TRY(dkm_column_means(truth, means));
    DKM_TRY(dkm_data_create_dense(truth->ctx, truth->m, d, pred));
    for (dkm_idx i = 0; i < (*pred)->mine.n; i++)
        memcpy((*pred)->mine.values + i * d, means, (size_t)d * sizeof *means);
out:
    DKM_FREE(means);
    return status;
}

static dkm_idx place_of_most(const dkm_idx *counts, dkm_idx n)
{
    dkm_idx best = 0;

    for (dkm_idx k = 1; k < n; k++)
        if (counts[k] > counts[best])
            best = k;
    return best;
}

static dkm_status repeat_most_frequent(const dkm_data *truth, dkm_data **pred)
{
    dkm_ctx *ctx = truth->ctx;
    dkm_status status = DKM_OK;
    dkm_distinct labels = {0};
    dkm_idx *counts = NULL;
    double best;

    DKM_TRY(dkm_distinct_labels(truth, NULL, &labels));
    DKM_AGREE(ctx, dkm_calloc(ctx, labels.count, &counts));
    for (dkm_idx i = 0; i < truth->mine.n; i++)
        counts[dkm_distinct_place(&labels, (dkm_idx)truth->mine.values[i])]++;
    MPI_Allreduce(MPI_IN_PLACE, counts, (int)labels.count, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    DKM_TRY(dkm_data_create_labels(ctx, truth->m, pred));
    best = (double)labels.numbers[place_of_most(counts, labels.count)];
    for (dkm_idx i = 0; i < (*pred)->mine.n; i++)
        (*pred)->mine.values[i] = best;
out:
    DKM_FREE(counts);
    dkm_distinct_clear(&labels);
    return status;
}

static dkm_local baseline_check_type(const dkm_data *truth)
{
    if (truth->m == 0)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "no rows: there is no baseline");
    if (truth->mine.type != DKM_DENSE && truth->mine.type != DKM_LABELS)
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                        "there is no mean of %s: the baseline is for dense rows and labels",
                        dkm_type_name(truth->mine.type));
    return DKM_LOCAL_OK;
}

/* A row and what stands for its value. */
typedef struct keyed {
    uint64_t key;
    int64_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The first row of the most frequent key; of several keys the one that comes first. Local. */
static dkm_idx most_frequent(dkm_idx m, keyed *all)
{
    dkm_idx best = 0, most = 0;

    qsort(all, (size_t)m, sizeof *all, by_key);
    for (dkm_idx first = 0, next; first < m; first = next) {
        for (next = first; next < m && all[next].key == all[first].key;)
            next++;
        if (next - first > most || (next - first == most && all[first].row < best)) {
            most = next - first;
            best = all[first].row;
        }
    }
    return best;
}

/* Of numbers [from, to) of a row; -0 and 0 are equal. A hash of many is equal for different rows by
 * a chance of 2^-64 per pair. */
static uint64_t key_of(const double *row, dkm_idx from, dkm_idx to)
{
    uint64_t key = 0x9e3779b97f4a7c15u;

    for (dkm_idx j = from; j < to; j++) {
        double value = row[j] == 0 ? 0 : row[j];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = dkm_hash_mix(key, bits);
    }
    return key;
}

/* The same of an object that is bytes; @p from and @p to are not read. */
static uint64_t row_key(const dkm_objs *objs, dkm_idx i, dkm_idx from, dkm_idx to)
{
    uint64_t key = 0x9e3779b97f4a7c15u;

    if (!objs->bytes)
        return key_of(objs->values + i * objs->d, from, to);
    for (dkm_idx k = objs->start[i]; k < objs->start[i + 1]; k++)
        key = dkm_hash_mix(key, (unsigned char)objs->bytes[k]);
    return key;
}

/* Which row has the most frequent numbers [from, to). Collective. */
static dkm_status baseline_find_most(const dkm_data *truth, dkm_idx from, dkm_idx to, dkm_idx *best)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = truth->ctx;
    int size = dkm_ctx_size(ctx), *counts = NULL, *starts, all_bytes = 0;
    keyed *all = NULL;

    DKM_AGREE(ctx, dkm_checked_int(ctx, truth->m * (dkm_idx)sizeof *all, "bytes of keys of rows",
                                   &all_bytes));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)size, &counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, truth->m, &all));
    starts = counts + size;
    for (int r = 0; r < size; r++) {
        counts[r] = (int)(dkm_slab_count(truth->m, r, size) * (dkm_idx)sizeof *all);
        starts[r] = (int)(dkm_slab_first(truth->m, r, size) * (dkm_idx)sizeof *all);
    }
    for (dkm_idx i = 0; i < truth->mine.n; i++)
        all[truth->first + i] = (keyed){row_key(&truth->mine, i, from, to), truth->first + i};
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts, starts, MPI_BYTE, dkm_ctx_comm(ctx));
    *best = most_frequent(truth->m, all);
out:
    DKM_FREE(all);
    DKM_FREE(counts);
    return status;
}

/* The most frequent numbers of @p width columns at a time, repeated for every row. */
static dkm_status repeat_mode(const dkm_data *truth, dkm_idx width, dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = truth->ctx;
    dkm_idx d = truth->mine.d;
    double *row = NULL;
    int columns = 0;

    DKM_AGREE(ctx, dkm_checked_int(ctx, d, "the number of columns", &columns));
    DKM_AGREE(ctx, dkm_calloc(ctx, d, &row));
    for (dkm_idx from = 0; from < d; from += width) {
        dkm_idx best = 0;
        DKM_TRY(baseline_find_most(truth, from, from + width, &best));
        if (best >= truth->first && best < truth->first + truth->mine.n)
            memcpy(row + from, truth->mine.values + (best - truth->first) * d + from,
                   (size_t)width * sizeof *row);
    }
    MPI_Allreduce(MPI_IN_PLACE, row, columns, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    DKM_TRY(dkm_data_create_dense(ctx, truth->m, d, pred));
    for (dkm_idx i = 0; i < (*pred)->mine.n; i++)
        memcpy((*pred)->mine.values + i * d, row, (size_t)d * sizeof *row);
out:
    DKM_FREE(row);
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of each column, repeated for every row: the columns are gathered one after the other,
 * m words on every rank. */
static dkm_status repeat_median(const dkm_data *truth, dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = truth->ctx;
    dkm_idx d = truth->mine.d, m = truth->m;
    int size = dkm_ctx_size(ctx), *counts = NULL, rows = 0;
    double *all = NULL;

    DKM_AGREE(ctx, dkm_checked_int(ctx, m, "the number of rows", &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)size, &counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, m, &all));
    DKM_TRY(dkm_data_create_dense(ctx, m, d, pred));
    for (int r = 0; r < size; r++) {
        counts[r] = (int)dkm_slab_count(m, r, size);
        counts[size + r] = (int)dkm_slab_first(m, r, size);
    }
    for (dkm_idx j = 0; j < d; j++) {
        for (dkm_idx i = 0; i < truth->mine.n; i++)
            all[truth->first + i] = truth->mine.values[i * d + j];
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, all, counts, counts + size, MPI_DOUBLE,
                       dkm_ctx_comm(ctx));
        qsort(all, (size_t)m, sizeof *all, ascending);
        for (dkm_idx i = 0; i < truth->mine.n; i++)
            (*pred)->mine.values[i * d + j] = 0.5 * (all[(m - 1) / 2] + all[m / 2]);
    }
out:
    DKM_FREE(all);
    DKM_FREE(counts);
    return status;
}

/* The first row of the most frequent object, repeated for every row. Collective. */
static dkm_status repeat_most_frequent_object(const dkm_data *truth, dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_idx best = 0, *rows = NULL;

    DKM_TRY(baseline_find_most(truth, 0, truth->mine.d, &best));
    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, truth->m, &rows));
    for (dkm_idx i = 0; i < truth->m; i++)
        rows[i] = best;
    DKM_TRY(dkm_data_select(truth, truth->m, rows, pred));
out:
    DKM_FREE(rows);
    return status;
}

static dkm_local repeat_set(const dkm_label_counts *c, dkm_idx n, dkm_ctx *ctx, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx most = place_of_most(c->truth, c->distinct.count);
    dkm_builder g;

    DKM_STEP(dkm_builder_begin(&g, objs, ctx, DKM_LABEL_SETS, n, 0));
    for (dkm_idx i = 0; i < n; i++) {
        for (dkm_idx k = 0; k < c->distinct.count; k++)
            if (2 * c->truth[k] >= c->rows || k == most)
                DKM_STEP(dkm_builder_entry(&g, c->distinct.numbers[k], 1.0));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

static dkm_status repeat_frequent_labels(const dkm_data *truth, dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_label_counts counts = {0};
    dkm_objs objs = {0};

    DKM_TRY(dkm_label_counts_make(truth, truth, 0, 0, &counts));
    DKM_AGREE(truth->ctx, repeat_set(&counts, truth->mine.n, truth->ctx, &objs));
    DKM_TRY(dkm_data_wrap(truth->ctx, truth->m, &objs, pred));
out:
    dkm_objs_clear(&objs);
    dkm_label_counts_clear(&counts);
    return status;
}

/* Scores that are the share of each class or label among the rows. */
static dkm_status repeat_shares(const dkm_data *truth, dkm_loss loss, dkm_idx columns,
                                dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_score_inputs in = {0};
    dkm_data *made = NULL;

    DKM_TRY(dkm_data_create_dense(truth->ctx, truth->m, columns, &made));
    DKM_TRY(dkm_score_inputs_make(truth, made, &(dkm_score_settings){.loss = loss}, &in));
    for (dkm_idx i = 0; i < made->mine.n; i++)
        for (dkm_idx k = in.truth->mine.start[i]; k < in.truth->mine.start[i + 1]; k++)
            if (in.truth->mine.col[k] >= 0)
                made->mine.values[i * columns + in.truth->mine.col[k]] = 1.0;
    DKM_TRY(repeat_mean(made, pred));
out:
    dkm_score_inputs_clear(&in);
    dkm_data_destroy(&made);
    return status;
}

int dkm_score_has_baseline(dkm_type truth, dkm_loss loss)
{
    dkm_loss_input input = dkm_loss_takes(loss);

    return input != DKM_LOSS_OF_LISTS && input != DKM_LOSS_OF_NORMALS &&
           input != DKM_LOSS_OF_PREDICTION_SETS && dkm_loss_fits(loss, truth) &&
           (truth == DKM_DENSE || truth == DKM_LABELS || truth == DKM_LABEL_SETS ||
            truth == DKM_SETS ||
            /* hamming compares strings of one length, which one string has not with all */
            (truth == DKM_STRINGS && loss != DKM_LOSS_HAMMING));
}

static dkm_status baseline_of_dense(const dkm_data *truth, dkm_loss loss, dkm_data **pred)
{
    dkm_idx d = truth->mine.d;

    if (d > 0 && loss == DKM_LOSS_HAMMING)
        return repeat_mode(truth, 1, pred);
    if (d > 0 && (loss == DKM_LOSS_ZERO_ONE || loss == DKM_LOSS_ACCURACY ||
                  dkm_loss_takes(loss) == DKM_LOSS_OF_LABELS))
        return repeat_mode(truth, d, pred);
    if (loss == DKM_LOSS_MAE || loss == DKM_LOSS_MEDIAN)
        return repeat_median(truth, pred);
    return dkm_score_baseline(truth, pred);
}

dkm_status dkm_score_baseline_by(const dkm_data *truth, dkm_loss loss, dkm_idx columns,
                                 dkm_data **pred)
{
    dkm_type type = truth->mine.type;

    *pred = NULL;
    if (truth->m == 0 || !dkm_score_has_baseline(type, loss))
        return dkm_score_baseline(truth, pred);
    if (dkm_loss_takes(loss) == DKM_LOSS_OF_SCORES)
        return repeat_shares(truth, loss, columns, pred);
    if (type == DKM_DENSE)
        return baseline_of_dense(truth, loss, pred);
    if (type == DKM_LABELS)
        return dkm_score_baseline(truth, pred);
    return type == DKM_LABEL_SETS ? repeat_frequent_labels(truth, pred)
                                  : repeat_most_frequent_object(truth, pred);
}

dkm_status dkm_score_baseline(const dkm_data *truth, dkm_data **pred)
{
    dkm_status status = DKM_OK;

    *pred = NULL;
    DKM_AGREE(truth->ctx, baseline_check_type(truth));
    DKM_TRY(truth->mine.type == DKM_DENSE ? repeat_mean(truth, pred)
                                          : repeat_most_frequent(truth, pred));
out:
    return status;
}
