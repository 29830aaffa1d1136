#include "cli/report/page_runs.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/figures.h"
#include "cli/report/page_run.h"

/* The latest records of a file. */
typedef struct records {
    int count;
    long long all; /* lines that are records, also those no longer listed */
    json_t *record[RUNS_LISTED];
} records;

static void records_close(records *list)
{
    for (int k = 0; k < list->count; k++)
        json_decref(list->record[k]);
    list->count = 0;
}

static void keep(records *list, json_t *record)
{
    const char *program = json_string_value(json_object_get(record, "program"));

    if (!program || strcmp(program, "dkmap") != 0) {
        json_decref(record);
        return;
    }
    if (list->count == RUNS_LISTED) {
        json_decref(list->record[0]);
        memmove(list->record, list->record + 1, (RUNS_LISTED - 1) * sizeof *list->record);
        list->count--;
    }
    list->record[list->count++] = record;
    list->all++;
}

static dkm_local records_read(run *r, const char *path, records *list)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (!file)
        return dkm_fail(r->ctx, DKM_ERR_IO, "%s: %s", path, strerror(errno));
    while ((length = getline(&line, &capacity, file)) > 0)
        keep(list, json_loadb(line, (size_t)length, 0, NULL));
    free(line);
    fclose(file);
    if (list->count == 0)
        return dkm_fail(r->ctx, DKM_ERR_FORMAT,
                        "%s: neither a model nor records of runs, as --record appends them", path);
    return DKM_LOCAL_OK;
}

static double number_in(const json_t *record, const char *box, const char *name)
{
    const json_t *at = box ? json_object_get(record, box) : record;

    return json_number_value(json_object_get(at, name));
}

static const char *text_in(const json_t *record, const char *name)
{
    const char *text = json_string_value(json_object_get(record, name));

    return text ? text : "";
}

static void list_run(page *p, const json_t *record, int number)
{
    char place[16], ranks[16], m[24] = "", seconds[32], memory[32], loss[80] = "";
    const char *cells[] = {
        place, text_in(record, "date"), text_in(record, "command"), m, ranks, seconds, memory,
        loss};

    snprintf(place, sizeof place, "%d", number);
    snprintf(ranks, sizeof ranks, "%.0f", number_in(record, NULL, "ranks"));
    if (json_is_number(json_object_get(record, "m")))
        snprintf(m, sizeof m, "%.0f", number_in(record, NULL, "m"));
    page_seconds(number_in(record, NULL, "seconds"), seconds, sizeof seconds);
    page_bytes(number_in(record, "peak_resident_bytes", "max"), memory, sizeof memory);
    if (json_is_object(json_object_get(record, "loss")))
        snprintf(loss, sizeof loss, "%.30s %.5g", text_in(json_object_get(record, "loss"), "name"),
                 number_in(record, "loss", "mean"));
    page_cells(p, 8, cells);
}

/* Seconds of all runs that are shown in detail, one beside the other. */
static dkm_local compare_runs(page *p, const records *list, int first)
{
    double seconds[RUNS_SHOWN], memory[RUNS_SHOWN];
    char text[RUNS_SHOWN][48];
    const char *name[RUNS_SHOWN];
    int count = list->count - first;
    bars_figure f = {.count = count, .name = name, .label = "seconds"};
    drawing picture;
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; k < count; k++) {
        const json_t *record = list->record[first + k];
        snprintf(text[k], sizeof text[k], "%d %.20s, %.0f rank%s", first + k + 1,
                 text_in(record, "command"), number_in(record, NULL, "ranks"),
                 number_in(record, NULL, "ranks") > 1 ? "s" : "");
        name[k] = text[k];
        seconds[k] = number_in(record, NULL, "seconds");
        memory[k] = number_in(record, "peak_resident_bytes", "max") / 1e6;
    }
    page_figures_begin(p);
    f.least = f.mean = f.most = seconds;
    picture = bars_drawing(&f);
    DKM_STEP(page_figure(p, &picture, "Seconds of each run"));
    f.least = f.mean = f.most = memory;
    f.label = "MB";
    DKM_STEP(page_figure(p, &picture, "Peak resident memory of the fullest rank"));
out:
    page_figures_end(p);
    return local;
}

dkm_local page_runs(page *p, const char *path)
{
    static const char *const head[] = {"run",   "date",    "command",     "m",
                                       "ranks", "seconds", "memory/rank", "loss"};
    dkm_local local = DKM_LOCAL_OK;
    records list = {0};
    char title[300];
    int first;

    DKM_STEP(records_read(p->r, path, &list));
    first = list.count > RUNS_SHOWN ? list.count - RUNS_SHOWN : 0;
    snprintf(title, sizeof title, "%.200s: %lld run%s%s", path, list.all, list.all > 1 ? "s" : "",
             list.all > RUNS_LISTED ? ", the latest 200" : "");
    page_heading(p, 2, title);
    page_table_begin(p, 8, head);
    for (int k = 0; k < list.count; k++)
        list_run(p, list.record[k], k + 1);
    page_table_end(p);
    if (list.count > 1)
        DKM_STEP(compare_runs(p, &list, first));
    for (int k = first; k < list.count; k++)
        DKM_STEP(page_run(p, list.record[k], k + 1));
out:
    records_close(&list);
    return local;
}
