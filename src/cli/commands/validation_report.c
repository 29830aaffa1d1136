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

    for (dkm_idx p = 0; p < v->result.points; p++) {
        label_of(v, p, label);
        width = strlen(label) > width ? strlen(label) : width;
    }
    return (int)width;
}

/* A row of the table, and the same for the record. */
static void tell_point(const validation *v, dkm_idx p, int width)
{
    const dkm_cv_score *s = &v->result.table[p];
    char label[GRID_SEARCH_LABEL], text[GRID_SEARCH_LABEL + 60];
    run *r = v->r;

    label_of(v, p, label);
    if (v->problem.loss == DKM_LOSS_KERNEL)
        snprintf(text, sizeof text, "%-*s %-12.6g %-12.6g %.6g", width, label, s->mean, s->stderror,
                 s->root);
    else
        snprintf(text, sizeof text, "%-*s %-12.6g %.6g", width, label, s->mean, s->stderror);
    run_print(r, text);
    if (!r->record)
        return;
    snprintf(text, sizeof text, "trials.%lld.setting", (long long)p);
    dkm_runlog_text(r->record, text, label);
    snprintf(text, sizeof text, "trials.%lld.mean", (long long)p);
    dkm_runlog_real(r->record, text, s->mean);
    snprintf(text, sizeof text, "trials.%lld.stderr", (long long)p);
    dkm_runlog_real(r->record, text, s->stderror);
}

static void validation_report_table(const validation *v)
{
    char text[GRID_SEARCH_LABEL + 60];
    int width = widest_label(v);

    snprintf(text, sizeof text, "%-*s %-12s %s", width, "setting", "loss",
             v->problem.loss == DKM_LOSS_KERNEL ? "stderr       root" : "stderr");
    run_print(v->r, text);
    for (dkm_idx p = 0; p < v->result.points; p++)
        tell_point(v, p, width);
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

static void tell_loss(const validation *v)
{
    const dkm_cv_score *s = &v->result.outer;
    int by_kernel = v->problem.loss == DKM_LOSS_KERNEL; /* `kernel` is the best one */
    const char *name = dkm_loss_name(v->problem.loss), *key = by_kernel ? "kernel_loss" : name;
    char text[64];
    run *r = v->r;

    report_real(r, key, s->mean);
    snprintf(text, sizeof text, "%s_stderr", key);
    report_real(r, text, s->stderror);
    if (by_kernel)
        report_real(r, "root", s->root);
    if (!r->record)
        return;
    dkm_runlog_text(r->record, "loss.name", name);
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
    validation_report_table(v);
    label_of(v, v->result.best, label);
    report_text(r, "best", label);
    if (dkm_cv_search_kernel_text(v->search, kernel, 0))
        report_text(r, "kernel", dkm_cv_search_kernel_text(v->search, kernel, 0));
    if (dkm_cv_search_kernel_text(v->search, kernel, 1))
        report_text(r, "output_kernel", dkm_cv_search_kernel_text(v->search, kernel, 1));
    tell_outer_folds(v);
    tell_loss(v);
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
