#include "model/targets.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static dkm_idx sort_distinct(dkm_idx n, double *values)
{
    dkm_idx kept = 0;

    qsort(values, (size_t)n, sizeof *values, ascending);
    for (dkm_idx i = 0; i < n; i++)
        if (kept == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

/* The distinct labels of this rank. */
static dkm_local own_classes(const dkm_data *Y, double **classes, int *count)
{
    dkm_idx n = dkm_data_local_rows(Y);
    dkm_local local = dkm_alloc(dkm_data_ctx(Y), n, classes);

    *count = 0;
    if (local.code == DKM_OK) {
        memcpy(*classes, dkm_data_values_const(Y), (size_t)n * sizeof **classes);
        *count = (int)sort_distinct(n, *classes);
    }
    return local;
}

static dkm_local room_for_all(dkm_ctx *ctx, const int *counts, int *starts, double **all)
{
    dkm_idx total = 0;

    for (int r = 0; r < dkm_ctx_size(ctx); r++) {
        starts[r] = (int)total;
        total += counts[r];
    }
    return dkm_alloc(ctx, total, all);
}

static dkm_status learn_classes(dkm_targets *t, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    int *counts = NULL, *starts = NULL, size = dkm_ctx_size(t->ctx), mine = 0;
    double *own = NULL, *all = NULL;

    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, size, &counts));
    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, size, &starts));
    DKM_AGREE(t->ctx, own_classes(Y, &own, &mine));
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(t->ctx));
    DKM_AGREE(t->ctx, room_for_all(t->ctx, counts, starts, &all));
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

dkm_status dkm_targets_learn(dkm_targets *targets, const dkm_data *Y)
{
    dkm_ctx *ctx = dkm_data_ctx(Y);
    dkm_type type = dkm_data_type(Y);

    *targets = (dkm_targets){.ctx = ctx, .type = type, .cols = dkm_data_cols(Y)};
    if (type == DKM_LABELS)
        return learn_classes(targets, Y);
    if (type == DKM_DENSE)
        return DKM_OK;
    return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                                   "ridge regression takes dense outputs or labels, not %s",
                                   dkm_type_name(type)));
}

void dkm_targets_encode(const dkm_targets *targets, const dkm_data *Y, double *rows)
{
    dkm_idx n = dkm_data_local_rows(Y), cols = targets->cols;
    const double *y = dkm_data_values_const(Y);

    if (!targets->classes) {
        memcpy(rows, y, (size_t)(n * cols) * sizeof *rows);
        return;
    }
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            rows[i * cols + j] = y[i] == targets->classes[j];
}

static dkm_idx largest(const double *row, dkm_idx n)
{
    dkm_idx best = 0;

    for (dkm_idx j = 1; j < n; j++)
        if (row[j] > row[best])
            best = j;
    return best;
}

dkm_status dkm_targets_decode(const dkm_targets *targets, dkm_data **numbers, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const double *rows = dkm_data_values_const(*numbers);
    double *labels;

    *Y = NULL;
    if (!targets->classes) {
        *Y = *numbers;
        *numbers = NULL;
        return DKM_OK;
    }
    DKM_TRY(dkm_data_create_labels(targets->ctx, dkm_data_rows(*numbers), Y));
    labels = dkm_data_values(*Y);
    for (dkm_idx i = 0; i < dkm_data_local_rows(*numbers); i++)
        labels[i] = targets->classes[largest(rows + i * targets->cols, targets->cols)];
out:
    dkm_data_destroy(numbers);
    return status;
}

dkm_local dkm_targets_to_bundle(const dkm_targets *targets, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_text(bundle, "target_type", dkm_type_name(targets->type)));
    DKM_STEP(dkm_bundle_put_real(bundle, "target_cols", (double)targets->cols));
    if (targets->classes)
        DKM_STEP(dkm_bundle_put_reals(bundle, "classes", targets->cols, targets->classes));
out:
    return local;
}

dkm_local dkm_targets_from_bundle(dkm_targets *targets, const dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *type;
    const double *classes;
    dkm_idx count = 0;

    *targets = (dkm_targets){.ctx = bundle->ctx};
    DKM_STEP(dkm_bundle_text(bundle, "target_type", &type));
    DKM_STEP(dkm_bundle_count(bundle, "target_cols", 0, INT64_MAX, &targets->cols));
    targets->type = dkm_type_from_name(type);
    if (targets->type == DKM_DENSE)
        goto out;
    DKM_STEP(dkm_bundle_reals(bundle, "classes", &count, &classes));
    if (targets->type != DKM_LABELS || count < 1 || count != targets->cols)
        DKM_STEP(dkm_fail(bundle->ctx, DKM_ERR_FORMAT, "targets that are %s, of %lld classes", type,
                          (long long)count));
    DKM_STEP(dkm_alloc(bundle->ctx, count, &targets->classes));
    memcpy(targets->classes, classes, (size_t)count * sizeof *classes);
out:
    return local;
}

void dkm_targets_clear(dkm_targets *targets)
{
    DKM_FREE(targets->classes);
}
