#include <dkmap/folds.h>

#include <stdlib.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"

/* An example on its way to a fold. */
typedef struct card {
    double label;
    uint64_t shuffle;
    dkm_idx row, place; /* among all examples, and among those dealt */
} card;

static int by_class_then_chance(const void *a, const void *b)
{
    const card *x = a, *y = b;

    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    if (x->shuffle != y->shuffle)
        return x->shuffle < y->shuffle ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static dkm_local folds_check(dkm_ctx *ctx, dkm_idx count, dkm_idx folds)
{
    if (folds < 2)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld folds: there must be at least 2", (long long)folds);
    if (count < folds)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "%lld examples cannot fill %lld folds: give fewer folds or more examples",
                        (long long)count, (long long)folds);
    return DKM_LOCAL_OK;
}

dkm_local dkm_folds_assign(dkm_ctx *ctx, uint64_t stream, dkm_idx count, const dkm_idx *rows,
                           const double *classes, dkm_idx folds, dkm_idx *fold)
{
    dkm_local local = DKM_LOCAL_OK;
    card *deck = NULL;

    DKM_STEP(folds_check(ctx, count, folds));
    DKM_STEP(dkm_alloc(ctx, count, &deck));
    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx row = rows ? rows[k] : k;
        deck[k] = (card){classes ? classes[row] : 0.0,
                         dkm_random_bits(dkm_ctx_seed(ctx), stream, (uint64_t)row, 0), row, k};
    }
    qsort(deck, (size_t)count, sizeof *deck, by_class_then_chance);
    for (dkm_idx k = 0; k < count; k++)
        fold[deck[k].place] = k % folds;
out:
    DKM_FREE(deck);
    return local;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

dkm_local dkm_folds_smallest(dkm_ctx *ctx, dkm_idx m, const double *classes, double *smallest,
                             dkm_idx *members)
{
    dkm_local local = DKM_LOCAL_OK;
    double *sorted = NULL;

    *members = m + 1;
    DKM_STEP(dkm_alloc(ctx, m, &sorted));
    memcpy(sorted, classes, (size_t)m * sizeof *sorted);
    qsort(sorted, (size_t)m, sizeof *sorted, ascending);
    for (dkm_idx i = 0, next; i < m; i = next) {
        for (next = i; next < m && sorted[next] == sorted[i];)
            next++;
        if (next - i < *members) {
            *members = next - i;
            *smallest = sorted[i];
        }
    }
out:
    DKM_FREE(sorted);
    return local;
}

dkm_status dkm_folds_classes(const dkm_data *Y, double **classes)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Y);
    dkm_idx first = dkm_data_local_first(Y);

    *classes = NULL;
    if (dkm_data_type(Y) != DKM_LABELS)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_calloc(ctx, dkm_data_rows(Y), classes));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
        (*classes)[first + i] = dkm_data_values_const(Y)[i];
    MPI_Allreduce(MPI_IN_PLACE, *classes, (int)dkm_data_rows(Y), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(ctx));
out:
    return status;
}

void dkm_folds_free(double **classes)
{
    DKM_FREE(*classes);
}
