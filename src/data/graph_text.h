/** @file graph_text.h  Small labelled graphs as text, one form for each, so that they move and are
 *  saved like strings.
 *
 *      C C O | 0-1 1-2:double
 *
 *  A word per vertex, its label; `|`; the edges as pairs of vertices, counted from 0, each with a
 *  label if there is one. The stored form has one blank between two words, and edges i-j with i < j
 *  in ascending order, each once. Graphs are undirected and have no loops.
 */
#ifndef DKMAP_DATA_GRAPH_TEXT_H
#define DKMAP_DATA_GRAPH_TEXT_H

#include "data/builder.h"
#include "data/word_set.h"

typedef struct dkm_graph_edge {
    dkm_idx from, to; /**< from < to */
    dkm_word label;   /**< of length 0: none */
} dkm_graph_edge;

/** A graph taken apart; memory for the largest seen. Zeroed at first; dkm_graph_clear() frees. */
typedef struct dkm_graph {
    dkm_words words;
    dkm_idx vertices; /**< their labels are the first of the words */
    dkm_idx edges, capacity;
    dkm_graph_edge *edge;
    char wrong[128]; /**< what the text is wrong about; empty: nothing */
} dkm_graph;

/** Take the text of a graph apart, which it then points into. Local.
 *  @return ok, also where `wrong` says that it is no graph; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_graph_parse(dkm_ctx *ctx, const char *text, dkm_idx length,
                                        dkm_graph *graph);

/** Add a graph in its one form to the object being made. Local; as dkm_graph_parse(). */
DKM_NODISCARD dkm_local dkm_graph_add(dkm_builder *g, const char *text, dkm_idx length,
                                      dkm_graph *graph);

void dkm_graph_clear(dkm_graph *graph);

#endif
