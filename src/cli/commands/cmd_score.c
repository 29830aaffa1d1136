#include <dkmap/score.h>

#include <stdio.h>
#include <stdlib.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/xy_reader.h"

enum { BASELINE_MEAN, BASELINE_COPY }; /* as the words of --baseline stand */

/* One score. All are worked out before the first is told: a run that fails tells none. */
typedef struct result {
    const char *prefix;
    dkm_loss loss;
    dkm_score score;
} result;

typedef struct results {
    int count, room;
    result *list;
} results;

/* In the record the first loss is `loss`; every loss is there under its own name as well. */
static void cmd_score_report(run *r, const char *prefix, dkm_loss loss, const dkm_score *s)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", prefix, dkm_loss_name(loss));
    report_real(r, name, s->mean);
    snprintf(name, sizeof name, "%s%s_stderr", prefix, dkm_loss_name(loss));
    report_real(r, name, s->stderror);
    for (int k = 0; k < s->extras; k++) {
        snprintf(name, sizeof name, "%s%s", prefix, s->extra[k].name);
        report_real(r, name, s->extra[k].value);
    }
}

static void record_loss(run *r, dkm_loss loss, const dkm_score *s)
{
    if (!r->record)
        return;
    dkm_runlog_text(r->record, "loss.name", dkm_loss_name(loss));
    dkm_runlog_real(r->record, "loss.mean", s->mean);
    dkm_runlog_real(r->record, "loss.stderr", s->stderror);
}

static void tell_all(run *r, const results *all)
{
    report_int(r, "rows", all->list[0].score.rows);
    record_loss(r, all->list[0].loss, &all->list[0].score);
    for (int k = 0; k < all->count; k++)
        cmd_score_report(r, all->list[k].prefix, all->list[k].loss, &all->list[k].score);
}

static dkm_local cmd_score_allocate(run *r, results *all)
{
    all->room = args_count(r->args, "loss") * (1 + args_count(r->args, "baseline"));
    all->list = calloc((size_t)all->room, sizeof *all->list);
    if (!all->list)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for %d scores", all->room);
    return DKM_LOCAL_OK;
}

static dkm_status score_one(run *r, results *all, const char *prefix, dkm_loss loss,
                            const dkm_data *truth, const dkm_data *pred, const dkm_kernel *ky)
{
    result *next = &all->list[all->count];
    dkm_score_settings settings = {.loss = loss, .ky = ky};

    if (args_text(r->args, "labels"))
        settings.labels = args_whole(r->args, "labels");
    next->prefix = prefix;
    next->loss = loss;
    all->count++;
    return dkm_score_by(truth, pred, &settings, &next->score);
}

static dkm_loss nth_loss(const run *r, int k)
{
    return (dkm_loss)args_value(r->args, "loss", k)->whole;
}

/* Every loss that was asked for. */
static dkm_status score_all(run *r, results *all, const char *prefix, const dkm_data *truth,
                            const dkm_data *pred, const dkm_kernel *ky)
{
    dkm_status status = DKM_OK;

    for (int k = 0; k < args_count(r->args, "loss"); k++)
        DKM_TRY(score_one(r, all, prefix, nth_loss(r, k), truth, pred, ky));
out:
    return status;
}

/* What is best without inputs depends on the loss. */
static dkm_status score_mean(run *r, results *all, const dkm_data *truth, const dkm_kernel *ky)
{
    dkm_status status = DKM_OK;
    dkm_data *pred = NULL;

    for (int k = 0; k < args_count(r->args, "loss"); k++) {
        dkm_data_destroy(&pred);
        DKM_TRY(dkm_score_baseline_by(truth, nth_loss(r, k), &pred));
        DKM_TRY(score_one(r, all, "baseline_", nth_loss(r, k), truth, pred, ky));
    }
out:
    dkm_data_destroy(&pred);
    return status;
}

/* --labels must not be fewer than occur. */
static dkm_status cmd_score_check_labels(run *r, const dkm_data *truth, const dkm_data *pred)
{
    dkm_status status = DKM_OK;
    dkm_idx count = 0, given;

    if (!args_text(r->args, "labels"))
        return DKM_OK;
    given = args_whole(r->args, "labels");
    DKM_REQUIRE(r->ctx,
                dkm_data_type(truth) == DKM_LABEL_SETS && dkm_data_type(pred) == DKM_LABEL_SETS,
                DKM_ERR_ARG, "--labels is for label sets");
    DKM_TRY(dkm_score_count_labels(truth, pred, &count));
    DKM_REQUIRE(r->ctx, given >= count, DKM_ERR_ARG,
                "--labels %lld: there are %lld labels in truth and predictions", (long long)given,
                (long long)count);
out:
    return status;
}

/* The inputs themselves as predictions. */
static dkm_status score_copy(run *r, results *all, const dkm_data *truth, const dkm_kernel *ky)
{
    const char *where = args_text(r->args, "x");
    dkm_status status = DKM_OK;
    dkm_data *pred = NULL;

    DKM_REQUIRE(r->ctx, where != NULL, DKM_ERR_ARG, "--baseline copy needs the inputs: --x");
    DKM_TRY(dkm_data_read(r->ctx, where, DKM_INPUTS, args_text(r->args, "y-type"), &pred));
    DKM_TRY(run_error_context(r, where, score_all(r, all, "copy_", truth, pred, ky)));
out:
    dkm_data_destroy(&pred);
    return status;
}

static dkm_status score_baselines(run *r, results *all, const dkm_data *truth, const dkm_kernel *ky)
{
    dkm_status status = DKM_OK;

    for (int k = 0; k < args_count(r->args, "baseline"); k++)
        DKM_TRY(args_value(r->args, "baseline", k)->whole == BASELINE_MEAN
                    ? score_mean(r, all, truth, ky)
                    : score_copy(r, all, truth, ky));
out:
    return status;
}

static dkm_status score(run *r)
{
    static const file_options truths = {"truth", "y-type", DKM_OUTPUTS};
    static const file_options predictions = {"pred", "y-type", DKM_OUTPUTS};
    static const file_options lists = {"pred", NULL, DKM_OUTPUTS};
    int ranks = args_value(r->args, "loss", 0)->whole == DKM_LOSS_RANK;
    dkm_status status = DKM_OK;
    dkm_data *truth = NULL, *pred = NULL;
    dkm_kernel *ky = NULL;
    results all = {0};

    if (args_text(r->args, "ky"))
        DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "ky"), &ky));
    DKM_TRY(xy_read(r, truths, ranks ? lists : predictions, &truth, &pred));
    DKM_TRY(cmd_score_check_labels(r, truth, pred));
    if (ky)
        DKM_TRY(dkm_kernel_resolve(ky, truth));
    DKM_AGREE(r->ctx, cmd_score_allocate(r, &all));
    DKM_TRY(score_all(r, &all, "", truth, pred, ky));
    DKM_TRY(score_baselines(r, &all, truth, ky));
    tell_all(r, &all);
out:
    free(all.list);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
    dkm_kernel_destroy(&ky);
    return status;
}

#define WORD_OF_LOSS(code, name) name "|"

static const option options[] = {
    {.name = "truth",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "FILE",
     .help = "true outputs"},
    {.name = "pred",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "FILE",
     .help = "predicted outputs, as many rows"},
    {.name = "loss",
     .kind = OPT_WORD,
     .flags = OPT_REQUIRED | OPT_LIST | OPT_REPEATED,
     .metavar = "LOSS",
     .choices = DKM_LOSS_LIST(WORD_OF_LOSS),
     .help = "loss of a row, or several separated by commas"},
    {.name = "ky",
     .kind = OPT_TEXT,
     .metavar = "KERNEL",
     .help = "kernel of the outputs, of the loss kernel"},
    {.name = "baseline",
     .kind = OPT_WORD,
     .flags = OPT_LIST | OPT_REPEATED,
     .metavar = "WHICH",
     .choices = "mean|copy|",
     .help = "score as well the best prediction that looks at no input (mean: the mean of the "
             "truth, or its most frequent label, row for zero-one or values for hamming), or the "
             "inputs as they are (copy)"},
    {.name = "labels",
     .kind = OPT_WHOLE,
     .min = 1,
     .max = INT32_MAX,
     .metavar = "N",
     .help = "how many labels there are, for hamming of label sets; those that occur when not "
             "given"},
    {.name = "x", .kind = OPT_TEXT, .metavar = "FILE", .help = "inputs, of the baseline copy"},
    ROW_Y_TYPE,
    {0}};

const command command_score = {
    .name = "score",
    .summary = "tell how far predictions are from the truth",
    .about =
        "A score is the mean loss of a row, with its standard error.\n"
        "mse: mean square of the differences of a row; its root and r2 are told as well.\n"
        "zero-one: 1 for a row that differs at all.\n"
        "hamming: share of the columns, letters (of strings of one length) or labels that differ; "
        "of label sets, out of --labels, or of all labels that occur in truth and predictions.\n"
        "edit: fewest letters to insert, delete or change; told as well relative to the length of "
        "the true string.\n"
        "kernel: squared distance in the space of the kernel --ky; its root and the mean of the "
        "roots of all rows are told as well.\n"
        "rank: place of the true candidate in the lists that predict --top writes; the truth is "
        "its number. Those missing from a list of N are told, and count as place N + 1.",
    .example = "dkmap score --truth y_new.npy --pred predictions.npy --loss mse",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = score,
};
