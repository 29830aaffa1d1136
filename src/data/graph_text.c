#include "data/graph_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"

#define SHOWN 40 /* characters of a wrong word */

static int is_bar(const dkm_word *word)
{
    return word->length == 1 && word->at[0] == '|';
}

/* An integer below @p limit at the front of a word, which is shortened by it; -1: there is
 * none. */
static dkm_idx take_number(dkm_word *word, dkm_idx limit)
{
    dkm_idx number = 0, k = 0;

    for (; k < word->length && word->at[k] >= '0' && word->at[k] <= '9'; k++)
        if ((number = 10 * number + (word->at[k] - '0')) >= limit)
            return -1;
    *word = (dkm_word){word->at + k, word->length - k};
    return k > 0 ? number : -1;
}

static int take_character(dkm_word *word, char c)
{
    if (word->length == 0 || word->at[0] != c)
        return 0;
    *word = (dkm_word){word->at + 1, word->length - 1};
    return 1;
}

/* Whether a word is i-j or i-j:label. */
static int read_edge(dkm_word word, dkm_idx vertices, dkm_graph_edge *edge)
{
    dkm_idx i = take_number(&word, vertices), j;

    if (i < 0 || !take_character(&word, '-') || (j = take_number(&word, vertices)) < 0 || i == j)
        return 0;
    *edge = (dkm_graph_edge){.from = i < j ? i : j, .to = i < j ? j : i};
    if (word.length == 0)
        return 1;
    edge->label = (dkm_word){word.at + 1, word.length - 1};
    return word.at[0] == ':' && word.length > 1;
}

static int by_ends(const void *a, const void *b)
{
    const dkm_graph_edge *u = a, *v = b;

    if (u->from != v->from)
        return u->from < v->from ? -1 : 1;
    return (u->to > v->to) - (u->to < v->to);
}

/* Edges in order, each once; the two directions of an edge are one. */
static void sort_edges(dkm_graph *g)
{
    dkm_idx distinct = 0;

    if (g->edges > 1)
        qsort(g->edge, (size_t)g->edges, sizeof *g->edge, by_ends);
    for (dkm_idx k = 0; k < g->edges; k++) {
        const dkm_graph_edge *e = &g->edge[k];
        if (distinct == 0 || by_ends(&g->edge[distinct - 1], e) != 0)
            g->edge[distinct++] = *e;
        else if (dkm_word_order(&g->edge[distinct - 1].label, &e->label) != 0)
            snprintf(g->wrong, sizeof g->wrong, "the edge %lld-%lld has two labels",
                     (long long)e->from, (long long)e->to);
    }
    g->edges = distinct;
}

dkm_local dkm_graph_parse(dkm_ctx *ctx, const char *text, dkm_idx length, dkm_graph *g)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_word *word;

    g->vertices = g->edges = 0;
    g->wrong[0] = '\0';
    DKM_STEP(dkm_words_split(ctx, text, length, &g->words));
    word = g->words.list;
    while (g->vertices < g->words.count && !is_bar(&word[g->vertices]))
        g->vertices++;
    if (g->words.count > g->capacity) {
        DKM_STEP(dkm_realloc(ctx, g->words.count, &g->edge));
        g->capacity = g->words.count;
    }
    for (dkm_idx k = g->vertices + 1; k < g->words.count; k++, g->edges++)
        if (!read_edge(word[k], g->vertices, &g->edge[g->edges])) {
            snprintf(g->wrong, sizeof g->wrong,
                     "'%.*s' is no edge i-j or i-j:label between two of the %lld vertices",
                     (int)(word[k].length < SHOWN ? word[k].length : SHOWN), word[k].at,
                     (long long)g->vertices);
            break;
        }
    sort_edges(g);
out:
    return local;
}

static dkm_local add_edge(dkm_builder *b, const dkm_graph_edge *e)
{
    dkm_local local = DKM_LOCAL_OK;
    char text[64];
    int used = snprintf(text, sizeof text, " %lld-%lld%s", (long long)e->from, (long long)e->to,
                        e->label.length > 0 ? ":" : "");

    DKM_STEP(dkm_builder_bytes(b, text, used));
    if (e->label.length > 0)
        DKM_STEP(dkm_builder_bytes(b, e->label.at, e->label.length));
out:
    return local;
}

dkm_local dkm_graph_add(dkm_builder *b, const char *text, dkm_idx length, dkm_graph *g)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_graph_parse(b->objs->ctx, text, length, g));
    if (g->wrong[0])
        goto out;
    for (dkm_idx k = 0; k < g->vertices; k++) {
        if (k > 0)
            DKM_STEP(dkm_builder_bytes(b, " ", 1));
        DKM_STEP(dkm_builder_bytes(b, g->words.list[k].at, g->words.list[k].length));
    }
    if (g->edges > 0)
        DKM_STEP(dkm_builder_bytes(b, g->vertices > 0 ? " |" : "|", g->vertices > 0 ? 2 : 1));
    for (dkm_idx k = 0; k < g->edges; k++)
        DKM_STEP(add_edge(b, &g->edge[k]));
out:
    return local;
}

void dkm_graph_clear(dkm_graph *g)
{
    DKM_FREE(g->words.list);
    DKM_FREE(g->edge);
    *g = (dkm_graph){0};
}
