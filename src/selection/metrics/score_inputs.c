#include "selection/metrics/score_inputs.h"

static dkm_local score_check_lists(const dkm_data *truth, const dkm_data *pred, dkm_loss loss)
{
    if (truth->mine.type == DKM_LABELS && pred->mine.type == DKM_DENSE && pred->mine.d > 0 &&
        pred->mine.d % 2 == 0)
        return DKM_LOCAL_OK;
    return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                    "the loss %s takes labels (numbers of candidates) and lists of index, "
                    "distance, ..., as predict --top writes them; these are %s and %s of %lld "
                    "columns",
                    dkm_loss_name(loss), dkm_type_name(truth->mine.type),
                    dkm_type_name(pred->mine.type), (long long)pred->mine.d);
}

static dkm_local score_check_scores(const dkm_data *truth, const dkm_data *pred, dkm_loss loss)
{
    if (pred->mine.type == DKM_DENSE && pred->mine.d > 0 &&
        (truth->mine.type != DKM_DENSE || truth->mine.d == 1 || truth->mine.d == pred->mine.d))
        return DKM_LOCAL_OK;
    return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                    "the loss %s takes classes or labels and a score for each of them, as predict "
                    "--scores writes them; these are %s and %s of %lld columns",
                    dkm_loss_name(loss), dkm_type_name(truth->mine.type),
                    dkm_type_name(pred->mine.type), (long long)pred->mine.d);
}

static dkm_local score_check_normals(const dkm_data *truth, const dkm_data *pred, dkm_loss loss)
{
    if (truth->mine.type == DKM_DENSE && pred->mine.type == DKM_DENSE && truth->mine.d > 0 &&
        pred->mine.d == 2 * truth->mine.d)
        return DKM_LOCAL_OK;
    return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                    "the loss %s takes numbers and, for each column of them, a mean and a standard "
                    "deviation, as predict --std writes them; these are %s of %lld columns and %s "
                    "of %lld",
                    dkm_loss_name(loss), dkm_type_name(truth->mine.type), (long long)truth->mine.d,
                    dkm_type_name(pred->mine.type), (long long)pred->mine.d);
}

static dkm_local score_check_sets(const dkm_data *truth, const dkm_data *pred, dkm_loss loss)
{
    if ((truth->mine.type == DKM_LABELS && pred->mine.type == DKM_LABEL_SETS) ||
        (truth->mine.type == DKM_STRINGS && pred->mine.type == DKM_SETS))
        return DKM_LOCAL_OK;
    if (truth->mine.type == DKM_DENSE && pred->mine.type == DKM_DENSE && truth->mine.d > 0 &&
        pred->mine.d == 2 * truth->mine.d)
        return DKM_LOCAL_OK;
    return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                    "the loss %s takes numbers and two ends of an interval for each column, or "
                    "labels (classes, or numbers of candidates) and label sets, as predict "
                    "--coverage writes them; these are %s of %lld columns and %s of %lld",
                    dkm_loss_name(loss), dkm_type_name(truth->mine.type), (long long)truth->mine.d,
                    dkm_type_name(pred->mine.type), (long long)pred->mine.d);
}

static dkm_local score_check_pair(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                                  const dkm_kernel *ky)
{
    dkm_type type = truth->mine.type;
    dkm_loss_input input = dkm_loss_takes(loss);

    if (loss == DKM_LOSS_KERNEL && !ky)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "the loss kernel needs a kernel of the outputs");

    if (truth->m != pred->m)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "%lld rows of truth but %lld predictions",
                        (long long)truth->m, (long long)pred->m);
    if (truth->m == 0)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "no rows: there is nothing to score");
    if (loss < DKM_LOSS_COUNT && !dkm_loss_fits(loss, type) && input != DKM_LOSS_OF_LISTS)
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED, "the loss %s is not one for %s",
                        dkm_loss_name(loss), dkm_type_name(type));
    if (input == DKM_LOSS_OF_LISTS)
        return score_check_lists(truth, pred, loss);
    if (input == DKM_LOSS_OF_SCORES)
        return score_check_scores(truth, pred, loss);
    if (input == DKM_LOSS_OF_NORMALS)
        return score_check_normals(truth, pred, loss);
    if (input == DKM_LOSS_OF_PREDICTION_SETS)
        return score_check_sets(truth, pred, loss);
    if (input == DKM_LOSS_OF_LABELS &&
        (type == DKM_LABEL_SETS) == (pred->mine.type == DKM_LABEL_SETS))
        type = pred->mine.type; /* a dense column of classes is as good as labels */
    if (type != pred->mine.type)
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                        "the truth is %s but the predictions are %s", dkm_type_name(type),
                        dkm_type_name(pred->mine.type));
    if (loss >= DKM_LOSS_COUNT || !dkm_loss_fits(loss, type))
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED, "the loss %s is not one for %s",
                        dkm_loss_name(loss), dkm_type_name(type));
    if (type == DKM_DENSE && truth->mine.type == DKM_DENSE && truth->mine.d != pred->mine.d)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "%lld columns of truth but %lld of predictions",
                        (long long)truth->mine.d, (long long)pred->mine.d);
    return DKM_LOCAL_OK;
}

/* The column of each class: the class itself where all are numbers of columns; else their indices,
 * where there are as many as columns; of one column, the one that is looked for of two. */
static dkm_local class_columns(const dkm_data *truth, dkm_idx d, const dkm_distinct *distinct)
{
    dkm_objs *objs = &truth->self->mine;
    dkm_idx last = distinct->count - 1, *label = objs->col;

    if (distinct->count > (d == 1 ? 2 : d))
        return dkm_fail(truth->ctx, DKM_ERR_ARG,
                        "%lld classes occur in the truth, but there are scores of %lld",
                        (long long)distinct->count, (long long)(d == 1 ? 2 : d));
    if (d > 1 && distinct->numbers[0] >= 0 && distinct->numbers[last] < d)
        return DKM_LOCAL_OK;
    if (d > 1 && distinct->count < d)
        return dkm_fail(
            truth->ctx, DKM_ERR_ARG,
            "the truth has classes %lld to %lld, %lld of them: which of %lld columns of "
            "scores is whose?",
            (long long)distinct->numbers[0], (long long)distinct->numbers[last],
            (long long)distinct->count, (long long)d);
    for (dkm_idx i = 0; i < objs->n; i++)
        label[i] = d > 1 ? dkm_distinct_place(distinct, label[i])
                   : label[i] == distinct->numbers[last] && (last || label[i]) ? 0
                                                                               : -1;
    return DKM_LOCAL_OK;
}

static dkm_status put_in_columns(dkm_score_inputs *in)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = in->truth->ctx;
    dkm_idx d = in->pred->mine.d;
    dkm_distinct distinct = {0};

    DKM_TRY(dkm_distinct_labels(in->truth, NULL, &distinct));
    if (in->classes) {
        DKM_AGREE(ctx, class_columns(in->truth, d, &distinct));
    } else {
        DKM_REQUIRE(ctx,
                    distinct.count == 0 ||
                        (distinct.numbers[0] >= 0 && distinct.numbers[distinct.count - 1] < d),
                    DKM_ERR_ARG, "labels of the truth go to %lld, but there are scores of %lld",
                    (long long)distinct.numbers[distinct.count - 1], (long long)d);
    }
out:
    dkm_distinct_clear(&distinct);
    return status;
}

dkm_status dkm_score_inputs_make(const dkm_data *truth, const dkm_data *pred,
                                 const dkm_score_settings *settings, dkm_score_inputs *in)
{
    dkm_status status = DKM_OK;
    dkm_loss_input input = dkm_loss_takes(settings->loss);

    *in = (dkm_score_inputs){.classes = truth->mine.d == 1 && truth->mine.type != DKM_LABEL_SETS};
    DKM_AGREE(truth->ctx, score_check_pair(truth, pred, settings->loss, settings->ky));
    if (input == DKM_LOSS_OF_LABELS || input == DKM_LOSS_OF_SCORES)
        DKM_TRY(dkm_label_sets_of(truth, &in->truth));
    else
        in->truth = dkm_data_share(truth);
    if (input == DKM_LOSS_OF_LABELS)
        DKM_TRY(dkm_label_sets_of(pred, &in->pred));
    else
        in->pred = dkm_data_share(pred);
    if (input == DKM_LOSS_OF_SCORES)
        DKM_TRY(put_in_columns(in));
out:
    return status;
}

void dkm_score_inputs_clear(dkm_score_inputs *in)
{
    dkm_data_destroy(&in->pred);
    dkm_data_destroy(&in->truth);
}
