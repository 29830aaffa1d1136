/* Stratified folds by sorting random numbers of (seed, row) within classes (Kohavi 1995, IJCAI,
 * pp. 1137-1143). Cost: m log m comparisons. Every rank has the fold of every example: m
 * numbers. */
#include <dkmap/folds.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/categories.h>
#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"

/* An example on its way to a fold. */
typedef struct card {
    double label;
    uint64_t shuffle;
    dkm_idx row, index; /* among all examples, and among those dealt */
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
        fold[deck[k].index] = k % folds;
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

/* One number per example, from all ranks. */
static dkm_status gather_numbers(const dkm_data *data, double **numbers)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(data);
    dkm_idx first = dkm_data_local_first(data);

    DKM_AGREE(ctx, dkm_calloc(ctx, dkm_data_rows(data), numbers));
    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++)
        (*numbers)[first + i] = dkm_data_values_const(data)[i];
    dkm_mpi_allreduce(*numbers, dkm_data_rows(data), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
out:
    return status;
}

dkm_status dkm_folds_classes(const dkm_data *Y, double **classes)
{
    *classes = NULL;
    return dkm_data_type(Y) == DKM_LABELS ? gather_numbers(Y, classes) : DKM_OK;
}

dkm_status dkm_folds_keys(const dkm_data *data, double **keys)
{
    dkm_type type = dkm_data_type(data);
    dkm_ctx *ctx = dkm_data_ctx(data);
    dkm_status status = DKM_OK;
    dkm_categories *names = NULL;
    dkm_data *labels = NULL;

    *keys = NULL;
    DKM_REQUIRE(ctx,
                type == DKM_LABELS || type == DKM_STRINGS ||
                    (type == DKM_DENSE && dkm_data_cols(data) == 1),
                DKM_ERR_UNSUPPORTED, "%s where one number or string per example is expected",
                dkm_type_name(type));
    if (type != DKM_STRINGS)
        return gather_numbers(data, keys);
    DKM_TRY(dkm_categories_learn(data, NULL, &names));
    DKM_TRY(dkm_categories_encode(names, data, &labels));
    DKM_TRY(gather_numbers(labels, keys));
out:
    dkm_data_destroy(&labels);
    dkm_categories_destroy(&names);
    return status;
}

/* The greatest fold number, where all from 1 to it occur. */
static dkm_local count_folds(dkm_ctx *ctx, dkm_idx m, const double *number, dkm_idx *folds)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *members = NULL, last = 0;

    DKM_STEP(dkm_calloc(ctx, m + 1, &members));
    for (dkm_idx i = 0; i < m; i++) {
        if (!(number[i] >= 1 && number[i] <= (double)m) || number[i] != rint(number[i]))
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG,
                              "row %lld has fold %g: folds are numbered 1, 2, ... as --folds-out "
                              "writes them",
                              (long long)i + 1, number[i]));
        members[(dkm_idx)number[i]]++;
        last = (dkm_idx)number[i] > last ? (dkm_idx)number[i] : last;
    }
    for (dkm_idx f = 1; f <= last; f++)
        if (members[f] == 0)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "no row has fold %lld, and there is a fold %lld",
                              (long long)f, (long long)last));
    if (last < 2)
        DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "one fold only: there must be at least 2"));
    *folds = last;
out:
    DKM_FREE(members);
    return local;
}

dkm_status dkm_folds_count(const dkm_data *fold, dkm_idx *folds)
{
    dkm_ctx *ctx = dkm_data_ctx(fold);
    dkm_status status = DKM_OK;
    double *number = NULL;

    DKM_REQUIRE(ctx, dkm_data_type(fold) != DKM_STRINGS, DKM_ERR_ARG,
                "strings where fold numbers are expected");
    DKM_TRY(dkm_folds_keys(fold, &number));
    DKM_AGREE(ctx, count_folds(ctx, dkm_data_rows(fold), number, folds));
out:
    DKM_FREE(number);
    return status;
}

void dkm_folds_free(double **classes)
{
    DKM_FREE(*classes);
}
