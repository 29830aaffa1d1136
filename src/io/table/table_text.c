/* A table of inputs as text. A first line "missing standardize columns", then per column a line
 * "named fill shift scale categories", a line with its name, and a line per category. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/table/table.h"

#define LINE_BYTES 120 /* more than the numbers of a column take */

static dkm_idx bytes_of(const dkm_table *t)
{
    dkm_idx bytes = LINE_BYTES;

    for (dkm_idx c = 0; c < t->count; c++) {
        const dkm_categories *k = t->column[c].categories;
        bytes += LINE_BYTES + (t->column[c].name ? (dkm_idx)strlen(t->column[c].name) : 0) +
                 (k ? k->start[k->count] + k->count : 0);
    }
    return bytes;
}

dkm_local dkm_table_print(const dkm_table *t, char **text)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = bytes_of(t);
    char *at, *end, *names = NULL;

    DKM_STEP(dkm_alloc(t->ctx, bytes, text));
    at = *text;
    end = at + bytes;
    at += snprintf(at, (size_t)(end - at), "%d %d %lld\n", (int)t->settings.missing,
                   t->settings.standardize, (long long)t->count);
    for (dkm_idx c = 0; c < t->count; c++) {
        const dkm_table_column *k = &t->column[c];
        at += snprintf(at, (size_t)(end - at), "%d %.17g %.17g %.17g %lld\n%s\n", k->name != NULL,
                       k->fill, k->shift, k->scale,
                       k->categories ? (long long)k->categories->count : -1LL,
                       k->name ? k->name : "");
        if (k->categories) {
            DKM_FREE(names);
            DKM_STEP(dkm_categories_print(k->categories, &names));
            at += snprintf(at, (size_t)(end - at), "%s", names);
        }
    }
out:
    DKM_FREE(names);
    return local;
}

/* The next line, without its end, which becomes a zero; NULL when there is none. */
static char *next_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;

    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

static dkm_local refuse(dkm_ctx *ctx)
{
    return dkm_fail(ctx, DKM_ERR_FORMAT, "damaged model file: the table of its inputs");
}

/* @p count lines as categories. */
static dkm_local parse_categories(dkm_ctx *ctx, char **at, long long count, dkm_categories **out)
{
    char *end = *at, saved;
    dkm_local local;

    for (long long k = 0; k < count; k++) {
        end = strchr(end, '\n');
        if (!end)
            return refuse(ctx);
        end++;
    }
    saved = *end;
    *end = '\0';
    local = dkm_categories_parse(ctx, *at, out);
    *end = saved;
    *at = end;
    return local;
}

static dkm_local parse_column(dkm_ctx *ctx, char **at, dkm_table_column *column)
{
    dkm_local local = DKM_LOCAL_OK;
    char *line = next_line(at), *name = next_line(at);
    long long categories = 0;
    int named = 0;

    if (!line || !name ||
        sscanf(line, "%d %lf %lf %lf %lld", &named, &column->fill, &column->shift, &column->scale,
               &categories) != 5 ||
        !isfinite(column->fill) || !isfinite(column->shift) || !(column->scale > 0) ||
        !isfinite(column->scale) || categories < -1 || categories == 0)
        DKM_STEP(refuse(ctx));
    if (named)
        DKM_STEP(dkm_strdup(ctx, name, &column->name));
    if (categories > 0)
        DKM_STEP(parse_categories(ctx, at, categories, &column->categories));
out:
    return local;
}

static dkm_local parse_all(dkm_ctx *ctx, char *at, dkm_table *t)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = (dkm_idx)strlen(at);
    char *line = next_line(&at);
    long long count = 0;
    int missing = 0;

    if (!line || sscanf(line, "%d %d %lld", &missing, &t->settings.standardize, &count) != 3 ||
        missing < DKM_MISSING_FAIL || missing > DKM_MISSING_MEDIAN || count < 1 || count > bytes)
        DKM_STEP(refuse(ctx));
    t->settings.missing = (dkm_missing)missing;
    DKM_STEP(dkm_calloc(ctx, (dkm_idx)count, &t->column));
    t->count = (dkm_idx)count;
    for (dkm_idx c = 0; c < t->count; c++)
        DKM_STEP(parse_column(ctx, &at, &t->column[c]));
    for (dkm_idx c = 1; c < t->count; c++)
        if (!t->column[c].name != !t->column[0].name)
            DKM_STEP(refuse(ctx));
out:
    return local;
}

dkm_local dkm_table_parse(dkm_ctx *ctx, const char *text, dkm_table **table)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_table *t = NULL;
    char *copy = NULL;

    *table = NULL;
    DKM_STEP(dkm_strdup(ctx, text, &copy));
    DKM_STEP(dkm_calloc(ctx, 1, &t));
    t->ctx = ctx;
    DKM_STEP(parse_all(ctx, copy, t));
    *table = t;
    t = NULL;
out:
    dkm_table_destroy(&t);
    DKM_FREE(copy);
    return local;
}
