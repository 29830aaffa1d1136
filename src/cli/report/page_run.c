#include "cli/report/page_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/score.h>

#include "cli/plot/plot_trials.h"
#include "cli/report/figures.h"

enum { PHASES = 64 };

/* What each record has, in a place of its own. */
static int is_basic(const char *name)
{
    static const char *const basic[] = {"program", "version", "date",    "command", "host",
                                        "nodes",   "ranks",   "threads", "simd",    "line"};

    for (size_t k = 0; k < sizeof basic / sizeof *basic; k++)
        if (strcmp(name, basic[k]) == 0)
            return 1;
    return 0;
}

/* A number or text as it is written; 0 for anything else. */
static int scalar_text(const json_t *entry, char *out, size_t size)
{
    if (json_is_string(entry))
        snprintf(out, size, "%s", json_string_value(entry));
    else if (json_is_integer(entry))
        snprintf(out, size, "%lld", (long long)json_integer_value(entry));
    else if (json_is_real(entry))
        snprintf(out, size, "%.6g", json_real_value(entry));
    else
        return 0;
    return 1;
}

static void put_scalars(page *p, json_t *object, int basics)
{
    const char *name;
    json_t *entry;
    char text[1000];

    page_facts_begin(p);
    json_object_foreach(object, name, entry) if (is_basic(name) == basics &&
                                                 scalar_text(entry, text, sizeof text))
        page_fact(p, name, text);
    page_facts_end(p);
}

static void put_settings(page *p, json_t *record)
{
    json_t *settings = json_object_get(record, "settings");

    if (!json_is_object(settings))
        return;
    fputs("<details><summary>Settings</summary>\n", p->out);
    put_scalars(p, settings, 0);
    fputs("</details>\n", p->out);
}

/* The numbers of an array; NULL when it is none, or there is no memory. */
static double *numbers_of(const json_t *list, size_t count)
{
    double *numbers =
        json_is_array(list) && json_array_size(list) == count ? malloc(count * sizeof(double)) : 0;

    for (size_t k = 0; numbers && k < count; k++)
        numbers[k] = json_is_number(json_array_get(list, k))
                         ? json_number_value(json_array_get(list, k))
                         : NAN;
    return numbers;
}

/* Errors of all ridges of a path. */
static dkm_local draw_path(page *p, json_t *record)
{
    json_t *path = json_object_get(record, "path"), *gammas = json_object_get(path, "gamma");
    size_t count = json_array_size(gammas);
    double *gamma = numbers_of(gammas, count),
           *loo = numbers_of(json_object_get(path, "loo"), count);
    double *gcv = numbers_of(json_object_get(path, "gcv"), count);
    lines_figure f = {.count = (dkm_idx)count,
                      .x = gamma,
                      .lines = 2,
                      .y = {loo, gcv},
                      .name = {"leave-one-out", "generalized cross-validation"},
                      .x_label = "ridge",
                      .y_label = "error",
                      .logarithmic = 1,
                      .marked = json_number_value(json_object_get(record, "gamma"))};
    drawing picture = lines_drawing(&f);
    dkm_local local = DKM_LOCAL_OK;

    if (gamma && loo && gcv && count > 1)
        local = page_figure(p, &picture, "Path of ridges; the one chosen is marked");
    free(gcv);
    free(loo);
    free(gamma);
    return local;
}

static int is_greater_better(const char *loss)
{
    for (int k = 0; k < DKM_LOSS_COUNT; k++)
        if (strcmp(loss, dkm_loss_name((dkm_loss)k)) == 0)
            return dkm_loss_greater_is_better((dkm_loss)k);
    return 0;
}

static json_t *trial_at(const json_t *all, size_t k)
{
    char name[24];

    if (json_is_array(all))
        return json_array_get(all, k);
    snprintf(name, sizeof name, "%zu", k);
    return json_object_get(all, name);
}

/* Trials of a cross-validation, listed or numbered. */
static dkm_local draw_trials(page *p, json_t *record)
{
    json_t *all = json_object_get(record, "trials");
    const char *loss = json_string_value(json_object_get(json_object_get(record, "loss"), "name"));
    const char *best = json_string_value(json_object_get(record, "best"));
    size_t count = json_is_array(all) ? json_array_size(all) : json_object_size(all);
    trial *list = count > 1 ? calloc(count, sizeof *list) : NULL;
    trials t = {.trial = list, .loss = loss ? loss : "loss"};
    drawing picture;
    dkm_local local = DKM_LOCAL_OK;

    for (size_t k = 0; list && k < count; k++) {
        json_t *one = trial_at(all, k), *mean = json_object_get(one, "mean");
        const char *label = json_string_value(json_object_get(one, "setting"));
        if (!label || !json_is_number(mean))
            continue;
        if (best && strcmp(label, best) == 0)
            t.best = t.count;
        list[t.count++] = (trial){.label = label,
                                  .mean = json_number_value(mean),
                                  .stderror = json_number_value(json_object_get(one, "stderr"))};
    }
    t.greater_is_better = is_greater_better(t.loss);
    if (t.count > 1) {
        picture = trials_drawing(&t);
        local = page_figure(p, &picture, "Loss of the settings that were tried");
    }
    free(list);
    return local;
}

static dkm_local draw_phases(page *p, json_t *phases)
{
    const char *names[PHASES];
    double least[PHASES], mean[PHASES], most[PHASES];
    bars_figure f = {.name = names,
                     .least = least,
                     .mean = mean,
                     .most = most,
                     .label = "seconds: mean, least and most of a rank"};
    drawing picture;
    const char *name;
    json_t *phase;

    json_object_foreach(phases, name, phase)
    {
        json_t *seconds = json_object_get(phase, "seconds");
        if (f.count == PHASES)
            break;
        names[f.count] = name;
        least[f.count] = json_number_value(json_object_get(seconds, "min"));
        mean[f.count] = json_number_value(json_object_get(seconds, "mean"));
        most[f.count++] = json_number_value(json_object_get(seconds, "max"));
    }
    picture = bars_drawing(&f);
    return f.count > 0 ? page_figure(p, &picture, "Seconds by phase") : DKM_LOCAL_OK;
}

static void put_phases(page *p, json_t *phases)
{
    static const char *const head[] = {"phase", "calls",   "least",  "mean",
                                       "most",  "Gflop/s", "MPI, s", "MB sent"};
    const char *name, *ends[] = {"min", "mean", "max"};
    json_t *phase;

    page_table_begin(p, 8, head);
    json_object_foreach(phases, name, phase)
    {
        char text[7][32] = {""};
        const char *cells[] = {name, text[0], text[1], text[2], text[3], text[4], text[5], text[6]};
        json_t *rate = json_object_get(phase, "flop_rate"), *mpi = json_object_get(phase, "mpi");
        snprintf(text[0], sizeof text[0], "%lld",
                 (long long)json_integer_value(json_object_get(phase, "calls")));
        for (int k = 0; k < 3; k++)
            page_seconds(
                json_number_value(json_object_get(json_object_get(phase, "seconds"), ends[k])),
                text[1 + k], sizeof text[0]);
        if (json_is_number(rate))
            snprintf(text[4], sizeof text[4], "%.3g", json_number_value(rate) / 1e9);
        if (mpi) {
            snprintf(text[5], sizeof text[5], "%.3g",
                     json_number_value(json_object_get(json_object_get(mpi, "seconds"), "mean")));
            snprintf(text[6], sizeof text[6], "%.3g",
                     json_number_value(json_object_get(json_object_get(mpi, "bytes"), "mean")) /
                         1e6);
        }
        page_cells(p, 8, cells);
    }
    page_table_end(p);
}

static dkm_local draw_memory(page *p, json_t *record)
{
    static const char *const names[] = {"resident", "allocated"};
    json_t *bytes[] = {json_object_get(record, "peak_resident_bytes"),
                       json_object_get(record, "peak_allocated_bytes")};
    double least[2], mean[2], most[2];
    const bars_figure f = {.count = 2,
                           .name = names,
                           .least = least,
                           .mean = mean,
                           .most = most,
                           .label = "MB: mean, least and most of a rank"};
    const drawing picture = bars_drawing(&f);

    for (int k = 0; k < 2; k++) {
        least[k] = json_number_value(json_object_get(bytes[k], "min")) / 1e6;
        mean[k] = json_number_value(json_object_get(bytes[k], "mean")) / 1e6;
        most[k] = json_number_value(json_object_get(bytes[k], "max")) / 1e6;
    }
    return bytes[0] && bytes[1] ? page_figure(p, &picture, "Peak memory") : DKM_LOCAL_OK;
}

dkm_local page_run(page *p, json_t *record, int number)
{
    const char *name = json_string_value(json_object_get(record, "command"));
    json_t *phases = json_object_get(record, "phases");
    dkm_local local = DKM_LOCAL_OK;
    char title[120];

    snprintf(title, sizeof title, "Run %d: %.80s", number, name ? name : "");
    page_heading(p, 2, title);
    put_scalars(p, record, 1);
    put_settings(p, record);
    page_heading(p, 3, "Results");
    put_scalars(p, record, 0);
    page_figures_begin(p);
    DKM_STEP(draw_path(p, record));
    DKM_STEP(draw_trials(p, record));
    DKM_STEP(draw_phases(p, phases));
    DKM_STEP(draw_memory(p, record));
    page_figures_end(p);
    if (json_object_size(phases) > 0)
        put_phases(p, phases);
out:
    return local;
}
