#include "data/word_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

int dkm_word_order(const dkm_word *u, const dkm_word *v)
{
    dkm_idx common = u->length < v->length ? u->length : v->length;
    int order = common > 0 ? memcmp(u->at, v->at, (size_t)common) : 0;

    return order ? order : (u->length > v->length) - (u->length < v->length);
}

static int by_bytes(const void *a, const void *b)
{
    return dkm_word_order(a, b);
}

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

dkm_local dkm_words_split(dkm_ctx *ctx, const char *text, dkm_idx length, dkm_words *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx at = 0, from;

    w->count = 0;
    while (at < length) {
        for (from = at; at < length && !is_blank(text[at]);)
            at++;
        if (at > from) {
            if (w->count == w->capacity) {
                DKM_STEP(dkm_realloc(ctx, 2 * w->capacity + 16, &w->list));
                w->capacity = 2 * w->capacity + 16;
            }
            w->list[w->count++] = (dkm_word){text + from, at - from};
        }
        at++;
    }
out:
    return local;
}

dkm_local dkm_word_set_add(dkm_builder *g, const char *text, dkm_idx length, dkm_words *w)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_words_split(g->objs->ctx, text, length, w));
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
