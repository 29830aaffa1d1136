#include <stdio.h>
#include <string.h>

#include "cli/commands/validation.h"

static void label_of(const validation *v, dkm_idx point, char *label)
{
    grid_search_label(&v->grid_search, point / v->grid_search.settings,
                      point % v->grid_search.settings, label);
}

/* Of the first column of the table. */
static int widest_label(const validation *v)
{
    char label[GRID_SEARCH_LABEL];
    size_t width = 32;

    for (int64_t t = 0; t < v->grid_search.trials; t++) {
        label_of(v, v->grid_search.point[t], label);
        width = strlen(label) > width ? strlen(label) : width;
    }
    return (int)width;
}

static const dkm_cv_score *score_of(const validation *v, int loss, dkm_idx point)
{
    return loss == 0 ? &v->result.table[point]
                     : &v->result.more[(loss - 1) * v->result.points + point];
}

/* What is recorded of a trial: its values, its losses, and on how many examples. */
static void record_trial(const validation *v, int64_t t, const char *label)
{
    dkm_runlog *record = v->r->record;
    dkm_idx p = v->grid_search.point[t];
    const char *name, *text;
    char key[160];

#define KEY(...) (snprintf(key, sizeof key, __VA_ARGS__), key)
    dkm_runlog_text(record, KEY("trials.%lld.setting", (long long)t), label);
    for (int k = 0; grid_search_value(&v->grid_search, p, k, &name, &text); k++)
        dkm_runlog_text(record, KEY("trials.%lld.values.%s", (long long)t, name), text);
    dkm_runlog_real(record, KEY("trials.%lld.mean", (long long)t), score_of(v, 0, p)->mean);
    dkm_runlog_real(record, KEY("trials.%lld.stderr", (long long)t), score_of(v, 0, p)->stderror);
    for (int l = 1; l < v->losses; l++) {
        const char *loss = dkm_loss_name(v->loss[l]);
        const dkm_cv_score *s = score_of(v, l, p);
        dkm_runlog_real(record, KEY("trials.%lld.losses.%s.mean", (long long)t, loss), s->mean);
        dkm_runlog_real(record, KEY("trials.%lld.losses.%s.stderr", (long long)t, loss),
                        s->stderror);
    }
    if (v->result.examples)
        dkm_runlog_int(record, KEY("trials.%lld.examples", (long long)t), v->result.examples[p]);
#undef KEY
}

/* A row of the table, and the same for the record. */
static void tell_trial(const validation *v, int64_t t, int width)
{
    dkm_idx p = v->grid_search.point[t];
    char label[GRID_SEARCH_LABEL], text[GRID_SEARCH_LABEL + 60 + 30 * LOSSES_MAX];
    int used;

    label_of(v, p, label);
    used = snprintf(text, sizeof text, "%-*s", width, label);
    for (int l = 0; l < v->losses; l++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %-12.6g %-12.6g",
                         score_of(v, l, p)->mean, score_of(v, l, p)->stderror);
    if (v->problem.loss == DKM_LOSS_KERNEL)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, " %-12.6g", score_of(v, 0, p)->root);
    if (v->result.examples)
        used += snprintf(text + used, sizeof text - (size_t)used, " %lld",
                         (long long)v->result.examples[p]);
    while (text[used - 1] == ' ')
        text[--used] = '\0';
    run_print(v->r, text);
    if (v->r->record)
        record_trial(v, t, label);
}

static void validation_report_table(const validation *v)
{
    char text[GRID_SEARCH_LABEL + 60 + 40 * LOSSES_MAX];
    int width = widest_label(v), used;

    used = snprintf(text, sizeof text, "%-*s %-12s %-12s", width, "setting", "loss", "stderr");
    for (int l = 1; l < v->losses; l++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %-12s %-12s",
                         dkm_loss_name(v->loss[l]), "stderr");
    if (v->problem.loss == DKM_LOSS_KERNEL)
        used += snprintf(text + used, sizeof text - (size_t)used, " %-12s", "root");
    if (v->result.examples)
        used += snprintf(text + used, sizeof text - (size_t)used, " examples");
    while (text[used - 1] == ' ')
        text[--used] = '\0';
    run_print(v->r, text);
    for (int64_t t = 0; t < v->grid_search.trials; t++)
        tell_trial(v, t, width);
}

static void tell_outer_folds(const validation *v)
{
    char label[GRID_SEARCH_LABEL], text[GRID_SEARCH_LABEL + 60];

    for (dkm_idx a = 0; v->result.chosen && a < v->result.folds; a++) {
        label_of(v, v->result.chosen[a], label);
        snprintf(text, sizeof text, "%lld %-12.6g %s", (long long)a + 1, v->result.outer_mean[a],
                 label);
        run_show(v->r, "outer_fold", text);
    }
    if (v->r->record && v->result.outer_mean)
        dkm_runlog_reals(v->r->record, "outer_folds", v->result.folds, v->result.outer_mean);
}

/* One loss, of what was held out, on standard output and in the record. */
static void tell_loss(const validation *v, dkm_loss loss, const dkm_cv_score *s)
{
    int by_kernel = loss == DKM_LOSS_KERNEL; /* `kernel` is the best one */
    const char *key = by_kernel ? "kernel_loss" : dkm_loss_name(loss);
    char text[64];

    report_real(v->r, key, s->mean);
    snprintf(text, sizeof text, "%s_stderr", key);
    report_real(v->r, text, s->stderror);
    if (by_kernel)
        report_real(v->r, "root", s->root);
}

static void tell_losses(const validation *v)
{
    const dkm_cv_score *s = &v->result.outer;
    run *r = v->r;

    tell_loss(v, v->loss[0], s);
    for (int l = 1; l < v->losses; l++)
        tell_loss(v, v->loss[l], &v->result.more_outer[l - 1]);
    if (!r->record)
        return;
    dkm_runlog_text(r->record, "loss.name", dkm_loss_name(v->loss[0]));
    dkm_runlog_real(r->record, "loss.mean", s->mean);
    dkm_runlog_real(r->record, "loss.stderr", s->stderror);
    dkm_runlog_int(r->record, "groups", v->result.groups);
    dkm_runlog_int(r->record, "cells", v->result.cells);
    dkm_runlog_int(r->record, "grams", v->result.grams);
}

void validation_report(const validation *v)
{
    dkm_idx kernel = v->result.best / v->grid_search.settings;
    char label[GRID_SEARCH_LABEL];
    run *r = v->r;

    report_text(r, "method", dkm_method_name(r->args->command->method));
    report_int(r, "m", dkm_data_rows(v->X));
    report_int(r, "folds", v->problem.folds);
    if (v->problem.inner)
        report_int(r, "inner_folds", v->problem.inner);
    if (v->grid_search.wanted || v->halving)
        report_int(r, "trials", v->grid_search.trials);
    validation_report_table(v);
    label_of(v, v->result.best, label);
    report_text(r, "best", label);
    if (dkm_cv_search_kernel_text(v->search, kernel, 0))
        report_text(r, "kernel", dkm_cv_search_kernel_text(v->search, kernel, 0));
    if (dkm_cv_search_kernel_text(v->search, kernel, 1))
        report_text(r, "output_kernel", dkm_cv_search_kernel_text(v->search, kernel, 1));
    tell_outer_folds(v);
    tell_losses(v);
    if (grid_search_at_end(&v->grid_search, kernel, v->result.best % v->grid_search.settings,
                           label))
        dkm_log(r->ctx, DKM_WARN,
                "the best value of %s lies at an end of its list: try more beyond it", label);
    report_seconds(r);
    if (args_text(r->args, "output"))
        report_text(r, "model", args_text(r->args, "output"));
}

dkm_status validation_write_folds(const validation *v)
{
    const char *path = args_text(v->r->args, "folds-out");
    dkm_status status = DKM_OK;
    dkm_data *folds = NULL;

    if (!path)
        return DKM_OK;
    DKM_TRY(dkm_data_create_labels(v->r->ctx, dkm_data_rows(v->X), &folds));
    for (dkm_idx i = 0; i < dkm_data_local_rows(folds); i++)
        dkm_data_values(folds)[i] = (double)v->result.fold[dkm_data_local_first(folds) + i] + 1;
    DKM_TRY(dkm_data_write(folds, path));
out:
    dkm_data_destroy(&folds);
    return status;
}
