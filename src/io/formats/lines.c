/* Text files, one object per line: a string of any bytes, or a set of words. Sets are brought to
 * one form, so that equal sets are equal strings: words sorted by their bytes, each once, one blank
 * between two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/builder.h"
#include "io/text/textfile.h"

typedef struct word {
    const char *at;
    dkm_idx length;
} word;

/* Room for the words of the longest line seen. */
typedef struct words {
    dkm_idx room, count;
    word *list;
} words;

static int by_bytes(const void *a, const void *b)
{
    const word *u = a, *v = b;
    dkm_idx common = u->length < v->length ? u->length : v->length;
    int order = memcmp(u->at, v->at, (size_t)common);

    return order ? order : (u->length > v->length) - (u->length < v->length);
}

static int lines_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static dkm_local lines_split(dkm_ctx *ctx, const char *line, dkm_idx length, words *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx at = 0, from;

    w->count = 0;
    while (at < length) {
        for (from = at; at < length && !lines_is_blank(line[at]);)
            at++;
        if (at > from) {
            if (w->count == w->room) {
                DKM_STEP(dkm_realloc(ctx, 2 * w->room + 16, &w->list));
                w->room = 2 * w->room + 16;
            }
            w->list[w->count++] = (word){line + from, at - from};
        }
        at++;
    }
out:
    return local;
}

static dkm_local grow_set(dkm_builder *g, const char *line, dkm_idx length, words *w)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(lines_split(g->objs->ctx, line, length, w));
    if (w->count > 1)
        qsort(w->list, (size_t)w->count, sizeof *w->list, by_bytes);
    for (dkm_idx k = 0; k < w->count; k++) {
        if (k > 0 && by_bytes(&w->list[k - 1], &w->list[k]) == 0)
            continue;
        if (k > 0)
            DKM_STEP(dkm_builder_bytes(g, " ", 1));
        DKM_STEP(dkm_builder_bytes(g, w->list[k].at, w->list[k].length));
    }
out:
    return local;
}

static dkm_local settle_type(dkm_file *file, dkm_type usual)
{
    if (file->type == DKM_TYPE_COUNT)
        file->type = usual;
    if (file->type == DKM_STRINGS || file->type == DKM_SETS)
        return DKM_LOCAL_OK;
    return dkm_fail(file->ctx, DKM_ERR_ARG, "%s: lines of text are strings or sets, not %s",
                    file->path, dkm_type_name(file->type));
}

static dkm_status open_as(dkm_file *file, dkm_type usual)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(file->ctx, settle_type(file, usual));
    DKM_TRY(dkm_textfile_open(file, DKM_RECORDS_LINES));
    snprintf(file->about, sizeof file->about, "text, one %s a line",
             file->type == DKM_SETS ? "set of words" : "string");
out:
    return status;
}

static dkm_status open_lines(dkm_file *file)
{
    return open_as(file, DKM_STRINGS);
}

static dkm_status open_sets(dkm_file *file)
{
    return open_as(file, DKM_SETS);
}

static dkm_local read_lines(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                            dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_textfile *t = file->state;
    dkm_idx length;
    words w = {0};
    dkm_builder g;
    char *line;

    (void)c0;
    (void)c1;
    DKM_STEP(dkm_builder_begin(&g, objs, file->ctx, file->type, count, 0));
    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(dkm_textfile_seek(t, file, first + i * step));
        DKM_STEP(dkm_text_next(&t->text, &line, &length));
        if (file->type == DKM_SETS)
            DKM_STEP(grow_set(&g, line, length, &w));
        else
            DKM_STEP(dkm_builder_bytes(&g, line, length));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    DKM_FREE(w.list);
    if (local.code != DKM_OK)
        dkm_textfile_lose(t);
    return local;
}

const dkm_format dkm_format_lines = {
    .name = "text lines",
    .endings = ".txt .txt.gz",
    .is_text = 1,
    .open = open_lines,
    .read = read_lines,
    .close = dkm_textfile_close,
};

const dkm_format dkm_format_sets = {
    .name = "sets",
    .endings = ".sets .sets.gz",
    .is_text = 1,
    .open = open_sets,
    .read = read_lines,
    .close = dkm_textfile_close,
};
