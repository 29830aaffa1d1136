#include <stdlib.h>
#include <string.h>

#include <dkmap/folds.h>

#include "support/check.h"

enum { M = 53, FOLDS = 5, CLASSES = 3 };

static void classes_of(double *classes)
{
    for (dkm_idx i = 0; i < M; i++)
        classes[i] = i < 30 ? 7 : i < 46 ? -2 : 4;
}

static void sizes_differ_by_one_at_most(dkm_ctx *ctx)
{
    dkm_idx fold[M], count[FOLDS] = {0};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 1, M, NULL, NULL, FOLDS, fold)));
    for (dkm_idx i = 0; i < M; i++)
        count[fold[i]]++;
    for (int f = 0; f < FOLDS; f++)
        CHECK(count[f] == M / FOLDS || count[f] == M / FOLDS + 1);
}

static void every_fold_has_its_share_of_each_class(dkm_ctx *ctx)
{
    static const dkm_idx members[CLASSES] = {30, 16, 7};
    dkm_idx fold[M], count[FOLDS][CLASSES] = {{0}}, total[FOLDS] = {0};
    double classes[M];

    classes_of(classes);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 1, M, NULL, classes, FOLDS, fold)));
    for (dkm_idx i = 0; i < M; i++) {
        count[fold[i]][i < 30 ? 0 : i < 46 ? 1 : 2]++;
        total[fold[i]]++;
    }
    for (int f = 0; f < FOLDS; f++) {
        CHECK(total[f] == M / FOLDS || total[f] == M / FOLDS + 1);
        for (int c = 0; c < CLASSES; c++)
            CHECK(count[f][c] == members[c] / FOLDS || count[f][c] == members[c] / FOLDS + 1);
    }
}

/* What is dealt depends on the seed, the stream and the example, and on nothing else: these are the
 * folds of any number of ranks, today and in the next version. */
static void folds_are_those_of_the_seed(dkm_ctx *ctx)
{
    dkm_idx fold[M], again[M], other[M], sum = 0;

    dkm_ctx_set_seed(ctx, 3);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 9, M, NULL, NULL, FOLDS, fold)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 9, M, NULL, NULL, FOLDS, again)));
    CHECK(memcmp(fold, again, sizeof fold) == 0);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 8, M, NULL, NULL, FOLDS, other)));
    CHECK(memcmp(fold, other, sizeof fold) != 0);
    dkm_ctx_set_seed(ctx, 4);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 9, M, NULL, NULL, FOLDS, other)));
    CHECK(memcmp(fold, other, sizeof fold) != 0);
    dkm_ctx_set_seed(ctx, 0);
    for (dkm_idx i = 0; i < M; i++)
        sum += fold[i] * (i + 1);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < M; i++)
        sum -= fold[i] * (i + 1);
    CHECK(sum == 0);
}

/* Twice as many rows named in another order: an example keeps its place in the shuffle. */
static void the_order_of_rows_does_not_matter(dkm_ctx *ctx)
{
    dkm_idx rows[M], back[M], fold[M], turned[M];

    for (dkm_idx i = 0; i < M; i++) {
        rows[i] = 3 * i;
        back[i] = 3 * (M - 1 - i);
    }
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 1, M, rows, NULL, FOLDS, fold)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 1, M, back, NULL, FOLDS, turned)));
    for (dkm_idx i = 0; i < M; i++)
        CHECK(fold[i] == turned[M - 1 - i]);
}

static void too_few_examples_are_refused(dkm_ctx *ctx)
{
    dkm_idx fold[M];

    CHECK(dkm_agree(ctx, dkm_folds_assign(ctx, 1, 4, NULL, NULL, 5, fold)) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "4 examples cannot fill 5 folds") != NULL);
    CHECK(dkm_agree(ctx, dkm_folds_assign(ctx, 1, 4, NULL, NULL, 1, fold)) == DKM_ERR_ARG);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 1, 5, NULL, NULL, 5, fold)));
}

static void the_smallest_class_is_found(dkm_ctx *ctx)
{
    double classes[M], smallest = 0;
    dkm_idx members = 0;

    classes_of(classes);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_smallest(ctx, M, classes, &smallest, &members)));
    CHECK(smallest == 4 && members == 7);
}

static void classes_are_gathered_from_labels_alone(dkm_ctx *ctx)
{
    dkm_data *labels = NULL, *dense = NULL;
    double *classes = NULL;

    CHECK_OK(ctx, dkm_data_create_labels(ctx, M, &labels));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, M, 2, &dense));
    for (dkm_idx i = 0; i < dkm_data_local_rows(labels); i++)
        dkm_data_values(labels)[i] = (double)(dkm_data_local_first(labels) + i) - 5.0;
    CHECK_OK(ctx, dkm_folds_classes(labels, &classes));
    for (dkm_idx i = 0; i < M; i++)
        CHECK(classes && classes[i] == (double)i - 5.0);
    dkm_folds_free(&classes);
    CHECK_OK(ctx, dkm_folds_classes(dense, &classes));
    CHECK(classes == NULL);
    dkm_data_destroy(&dense);
    dkm_data_destroy(&labels);
}

static dkm_status deal_and_drop(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_idx fold[M], members;
    double classes[M], smallest;

    classes_of(classes);
    DKM_AGREE(ctx, dkm_folds_assign(ctx, 1, M, NULL, classes, FOLDS, fold));
    DKM_AGREE(ctx, dkm_folds_smallest(ctx, M, classes, &smallest, &members));
out:
    return status;
}

static void every_failed_allocation_is_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, deal_and_drop);
}

static const check_case cases[] = {CASE(sizes_differ_by_one_at_most),
                                   CASE(every_fold_has_its_share_of_each_class),
                                   CASE(folds_are_those_of_the_seed),
                                   CASE(the_order_of_rows_does_not_matter),
                                   CASE(too_few_examples_are_refused),
                                   CASE(the_smallest_class_is_found),
                                   CASE(classes_are_gathered_from_labels_alone),
                                   CASE(every_failed_allocation_is_agreed_on)};
CHECK_MAIN(cases)
