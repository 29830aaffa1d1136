/* How often each class was taken for each other. The matrix, classes^2 numbers, is replicated. */
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "selection/metrics/score_inputs.h"

static dkm_status confusion_count(const dkm_score_inputs *in, const dkm_distinct *distinct,
                                  dkm_idx *count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = in->truth->ctx;
    const dkm_objs *y = &in->truth->mine, *p = &in->pred->mine;
    dkm_idx classes = distinct->count;
    int total = 0;

    DKM_AGREE(ctx,
              dkm_checked_int(ctx, classes * classes, "entries of a confusion matrix", &total));
    for (dkm_idx i = 0; i < y->n; i++)
        count[dkm_distinct_place(distinct, y->col[i]) * classes +
              dkm_distinct_place(distinct, p->col[i])]++;
    MPI_Allreduce(MPI_IN_PLACE, count, total, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
out:
    return status;
}

dkm_status dkm_score_confusion(const dkm_data *truth, const dkm_data *pred, dkm_confusion *c)
{
    dkm_status status = DKM_OK;
    const dkm_score_settings settings = {.loss = DKM_LOSS_BALANCED_ACCURACY};
    dkm_score_inputs in = {0};
    dkm_distinct distinct = {0};

    *c = (dkm_confusion){0};
    DKM_TRY(dkm_score_inputs_make(truth, pred, &settings, &in));
    DKM_REQUIRE(truth->ctx, in.classes, DKM_ERR_UNSUPPORTED,
                "a confusion matrix is one of classes, not of label sets or several columns");
    DKM_TRY(dkm_distinct_labels(in.truth, in.pred, &distinct));
    DKM_AGREE(truth->ctx, dkm_calloc(truth->ctx, distinct.count * distinct.count, &c->count));
    DKM_TRY(confusion_count(&in, &distinct, c->count));
    c->classes = distinct.count;
    c->label = distinct.numbers;
    distinct.numbers = NULL;
out:
    dkm_distinct_clear(&distinct);
    dkm_score_inputs_clear(&in);
    return status;
}

void dkm_confusion_free(dkm_confusion *c)
{
    DKM_FREE(c->count);
    DKM_FREE(c->label);
}
