#include "select/baseline.h"

#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "grid/checked.h"
#include "select/distinct.h"

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

static dkm_local check_type(const dkm_data *truth)
{
    if (truth->m == 0)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "no rows: there is no baseline");
    if (truth->mine.type != DKM_DENSE && truth->mine.type != DKM_LABELS)
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                        "there is no mean of %s: the baseline is for dense rows and labels",
                        dkm_type_name(truth->mine.type));
    return DKM_LOCAL_OK;
}

dkm_status dkm_score_baseline(const dkm_data *truth, dkm_data **pred)
{
    dkm_status status = DKM_OK;

    *pred = NULL;
    DKM_AGREE(truth->ctx, check_type(truth));
    DKM_TRY(truth->mine.type == DKM_DENSE ? repeat_mean(truth, pred)
                                          : repeat_most_frequent(truth, pred));
out:
    return status;
}
