#include "models/registry/report_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"

enum { MESSAGE = 400 };

/* A result, with the texts and numbers that it owns. */
typedef struct entry {
    dkm_result result;
    char *name, *text;
    double *values;
} entry;

struct dkm_report {
    dkm_ctx *ctx;
    dkm_idx count;
    entry *entries;
    dkm_local outcome;
};

dkm_local dkm_report_create(dkm_ctx *ctx, dkm_report **report)
{
    dkm_local local = dkm_calloc(ctx, 1, report);

    if (local.code == DKM_OK)
        (*report)->ctx = ctx;
    return local;
}

void dkm_report_destroy(dkm_report **report)
{
    dkm_report *r = *report;

    if (!r)
        return;
    for (dkm_idx k = 0; k < r->count; k++) {
        DKM_FREE(r->entries[k].name);
        DKM_FREE(r->entries[k].text);
        DKM_FREE(r->entries[k].values);
    }
    DKM_FREE(r->entries);
    DKM_FREE(*report);
}

dkm_local dkm_report_check(const dkm_report *report)
{
    return report->outcome;
}

static dkm_local report_append(dkm_report *report, const dkm_result *result)
{
    dkm_local local = DKM_LOCAL_OK;
    entry *e;

    DKM_STEP(dkm_realloc(report->ctx, report->count + 1, &report->entries));
    e = &report->entries[report->count++];
    *e = (entry){.result = *result};
    DKM_STEP(dkm_strdup(report->ctx, result->name, &e->name));
    e->result.name = e->name;
    if (result->text)
        DKM_STEP(dkm_strdup(report->ctx, result->text, &e->text));
    e->result.text = e->text;
    if (result->values) {
        DKM_STEP(dkm_alloc(report->ctx, result->count, &e->values));
        memcpy(e->values, result->values, (size_t)result->count * sizeof *e->values);
    }
    e->result.values = e->values;
out:
    return local;
}

static void report_add(dkm_report *report, const dkm_result *result)
{
    if (report && report->outcome.code == DKM_OK)
        report->outcome = report_append(report, result);
}

void dkm_report_add_int(dkm_report *report, const char *name, int64_t value)
{
    report_add(report,
               &(dkm_result){
                   .kind = DKM_RESULT_INT, .name = name, .integer = value, .real = (double)value});
}

void dkm_report_add_real(dkm_report *report, const char *name, double value)
{
    report_add(report, &(dkm_result){.kind = DKM_RESULT_REAL, .name = name, .real = value});
}

void dkm_report_add_text(dkm_report *report, const char *name, const char *text)
{
    report_add(report, &(dkm_result){.kind = DKM_RESULT_TEXT, .name = name, .text = text});
}

void dkm_report_add_reals(dkm_report *report, const char *name, dkm_idx count, const double *values)
{
    report_add(
        report,
        &(dkm_result){.kind = DKM_RESULT_REALS, .name = name, .count = count, .values = values});
}

void dkm_report_add_line(dkm_report *report, const char *name, const char *text)
{
    report_add(report, &(dkm_result){.kind = DKM_RESULT_LINE, .name = name, .text = text});
}

void dkm_report_add_grid(dkm_report *report, int P, int Q)
{
    char text[40];

    snprintf(text, sizeof text, "%dx%d", P, Q);
    dkm_report_add_text(report, "grid", text);
}

void dkm_report_warn(dkm_report *report, const char *format, ...)
{
    char text[MESSAGE];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    report_add(report, &(dkm_result){.kind = DKM_RESULT_WARNING, .name = "", .text = text});
}

dkm_idx dkm_report_count(const dkm_report *report)
{
    return report->count;
}

const dkm_result *dkm_report_at(const dkm_report *report, dkm_idx k)
{
    return k >= 0 && k < report->count ? &report->entries[k].result : NULL;
}

const dkm_result *dkm_report_find(const dkm_report *report, const char *name)
{
    for (dkm_idx k = 0; k < report->count; k++) {
        const dkm_result *r = &report->entries[k].result;
        if (r->kind != DKM_RESULT_LINE && r->kind != DKM_RESULT_WARNING &&
            strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

double dkm_report_real(const dkm_report *report, const char *name)
{
    const dkm_result *r = dkm_report_find(report, name);

    return r && (r->kind == DKM_RESULT_REAL || r->kind == DKM_RESULT_INT) ? r->real : NAN;
}

const char *dkm_report_text(const dkm_report *report, const char *name)
{
    const dkm_result *r = dkm_report_find(report, name);

    return r && r->kind == DKM_RESULT_TEXT ? r->text : NULL;
}
