#include "selection/metrics/distinct_labels.h"

#include <dkmap/score.h>

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "data/objects.h"

static int distinct_labels_compare(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return (x > y) - (x < y);
}

/* Sort and keep one of each; returns how many there are. */
static dkm_idx distinct_labels_sort_unique(dkm_idx *numbers, dkm_idx count)
{
    dkm_idx n_kept = 0;

    qsort(numbers, (size_t)count, sizeof *numbers, distinct_labels_compare);
    for (dkm_idx k = 0; k < count; k++)
        if (n_kept == 0 || numbers[k] != numbers[n_kept - 1])
            numbers[n_kept++] = numbers[k];
    return n_kept;
}

static dkm_idx item_count(const dkm_data *data)
{
    if (!data)
        return 0;
    return data->mine.type == DKM_LABELS ? data->mine.n : data->mine.start[data->mine.n];
}

static void copy_items(const dkm_data *data, dkm_idx *out)
{
    dkm_idx count = item_count(data);

    for (dkm_idx k = 0; k < count; k++)
        out[k] = data->mine.type == DKM_LABELS ? (dkm_idx)data->mine.values[k] : data->mine.col[k];
}

static dkm_local collect_local(const dkm_data *data, const dkm_data *more, dkm_idx **numbers,
                               int *count)
{
    dkm_idx first = item_count(data), second = item_count(more);
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(data->ctx, first + second, numbers));
    copy_items(data, *numbers);
    copy_items(more, *numbers + first);
    DKM_STEP(dkm_checked_int(data->ctx, distinct_labels_sort_unique(*numbers, first + second),
                             "the number of distinct labels", count));
out:
    return local;
}

/* Where each rank's part goes, and memory for all of them. */
static dkm_local distinct_labels_plan_gather(dkm_ctx *ctx, const int *counts, int *starts,
                                             dkm_distinct *all)
{
    dkm_local local = DKM_LOCAL_OK;
    int total;

    for (int k = 0; k < dkm_ctx_size(ctx); k++)
        all->count += counts[k];
    DKM_STEP(dkm_checked_int(ctx, all->count, "the number of distinct labels", &total));
    starts[0] = 0;
    for (int k = 1; k < dkm_ctx_size(ctx); k++)
        starts[k] = starts[k - 1] + counts[k - 1];
    DKM_STEP(dkm_alloc(ctx, all->count, &all->numbers));
out:
    return local;
}

dkm_status dkm_distinct_labels(const dkm_data *data, const dkm_data *more, dkm_distinct *distinct)
{
    dkm_ctx *ctx = data->ctx;
    dkm_status status = DKM_OK;
    dkm_idx *mine = NULL;
    int count = 0, *counts = NULL, *starts;

    *distinct = (dkm_distinct){0};
    DKM_AGREE(ctx, collect_local(data, more, &mine, &count));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)dkm_ctx_size(ctx), &counts));
    starts = counts + dkm_ctx_size(ctx);
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, distinct_labels_plan_gather(ctx, counts, starts, distinct));
    MPI_Allgatherv(mine, count, MPI_INT64_T, distinct->numbers, counts, starts, MPI_INT64_T,
                   dkm_ctx_comm(ctx));
    distinct->count = distinct_labels_sort_unique(distinct->numbers, distinct->count);
out:
    DKM_FREE(counts);
    DKM_FREE(mine);
    return status;
}

dkm_idx dkm_distinct_place(const dkm_distinct *distinct, dkm_idx number)
{
    const dkm_idx *found = bsearch(&number, distinct->numbers, (size_t)distinct->count,
                                   sizeof *distinct->numbers, distinct_labels_compare);

    return found - distinct->numbers;
}

void dkm_distinct_clear(dkm_distinct *distinct)
{
    DKM_FREE(distinct->numbers);
    distinct->count = 0;
}

dkm_status dkm_count_labels(const dkm_data *labels, dkm_idx *count)
{
    dkm_distinct distinct = {0};
    dkm_status status = dkm_distinct_labels(labels, NULL, &distinct);

    *count = distinct.count;
    dkm_distinct_clear(&distinct);
    return status;
}
