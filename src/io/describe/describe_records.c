#include "io/describe/describe.h"

#include <jansson.h>
#include <string.h>

#include "io/text/records.h"

#define SHOWN 20 /* runs, the latest ones */

static json_t *parse(const char *line, dkm_idx length)
{
    json_t *run = json_loadb(line, (size_t)length, 0, NULL);

    if (run && !json_is_object(run)) {
        json_decref(run);
        run = NULL;
    }
    return run;
}

static const char *text_in(const json_t *run, const char *name)
{
    const char *text = json_string_value(json_object_get(run, name));

    return text ? text : "-";
}

dkm_local dkm_is_record(dkm_ctx *ctx, const char *path, int *ours)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    char *line = NULL;
    dkm_idx length = 0;
    json_t *run;

    *ours = 0;
    DKM_STEP(dkm_text_open(&text, ctx, path));
    DKM_STEP(dkm_text_next(&text, &line, &length));
    run = line ? parse(line, length) : NULL;
    *ours = run && strcmp(text_in(run, "program"), "dkmap") == 0;
    json_decref(run);
out:
    dkm_text_close(&text);
    return local;
}

static void describe_run(const dkm_describe_writer *writer, const json_t *run)
{
    dkm_describe_line(writer, "  %-20s  %5lld  %10.3f  %.80s", text_in(run, "date"),
                      (long long)json_integer_value(json_object_get(run, "ranks")),
                      json_number_value(json_object_get(run, "seconds")), text_in(run, "command"));
}

/* Walk over the runs and describe those from number @p from on; count them, and the other lines. */
static dkm_local describe_records_walk(const dkm_describe_writer *writer, const char *path,
                                       dkm_idx from, dkm_idx *runs, dkm_idx *others)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    char *line;
    dkm_idx length;

    *runs = *others = 0;
    DKM_STEP(dkm_text_open(&text, writer->ctx, path));
    for (;;) {
        json_t *run;
        DKM_STEP(dkm_text_next(&text, &line, &length));
        if (!line)
            break;
        run = parse(line, length);
        if (run && *runs >= from)
            describe_run(writer, run);
        *runs += run != NULL;
        *others += run == NULL;
        json_decref(run);
    }
out:
    dkm_text_close(&text);
    return local;
}

dkm_local dkm_describe_records(const dkm_describe_writer *writer, const char *path)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx runs, others, from;

    DKM_STEP(describe_records_walk(writer, path, INT64_MAX, &runs, &others));
    dkm_describe_line(writer, "%s: run records of dkmap, %lld run%s", path, (long long)runs,
                      runs == 1 ? "" : "s");
    if (others > 0)
        dkm_describe_line(writer, "  %lld lines are no records", (long long)others);
    from = runs > SHOWN ? runs - SHOWN : 0;
    if (from > 0)
        dkm_describe_line(writer, "  the latest %d:", SHOWN);
    dkm_describe_line(writer, "  %-20s  %5s  %10s  %s", "date", "ranks", "seconds", "command");
    DKM_STEP(describe_records_walk(writer, path, from, &runs, &others));
out:
    return local;
}
