#include "cli/commands/extend/completion_eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/gram_eval.h>

#include "cli/options/gram_file.h"

/* Mean and deviation over the draws of one cell. */
typedef struct tally {
    double sum[2], squares[2];
    int count;
} tally;

typedef struct study {
    run *r;
    const completion_input *in;
    const dkm_complete_settings *complete;
    dkm_gram_eval_settings trial;
    dkm_data *Y;
    int lambdas;
    tally *cells; /* of one share: one a lambda */
    dkm_complete_info completed;
} study;

static void completion_eval_add(tally *t, const dkm_gram_eval_score *score)
{
    const double values[2] = {score->apart, score->named};

    for (int k = 0; k < 2; k++) {
        t->sum[k] += 100 * values[k];
        t->squares[k] += 1e4 * values[k] * values[k];
    }
    t->count++;
}

static double completion_eval_mean(const tally *t, int k)
{
    return t->sum[k] / t->count;
}

/* Of the draws, not of their mean. */
static double deviation(const tally *t, int k)
{
    double gram_problem =
        t->squares[k] / t->count - completion_eval_mean(t, k) * completion_eval_mean(t, k);

    return t->count > 1 && gram_problem > 0 ? sqrt(gram_problem * t->count / (t->count - 1)) : 0.0;
}

static void tell_row(run *r, const char *kernel, const char *missing, const char *lambda,
                     const tally *t)
{
    double both[4] = {completion_eval_mean(t, 0), deviation(t, 0), completion_eval_mean(t, 1),
                      deviation(t, 1)};
    char text[128], name[96];

    snprintf(text, sizeof text, "%-12s %-8s %-7s %6.2f +- %-6.2f %6.2f +- %-6.2f", kernel, missing,
             lambda, both[0], both[1], both[2], both[3]);
    run_print(r, text);
    snprintf(name, sizeof name, "%s.%s.%s", kernel, missing, lambda);
    if (r->record)
        dkm_runlog_reals(r->record, name, 4, both);
}

/* A matrix without missing values. */
static dkm_status try_complete(study *s, const char *name, const dkm_data *G)
{
    dkm_status status = DKM_OK;
    dkm_gram_eval_score score;
    tally t = {0};

    for (int64_t repeat = 0; repeat < args_int(s->r->args, "repeat"); repeat++) {
        s->trial.stream = (uint64_t)repeat;
        DKM_TRY(dkm_gram_eval(G, s->Y, &s->trial, &score));
        completion_eval_add(&t, &score);
    }
    tell_row(s->r, name, "0", "-", &t);
out:
    return status;
}

/* One lambda, the folds dealt by each of the streams. */
static dkm_status try_joint(study *s, const dkm_completion *completion, int k, int64_t first,
                            int64_t count)
{
    dkm_status status = DKM_OK;
    dkm_data *Z = NULL, *G = NULL;
    dkm_gram_eval_score score;

    DKM_TRY(dkm_completion_join(completion, args_value(s->r->args, "lambda", k)->real, &Z));
    DKM_TRY(gram_file_products(s->r, Z, &G));
    for (int64_t stream = first; stream < first + count; stream++) {
        s->trial.stream = (uint64_t)stream;
        DKM_TRY(dkm_gram_eval(G, s->Y, &s->trial, &score));
        completion_eval_add(&s->cells[k], &score);
    }
out:
    dkm_data_destroy(&G);
    dkm_data_destroy(&Z);
    return status;
}

static dkm_status try_mask(study *s, const dkm_data *mask, int64_t first, int64_t count)
{
    dkm_status status = DKM_OK;
    dkm_completion *completion = NULL;

    DKM_TRY(dkm_completion_open(s->in->K, s->in->S, mask, s->complete, &completion, &s->completed));
    for (int k = 0; k < s->lambdas; k++)
        DKM_TRY(try_joint(s, completion, k, first, count));
out:
    dkm_completion_close(&completion);
    return status;
}

static void tell_cells(study *s, const char *kernel, const char *missing)
{
    for (int k = 0; k < s->lambdas; k++) {
        tell_row(s->r, kernel, missing, args_value(s->r->args, "lambda", k)->text, &s->cells[k]);
        s->cells[k] = (tally){0};
    }
}

/* All draws of one share. */
static dkm_status try_share(study *s, const value *share)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(s->in->K);
    dkm_data *mask = NULL;

    for (int64_t repeat = 0; repeat < args_int(s->r->args, "repeat"); repeat++) {
        DKM_TRY(dkm_gram_eval_mask(s->r->ctx, m, (dkm_idx)lround(share->real / 100 * (double)m),
                                   (uint64_t)repeat, &mask));
        DKM_TRY(try_mask(s, mask, repeat, 1));
        dkm_data_destroy(&mask);
    }
    tell_cells(s, "joint", share->text);
out:
    dkm_data_destroy(&mask);
    return status;
}

/* A mask that is given: draws are of the folds alone. */
static dkm_status try_given(study *s, const dkm_data *mask)
{
    dkm_status status = DKM_OK;
    char missing[32];

    DKM_TRY(try_mask(s, mask, 0, args_int(s->r->args, "repeat")));
    snprintf(missing, sizeof missing, "%.4g",
             100 - 100 * (double)s->completed.observed / (double)s->completed.m);
    tell_cells(s, "masked", missing);
out:
    return status;
}

static dkm_local completion_eval_check(run *r, const completion_input *in)
{
    if (in->masks == 0 && args_count(r->args, "missing") == 0)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "which rows are known? give --missing for draws of them, or --observed");
    for (int k = 0; k < args_count(r->args, "missing"); k++) {
        double percent = args_value(r->args, "missing", k)->real;
        if (!(percent >= 0 && percent < 100))
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--missing is per cent, from 0 to below 100: %g",
                            percent);
    }
    return DKM_LOCAL_OK;
}

/* A settings struct, and memory for the cells. */
static dkm_status open_study(study *s)
{
    run *r = s->r;
    const char *type = args_text(r->args, "y-type");
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;

    DKM_AGREE(r->ctx, completion_eval_check(r, s->in));
    s->trial = dkm_gram_eval_settings_default();
    s->trial.layout = run_layout(r);
    s->trial.folds = args_int(r->args, "folds");
    s->lambdas = args_count(r->args, "lambda");
    DKM_TRY(run_positive(r, "C", &s->trial.margin.C));
    DKM_TRY(
        dkm_data_read(r->ctx, args_text(r->args, "y"), DKM_OUTPUTS, type ? type : "labels", &s->Y));
    s->cells = calloc((size_t)s->lambdas + 1, sizeof *s->cells);
    if (!s->cells)
        local = dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for %d weights", s->lambdas);
    DKM_AGREE(r->ctx, local);
out:
    return status;
}

static dkm_status completion_eval_try_all(study *s)
{
    dkm_status status = DKM_OK;

    run_print(s->r, "kernel       missing  lambda  one-vs-rest      all classes");
    DKM_TRY(
        run_error_context(s->r, args_text(s->r->args, "gram"), try_complete(s, "gram", s->in->K)));
    DKM_TRY(run_error_context(s->r, args_text(s->r->args, "by"), try_complete(s, "by", s->in->S)));
    for (int k = 0; k < args_count(s->r->args, "missing"); k++)
        DKM_TRY(run_error_context(s->r, args_text(s->r->args, "gram"),
                                  try_share(s, args_value(s->r->args, "missing", k))));
    for (int k = 0; k < s->in->masks; k++)
        DKM_TRY(run_error_context(s->r, args_value(s->r->args, "observed", k)->text,
                                  try_given(s, s->in->observed[k])));
out:
    return status;
}

dkm_status completion_trial(run *r, const completion_input *in,
                            const dkm_complete_settings *settings)
{
    dkm_status status = DKM_OK;
    study s = {.r = r, .in = in, .complete = settings};

    DKM_TRY(open_study(&s));
    report_int(r, "m", dkm_data_rows(in->K));
    report_int(r, "folds", s.trial.folds);
    report_int(r, "repeats", args_int(r->args, "repeat"));
    DKM_TRY(completion_eval_try_all(&s));
    report_seconds(r);
out:
    free(s.cells);
    dkm_data_destroy(&s.Y);
    return status;
}
