#include <dkmap/categories.h>
#include <dkmap/score.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/method_options.h"
#include "cli/options/xy_reader.h"
#include "cli/plot/gnuplot.h"
#include "cli/plot/plot_confusion.h"
#include "cli/plot/score_plot.h"

enum { BASELINE_MEAN, BASELINE_COPY, BASELINE_NONE }; /* as the words of --baseline stand */

/* One score. All are worked out before the first is reported: a run that fails reports none. */
typedef struct result {
    const char *prefix;
    dkm_loss loss;
    dkm_score score;
} result;

typedef struct results {
    dkm_data *weights; /* of the rows, or NULL */
    int count, capacity;
    result *list;
} results;

/* One name for the likelihood of classes and of numbers. */
static const char *name_of(dkm_loss loss)
{
    return dkm_loss_name(loss == DKM_LOSS_GAUSSIAN_NLL ? DKM_LOSS_NLL : loss);
}

/* mse comes with an r2 of all columns together: where the loss r2 was asked for, that one counts. */
static int asked_for(const results *all, const char *prefix, const char *name)
{
    for (int k = 0; k < all->count; k++)
        if (strcmp(all->list[k].prefix, prefix) == 0 &&
            strcmp(name_of(all->list[k].loss), name) == 0)
            return 1;
    return 0;
}

/* In the record the first loss is `loss`; every loss is there under its own name as well. */
static void cmd_score_report(run *r, const results *all, const result *one)
{
    const dkm_score *s = &one->score;
    const char *prefix = one->prefix;
    dkm_loss loss = one->loss;
    char name[64];

    snprintf(name, sizeof name, "%s%s", prefix, name_of(loss));
    report_real(r, name, s->mean);
    snprintf(name, sizeof name, "%s%s_stderr", prefix, name_of(loss));
    if (!isnan(s->stderror))
        report_real(r, name, s->stderror);
    for (int k = 0; k < s->extras; k++) {
        if (asked_for(all, prefix, s->extra[k].name))
            continue;
        snprintf(name, sizeof name, "%s%s", prefix, s->extra[k].name);
        report_real(r, name, s->extra[k].value);
    }
}

static void record_loss(run *r, dkm_loss loss, const dkm_score *s)
{
    if (!r->record)
        return;
    dkm_runlog_text(r->record, "loss.name", name_of(loss));
    dkm_runlog_real(r->record, "loss.mean", s->mean);
    if (!isnan(s->stderror))
        dkm_runlog_real(r->record, "loss.stderr", s->stderror);
}

static void tell_all(run *r, const results *all)
{
    report_int(r, "rows", all->list[0].score.rows);
    record_loss(r, all->list[0].loss, &all->list[0].score);
    for (int k = 0; k < all->count; k++)
        cmd_score_report(r, all, &all->list[k]);
}

/* One, by the type of the truth, when none is named. */
static int losses_count(const run *r)
{
    int count = args_count(r->args, "loss");

    return count > 0 ? count : 1;
}

static dkm_local cmd_score_allocate(run *r, results *all)
{
    all->capacity = losses_count(r) * (2 + args_count(r->args, "baseline"));
    all->list = calloc((size_t)all->capacity, sizeof *all->list);
    if (!all->list)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for %d scores", all->capacity);
    return DKM_LOCAL_OK;
}

static dkm_status score_one(run *r, results *all, const char *prefix, dkm_loss loss,
                            const dkm_data *truth, const dkm_data *pred, const dkm_kernel *ky)
{
    result *next = &all->list[all->count];
    dkm_score_settings settings = {.loss = loss, .ky = ky, .weights = all->weights};

    if (args_text(r->args, "labels"))
        settings.labels = args_int(r->args, "labels");
    next->prefix = prefix;
    next->loss = loss;
    all->count++;
    return dkm_score_by(truth, pred, &settings, &next->score);
}

/* Two columns that are no probabilities of two classes, which nll would take them for, are a mean
 * and a standard deviation each. */
static int looks_normal(const dkm_data *truth, const dkm_data *pred)
{
    const double *row = dkm_data_values_const(pred);
    dkm_idx d = dkm_data_cols(pred);
    int normal = 0, any = 0;

    if (dkm_data_type(truth) != DKM_DENSE || dkm_data_type(pred) != DKM_DENSE ||
        d != 2 * dkm_data_cols(truth))
        return 0;
    for (dkm_idx i = 0; i < dkm_data_local_rows(pred) && !normal; i++)
        normal = d > 2 || !(fabs(row[i * d] + row[i * d + 1] - 1.0) < 1e-6);
    MPI_Allreduce(&normal, &any, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(dkm_data_ctx(pred)));
    return any;
}

/* nll is that of normal distributions where the predictions are such. Collective. */
static dkm_loss nth_loss(const run *r, const dkm_data *truth, const dkm_data *pred, int k)
{
    const value *given = args_value(r->args, "loss", k);
    dkm_loss loss = given ? (dkm_loss)given->integer : dkm_loss_default(dkm_data_type(truth));

    if (loss == DKM_LOSS_NLL && (args_flag(r->args, "std") || looks_normal(truth, pred)))
        return DKM_LOSS_GAUSSIAN_NLL;
    return loss;
}

/* The means of rows of means and standard deviations. */
static dkm_status take_means(run *r, const dkm_data *truth, const dkm_data *pred, dkm_data **means)
{
    dkm_status status = DKM_OK;
    dkm_idx p = dkm_data_cols(truth), d = dkm_data_cols(pred);

    DKM_REQUIRE(r->ctx,
                dkm_data_type(truth) == DKM_DENSE && dkm_data_type(pred) == DKM_DENSE && d == 2 * p,
                DKM_ERR_ARG,
                "--std takes %lld columns of predictions for %lld of numbers, all means and then "
                "all standard deviations; these have %lld",
                (long long)(2 * p), (long long)p, (long long)d);
    DKM_TRY(dkm_data_create_dense(r->ctx, dkm_data_rows(pred), p, means));
    for (dkm_idx k = 0; k < dkm_data_local_rows(pred) * p; k++)
        dkm_data_values(*means)[k] = dkm_data_values_const(pred)[k / p * d + k % p];
out:
    return status;
}

/* Every loss that was asked for. */
static dkm_status score_all(run *r, results *all, const char *prefix, const dkm_data *truth,
                            const dkm_data *pred, const dkm_kernel *ky)
{
    dkm_status status = DKM_OK;
    dkm_data *means = NULL;

    if (args_flag(r->args, "std") && *prefix == '\0')
        DKM_TRY(take_means(r, truth, pred, &means));
    for (int k = 0; k < losses_count(r); k++) {
        dkm_loss loss = nth_loss(r, truth, pred, k);
        int both = !means || dkm_loss_takes(loss) == DKM_LOSS_OF_NORMALS;
        DKM_TRY(score_one(r, all, prefix, loss, truth, both ? pred : means, ky));
    }
out:
    dkm_data_destroy(&means);
    return status;
}

/* What is best without inputs depends on the loss. Without --baseline, losses that have none are
 * passed over. */
static dkm_status score_mean(run *r, results *all, const dkm_data *truth, const dkm_data *given,
                             const dkm_kernel *ky)
{
    dkm_status status = DKM_OK;
    dkm_data *pred = NULL;
    int asked = args_count(r->args, "baseline") > 0;

    for (int k = 0; k < losses_count(r); k++) {
        dkm_loss loss = nth_loss(r, truth, given, k);
        dkm_data_destroy(&pred);
        if (!asked && !dkm_score_has_baseline(dkm_data_type(truth), loss))
            continue;
        DKM_TRY(dkm_score_baseline_by(truth, loss, dkm_data_cols(given), &pred));
        DKM_TRY(score_one(r, all, "baseline_", loss, truth, pred, ky));
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
    given = args_int(r->args, "labels");
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

static dkm_status score_baselines(run *r, results *all, const dkm_data *truth, const dkm_data *pred,
                                  const dkm_kernel *ky)
{
    dkm_status status = DKM_OK;

    if (args_count(r->args, "baseline") == 0)
        return score_mean(r, all, truth, pred, ky);
    for (int k = 0; k < args_count(r->args, "baseline"); k++) {
        int64_t which = args_value(r->args, "baseline", k)->integer;
        if (which == BASELINE_MEAN)
            DKM_TRY(score_mean(r, all, truth, pred, ky));
        else if (which == BASELINE_COPY)
            DKM_TRY(score_copy(r, all, truth, ky));
    }
out:
    return status;
}

/* The values of single columns, whose mean is the score. */
static dkm_status report_columns(run *r, const dkm_data *truth, const dkm_data *pred)
{
    dkm_status status = DKM_OK;
    dkm_idx count = 0;
    double *values = NULL;
    char name[64];

    for (int k = 0; k < losses_count(r); k++) {
        const dkm_score_settings settings = {.loss = nth_loss(r, truth, pred, k)};
        dkm_score_values_free(&values);
        DKM_TRY(dkm_score_columns(truth, pred, &settings, &count, &values));
        for (dkm_idx j = 0; j < count && count > 1; j++) {
            snprintf(name, sizeof name, "%s_%lld", dkm_loss_name(settings.loss), (long long)j);
            report_real(r, name, values[j]);
        }
    }
out:
    dkm_score_values_free(&values);
    return status;
}

/* The same for programs: a list of the true classes, each with its name and those counts. */
static void record_confusion(run *r, const dkm_confusion *c, const dkm_categories *names,
                             double *row)
{
    char name[48], field[64];

    for (dkm_idx i = 0; r->record && i < c->classes; i++) {
        confusion_name(c, names, i, name, sizeof name);
        snprintf(field, sizeof field, "confusion.%lld.class", (long long)i);
        dkm_runlog_text(r->record, field, name);
        for (dkm_idx j = 0; j < c->classes; j++)
            row[j] = (double)c->count[i * c->classes + j];
        snprintf(field, sizeof field, "confusion.%lld.predicted", (long long)i);
        dkm_runlog_reals(r->record, field, c->classes, row);
    }
}

/* A line per true class: its name, then how often each class was predicted. */
static dkm_status report_confusion(run *r, const dkm_data *truth, const dkm_data *pred,
                                   const dkm_categories *names)
{
    dkm_status status = DKM_OK;
    dkm_confusion c = {0};
    char *line = NULL, name[48];
    double *row = NULL;
    size_t size;

    DKM_TRY(dkm_score_confusion(truth, pred, &c));
    size = (size_t)(c.classes + 1) * sizeof name;
    line = malloc(size);
    row = malloc((size_t)(c.classes + 1) * sizeof *row);
    DKM_AGREE(r->ctx, line && row
                          ? DKM_LOCAL_OK
                          : dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for a confusion matrix"));
    record_confusion(r, &c, names, row);
    for (dkm_idx i = -1; i < c.classes; i++) {
        size_t used;
        if (i < 0)
            snprintf(name, sizeof name, "true \\ predicted");
        else
            confusion_name(&c, names, i, name, sizeof name);
        used = (size_t)snprintf(line, size, "%s", name);
        for (dkm_idx j = 0; j < c.classes; j++) {
            if (i < 0)
                confusion_name(&c, names, j, name, sizeof name);
            else
                snprintf(name, sizeof name, "%lld", (long long)c.count[i * c.classes + j]);
            used += (size_t)snprintf(line + used, size - used, "\t%s", name);
        }
        run_show(r, "confusion", line);
    }
out:
    free(row);
    free(line);
    dkm_confusion_free(&c);
    return status;
}

/* Names of classes become labels where a loss, or a confusion matrix, is one of labels. */
static dkm_status name_classes(run *r, dkm_data **truth, dkm_data **pred, dkm_categories **names)
{
    dkm_status status = DKM_OK;
    dkm_data *labels = NULL;
    int wanted = args_flag(r->args, "confusion"), named = dkm_data_type(*pred) == DKM_STRINGS;

    for (int k = 0; k < losses_count(r); k++) {
        dkm_loss_input input = dkm_loss_takes(nth_loss(r, *truth, *pred, k));
        wanted |= input == DKM_LOSS_OF_LABELS || input == DKM_LOSS_OF_SCORES;
    }
    if (!wanted || dkm_data_type(*truth) != DKM_STRINGS)
        return DKM_OK;
    DKM_TRY(dkm_categories_learn(*truth, named ? *pred : NULL, names));
    DKM_TRY(dkm_categories_encode(*names, *truth, &labels));
    dkm_data_destroy(truth);
    *truth = labels;
    if (!named)
        return DKM_OK;
    DKM_TRY(dkm_categories_encode(*names, *pred, &labels));
    dkm_data_destroy(pred);
    *pred = labels;
out:
    return status;
}

/* What the first loss that is named takes. */
static dkm_loss_input first_takes(const run *r)
{
    const value *first = args_value(r->args, "loss", 0);

    return first ? dkm_loss_takes((dkm_loss)first->integer) : DKM_LOSS_OF_OBJECTS;
}

static int wants_numbers(const run *r)
{
    dkm_loss_input input = first_takes(r);

    return input == DKM_LOSS_OF_LISTS || input == DKM_LOSS_OF_SCORES ||
           input == DKM_LOSS_OF_NORMALS || args_flag(r->args, "std");
}

/* Truth and predictions; prediction sets of labels are label sets. */
static dkm_status read_both(run *r, dkm_data **truth, dkm_data **pred)
{
    static const file_options truths = {"truth", "y-type", DKM_OUTPUTS, 0};
    static const file_options predictions = {"pred", "y-type", DKM_OUTPUTS, 0};
    file_options numbers = {"pred", NULL, DKM_OUTPUTS, 0};
    const value *first = args_value(r->args, "loss", 0);
    const char *type = NULL;
    dkm_status status = DKM_OK;

    numbers.missing_ok = first_takes(r) == DKM_LOSS_OF_LISTS; /* lists may end early */
    if (!first || first->integer != DKM_LOSS_COVERAGE)
        return xy_read(r, truths, wants_numbers(r) ? numbers : predictions, truth, pred);
    DKM_TRY(dkm_data_read(r->ctx, args_text(r->args, "truth"), DKM_OUTPUTS,
                          args_text(r->args, "y-type"), truth));
    if (dkm_data_type(*truth) == DKM_LABELS)
        type = dkm_type_name(DKM_LABEL_SETS);
    else if (dkm_data_type(*truth) == DKM_STRINGS)
        type = dkm_type_name(DKM_SETS);
    DKM_TRY(dkm_data_read(r->ctx, args_text(r->args, "pred"), DKM_OUTPUTS, type, pred));
out:
    return status;
}

/* What --plot draws is chosen by the first loss, else by the types. */
static dkm_status plot(run *r, const dkm_data *truth, const dkm_data *pred,
                       const dkm_categories *names)
{
    dkm_loss_input takes = dkm_loss_takes(nth_loss(r, truth, pred, 0));
    score_picture picture = {.truth = truth, .pred = pred, .names = names, .takes = takes};

    if (args_flag(r->args, "confusion"))
        picture.takes = DKM_LOSS_OF_LABELS;
    if (args_flag(r->args, "std"))
        picture.takes = DKM_LOSS_OF_NORMALS;
    return score_plot(r, &picture);
}

/* A number above 0 for each row. */
static dkm_status read_weights(run *r, const dkm_data *truth, dkm_data **weights)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    const char *where = args_text(r->args, "weights");

    DKM_TRY(method_read_weights(r, dkm_data_rows(truth), weights));
    for (dkm_idx i = 0; *weights && i < dkm_data_local_rows(*weights); i++)
        if (!(dkm_data_values_const(*weights)[i] > 0))
            local = dkm_fail(r->ctx, DKM_ERR_ARG,
                             "%s: row %lld has the weight %g: weights are "
                             "numbers above 0",
                             where, (long long)(dkm_data_local_first(*weights) + i) + 1,
                             dkm_data_values_const(*weights)[i]);
    DKM_AGREE(r->ctx, local);
out:
    return status;
}

static dkm_status score(run *r)
{
    dkm_status status = DKM_OK;
    dkm_data *truth = NULL, *pred = NULL;
    dkm_categories *names = NULL;
    dkm_kernel *ky = NULL;
    results all = {0};

    DKM_TRY(gnuplot_check(r));
    if (args_text(r->args, "ky"))
        DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "ky"), &ky));
    DKM_TRY(read_both(r, &truth, &pred));
    DKM_TRY(cmd_score_check_labels(r, truth, pred));
    if (ky)
        DKM_TRY(dkm_kernel_resolve(ky, truth));
    DKM_AGREE(r->ctx, cmd_score_allocate(r, &all));
    DKM_TRY(read_weights(r, truth, &all.weights));
    DKM_TRY(name_classes(r, &truth, &pred, &names));
    DKM_TRY(score_all(r, &all, "", truth, pred, ky));
    DKM_TRY(score_baselines(r, &all, truth, pred, ky));
    DKM_TRY(plot(r, truth, pred, names));
    tell_all(r, &all);
    if (!args_flag(r->args, "std"))
        DKM_TRY(report_columns(r, truth, pred));
    if (args_flag(r->args, "confusion"))
        DKM_TRY(report_confusion(r, truth, pred, names));
out:
    dkm_data_destroy(&all.weights);
    free(all.list);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
    dkm_categories_destroy(&names);
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
    {.name = "weights",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "a number > 0 per row: losses are weighted means"},
    {.name = "pred",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "FILE",
     .help = "predicted outputs, as many rows"},
    {.name = "loss",
     .kind = OPT_CHOICE,
     .flags = OPT_LIST | OPT_REPEATED,
     .metavar = "LOSS",
     .choices = DKM_LOSS_LIST(WORD_OF_LOSS),
     .help = "loss or measure, or several separated by commas; when not given mse for dense rows, "
             "accuracy for labels, f1-examples for label sets, edit for strings, else zero-one"},
    {.name = "std",
     .kind = OPT_FLAG,
     .help = "predictions are all means and then all standard deviations, as predict --std writes "
             "them: nll and calibration are of both, other losses of the means"},
    {.name = "confusion",
     .kind = OPT_FLAG,
     .help = "print how often each class was taken for each other: a line per true class"},
    ROW_PLOT(
        "draw the confusion matrix of classes, predicted against true numbers, or how reliable "
        "probabilities are; needs gnuplot"),
    {.name = "ky",
     .kind = OPT_TEXT,
     .metavar = "KERNEL",
     .help = "kernel of the outputs, of the loss kernel"},
    {.name = "baseline",
     .kind = OPT_CHOICE,
     .flags = OPT_LIST | OPT_REPEATED,
     .metavar = "WHICH",
     .choices = "mean|copy|none|",
     .help = "what to score beside the predictions: the best that looks at no input (mean, also "
             "when not given: the mean of the truth, its median for mae and median, its most "
             "frequent label, row or string, the share of each class for scores), the inputs as "
             "they are (copy), or nothing (none)"},
    {.name = "labels",
     .kind = OPT_INT,
     .flags = OPT_OF_ARFF,
     .min = 1,
     .max = INT32_MAX,
     .metavar = "N",
     .help = "how many labels there are, for hamming and means over the labels of label sets; "
             "those that occur when not given"},
    {.name = "x", .kind = OPT_TEXT, .metavar = "FILE", .help = "inputs, of the baseline copy"},
    ROW_Y_TYPE,
    {0}};

const command command_score = {
    .name = "score",
    .summary = "measure how far predictions are from the truth",
    .about =
        "Most scores are the mean over the rows, with its standard error.\n"
        "mse: mean square of the differences of a row; its root and r2 are reported as well. mae, "
        "median: mean and median absolute error. r2, spearman: explained variance and correlation "
        "of ranks, the mean over the columns, which are reported one by one as well.\n"
        "zero-one: 1 for a row that differs at all; accuracy: 1 - zero-one. balanced-accuracy: "
        "mean recall of the classes.\n"
        "precision, recall, f1: of two classes, for the greater one; else over all labels; with "
        "-macro the mean over the labels, with -examples the mean over the rows.\n"
        "auc, average-precision, top-1, top-3, top-5, top-10, nll: of scores, one column per class "
        "or label.\n"
        "nll, calibration: of numbers whose predictions are means and standard deviations, the "
        "negative log density of the truth, and how far the shares of the truth in central "
        "intervals are from what they should be.\n"
        "coverage: of prediction sets, as predict --coverage writes them: the share of the truth "
        "that is in its interval or set, with the mean width or size.\n"
        "hamming: share of the columns, bytes (of strings of one length) or labels that differ; of "
        "label sets, out of --labels, or of all labels that occur in truth and predictions.\n"
        "edit: fewest characters to insert, delete or change; reported as well relative to the "
        "length of the true string. bleu, chrf: common n-grams of words and of characters.\n"
        "kernel: squared distance in the space of the kernel --ky; its root and the mean of the "
        "roots of all rows are reported as well.\n"
        "rank, mrr: place of the true candidate in the lists that predict --top writes, and its "
        "reciprocal; the truth is its number. Those missing from a list of N are reported, and "
        "count as place N + 1 and reciprocal 0.",
    .example = "dkmap score --truth y_new.npy --pred predictions.npy --loss mse\n"
               "  dkmap score --truth y.txt --pred p.txt --loss accuracy,f1-macro --confusion",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = score,
};
