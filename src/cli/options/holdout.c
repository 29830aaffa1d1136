#include "cli/options/holdout.h"

#include <stdio.h>
#include <stdlib.h>

#include <dkmap/conformal.h>
#include <dkmap/landmarks.h>
#include <dkmap/score.h>

#include "cli/options/xy_reader.h"

static dkm_local holdout_check_options(run *r)
{
    const value *share = args_value(r->args, "holdout", 0);
    int x = args_text(r->args, "holdout-x") != NULL, y = args_text(r->args, "holdout-y") != NULL;

    if ((share || x || y) && !args_accepts(r->args, "y"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "there are no outputs to hold out");
    if (share && !(share->real > 0 && share->real < 1))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--holdout must be above 0 and below 1, not %s",
                        share->text);
    if (share && args_flag(r->args, "stream"))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "--holdout draws from inputs in memory: with --stream, give slices "
                        "of the files and --holdout-x, --holdout-y");
    if (share && args_accepts(r->args, "sequence-column") && args_text(r->args, "sequence-column"))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "--holdout draws rows, and would part those of a sequence: give slices of "
                        "the files and --holdout-x, --holdout-y");
    if (x != y || (x && share))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "give --holdout F, or both --holdout-x and --holdout-y");
    return DKM_LOCAL_OK;
}

dkm_status holdout_open(run *r, holdout *h)
{
    *h = (holdout){0};
    return dkm_agree(r->ctx, holdout_check_options(r));
}

dkm_status holdout_read(run *r, holdout *h)
{
    static const file_options inputs = {"holdout-x", "x-type", DKM_INPUTS, 0};
    static const file_options outputs = {"holdout-y", "y-type", DKM_OUTPUTS, 0};
    dkm_status status = DKM_OK;

    if (args_text(r->args, "holdout-x"))
        DKM_TRY(xy_read(r, inputs, outputs, &h->X, &h->Y));
out:
    return status;
}

/* The rows of @p data at the first indices stay in it; those at the others are @p held. */
static dkm_status holdout_own_split(dkm_data **data, dkm_idx n_rest, const dkm_idx *indices,
                                    dkm_data **held)
{
    dkm_status status = DKM_OK;
    dkm_data *rest = NULL;

    DKM_TRY(dkm_data_select(*data, dkm_data_rows(*data) - n_rest, indices + n_rest, held));
    DKM_TRY(dkm_data_select(*data, n_rest, indices, &rest));
    dkm_data_destroy(data);
    *data = rest;
out:
    return status;
}

/* Indices of the training part, then of what is held out, each ascending. */
static dkm_local order_indices(run *r, dkm_idx m, dkm_idx held, const dkm_idx *drawn,
                               dkm_idx *indices)
{
    dkm_idx n_rest = 0, at = 0;

    if (held < 1 || held >= m)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--holdout %s of %lld examples leaves %s",
                        args_text(r->args, "holdout"), (long long)m,
                        held < 1 ? "none to look at" : "none to learn from");
    for (dkm_idx i = 0; i < m; i++) {
        if (at < held && drawn[at] == i)
            indices[m - held + at++] = i;
        else
            indices[n_rest++] = i;
    }
    return DKM_LOCAL_OK;
}

dkm_status holdout_split(run *r, holdout *h, dkm_data **X, dkm_data **Y, dkm_data **weights)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(*X), held, *indices = NULL;
    dkm_data *held_weights = NULL;

    if (!args_value(r->args, "holdout", 0))
        return DKM_OK;
    held = (dkm_idx)(args_real(r->args, "holdout") * (double)m + 0.5);
    indices = malloc((size_t)(m + held + 1) * sizeof *indices);
    DKM_AGREE(r->ctx, indices ? DKM_LOCAL_OK
                              : dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory to hold examples out"));
    DKM_TRY(dkm_landmarks_uniform(r->ctx, m, held, indices + m));
    DKM_AGREE(r->ctx, order_indices(r, m, held, indices + m, indices));
    DKM_TRY(holdout_own_split(X, m - held, indices, &h->X));
    DKM_TRY(holdout_own_split(Y, m - held, indices, &h->Y));
    if (*weights)
        DKM_TRY(holdout_own_split(weights, m - held, indices, &held_weights));
out:
    dkm_data_destroy(&held_weights);
    free(indices);
    return status;
}

/* The sum of the losses of rows [first, first + count). */
static dkm_status score_batch(run *r, const holdout *h, dkm_model *model, dkm_loss loss,
                              dkm_idx first, dkm_idx count, double *sum)
{
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL, *P = NULL;
    dkm_idx *indices = malloc((size_t)(count + 1) * sizeof *indices);
    dkm_score score;

    DKM_AGREE(r->ctx, indices ? DKM_LOCAL_OK
                              : dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory to hold examples out"));
    for (dkm_idx k = 0; k < count; k++)
        indices[k] = first + k;
    DKM_TRY(dkm_data_select(h->X, count, indices, &X));
    DKM_TRY(dkm_data_select(h->Y, count, indices, &Y));
    DKM_TRY(dkm_model_predict(model, X, &P));
    DKM_TRY(dkm_score_predictions(Y, P, loss, NULL, &score));
    *sum += score.mean * (double)count;
out:
    free(indices);
    dkm_data_destroy(&P);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

dkm_status holdout_report(run *r, const holdout *h, dkm_model *model)
{
    dkm_status status = DKM_OK;
    dkm_loss loss;
    dkm_idx m, step, count;
    double sum = 0;
    char name[64];

    if (!h->X)
        return DKM_OK;
    m = dkm_data_rows(h->X);
    step = dkm_model_batch_rows(model);
    loss = dkm_data_type(h->Y) == DKM_DENSE ? DKM_LOSS_MSE : DKM_LOSS_ZERO_ONE;
    for (dkm_idx first = 0; first < m; first += count) {
        count = m - first < step ? m - first : step;
        DKM_TRY(score_batch(r, h, model, loss, first, count, &sum));
    }
    report_int(r, "holdout_rows", m);
    snprintf(name, sizeof name, "holdout_%s", dkm_loss_name(loss));
    report_real(r, name, sum / (double)m);
out:
    return status;
}

dkm_status holdout_keep(const holdout *h, dkm_model *model)
{
    dkm_status status;

    if (!h->X || !dkm_model_has_sets(model))
        return DKM_OK;
    status = dkm_model_hold_out(model, h->X, h->Y);
    return status == DKM_ERR_UNSUPPORTED || status == DKM_ERR_ARG ? DKM_OK : status;
}

void holdout_free(holdout *h)
{
    dkm_data_destroy(&h->X);
    dkm_data_destroy(&h->Y);
}
