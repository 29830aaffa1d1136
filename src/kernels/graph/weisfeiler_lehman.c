/* weisfeiler-lehman: the Weisfeiler-Lehman subtree kernel (Shervashidze, Schweitzer, van Leeuwen,
 * Mehlhorn and Borgwardt 2011, JMLR 12:2539-2561). In each of h rounds the label of a vertex becomes
 * its label together with the multiset of the labels of its neighbors (with those of the edges,
 * where edges have labels); the kernel is the inner product of the counts of all labels of the
 * rounds 0, ..., h. Labels are 64-bit hashes, so that among n different ones the chance of a
 * collision is below n^2 / 2^65.
 *
 * Cost: h (|V| + |E| log of the largest degree) per graph, once; a kernel value is a sparse inner
 * product (sparse_dot.h), about (h + 1) (|V| + |V'|) operations. Counts travel instead of graphs:
 * two words per distinct label. Nothing is replicated. */
#include <stdlib.h>

#include "core/alloc.h"
#include "data/graph_text.h"
#include "kernels/evaluation/object_hash.h"
#include "kernels/string/kmer_counts.h"

enum { H };

/* A graph with its neighbors listed, in memory for the largest. */
typedef struct refinement {
    dkm_graph graph;
    dkm_idx vertices, ends; /* that there is memory for */
    dkm_idx *start;         /* of the neighbors of each vertex */
    dkm_idx *neighbor;
    uint64_t *edge;         /* hash of the label of the edge to each neighbor */
    uint64_t *label, *next; /* of each vertex */
    uint64_t *around;       /* of the neighbors of one vertex */
} refinement;

static void refinement_free(refinement *r)
{
    dkm_graph_clear(&r->graph);
    DKM_FREE(r->start);
    DKM_FREE(r->neighbor);
    DKM_FREE(r->edge);
    DKM_FREE(r->label);
    DKM_FREE(r->next);
    DKM_FREE(r->around);
}

static dkm_local reserve(dkm_ctx *ctx, refinement *r)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = r->graph.vertices, ends = 2 * r->graph.edges;

    if (n + 1 > r->vertices) {
        DKM_STEP(dkm_realloc(ctx, n + 1, &r->start));
        DKM_STEP(dkm_realloc(ctx, n + 1, &r->label));
        DKM_STEP(dkm_realloc(ctx, n + 1, &r->next));
        r->vertices = n + 1;
    }
    if (ends > r->ends) {
        DKM_STEP(dkm_realloc(ctx, ends, &r->neighbor));
        DKM_STEP(dkm_realloc(ctx, ends, &r->edge));
        DKM_STEP(dkm_realloc(ctx, ends, &r->around));
        r->ends = ends;
    }
out:
    return local;
}

static void put_neighbor(refinement *r, dkm_idx *next, dkm_idx of, dkm_idx neighbor, uint64_t label)
{
    r->neighbor[next[of]] = neighbor;
    r->edge[next[of]++] = label;
}

/* List the neighbors of each vertex, and take the labels of round 0. */
static void list_neighbors(refinement *r)
{
    const dkm_graph *g = &r->graph;
    dkm_idx *next = r->start, n = g->vertices, sum = 0;

    for (dkm_idx i = 0; i <= n; i++)
        next[i] = 0;
    for (dkm_idx k = 0; k < g->edges; k++) {
        next[g->edge[k].from]++;
        next[g->edge[k].to]++;
    }
    for (dkm_idx i = 0, count; i <= n; i++, sum += count) {
        count = next[i];
        next[i] = sum;
    }
    for (dkm_idx k = 0; k < g->edges; k++) {
        const dkm_graph_edge *e = &g->edge[k];
        uint64_t label = e->label.length > 0 ? dkm_hash_bytes(e->label.at, e->label.length) : 0;
        put_neighbor(r, next, e->from, e->to, label);
        put_neighbor(r, next, e->to, e->from, label);
    }
    for (dkm_idx i = n; i > 0; i--) /* each is now where the next one starts */
        next[i] = next[i - 1];
    next[0] = 0;
    for (dkm_idx i = 0; i < n; i++)
        r->label[i] = dkm_hash_bytes(g->words.list[i].at, g->words.list[i].length);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* label(v) <- hash of label(v) and of the sorted labels of v's neighbors. */
static void refine(refinement *r)
{
    uint64_t *swap = r->label;

    for (dkm_idx i = 0; i < r->graph.vertices; i++) {
        dkm_idx first = r->start[i], degree = r->start[i + 1] - first;
        uint64_t h = dkm_hash_mix(r->label[i], (uint64_t)degree);
        for (dkm_idx k = 0; k < degree; k++)
            r->around[k] = dkm_hash_mix(r->label[r->neighbor[first + k]], r->edge[first + k]);
        if (degree > 1)
            qsort(r->around, (size_t)degree, sizeof *r->around, ascending);
        for (dkm_idx k = 0; k < degree; k++)
            h = dkm_hash_mix(h, r->around[k]);
        r->next[i] = h;
    }
    r->label = r->next;
    r->next = swap;
}

static dkm_local parse_graph(const dkm_objs *X, dkm_idx i, refinement *r)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(
        dkm_graph_parse(X->ctx, X->bytes + X->start[i], X->start[i + 1] - X->start[i], &r->graph));
    if (r->graph.wrong[0])
        local = dkm_fail(X->ctx, DKM_ERR_FORMAT, "a graph is damaged: %s", r->graph.wrong);
out:
    return local;
}

/* A vertex takes a byte, and a blank but for the last. */
static dkm_idx most_vertices(const dkm_objs *X)
{
    dkm_idx most = 0;

    for (dkm_idx i = 0; i < X->n; i++)
        most = X->start[i + 1] - X->start[i] > most ? X->start[i + 1] - X->start[i] : most;
    return most / 2 + 1;
}

static dkm_local weisfeiler_lehman_precompute(const dkm_node *node, const dkm_objs *X,
                                              dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx h = (dkm_idx)dkm_node_param(node, H);
    refinement r = {0};
    dkm_counts c = {0};

    DKM_STEP(dkm_counts_open(&c, X->ctx, X->n, (h + 1) * most_vertices(X), out));
    for (dkm_idx i = 0; i < X->n; i++) {
        dkm_idx count = 0;
        DKM_STEP(parse_graph(X, i, &r));
        DKM_STEP(reserve(X->ctx, &r));
        list_neighbors(&r);
        for (dkm_idx round = 0; round <= h; round++) {
            if (round > 0)
                refine(&r);
            for (dkm_idx v = 0; v < r.graph.vertices;
                 v++) /* labels of two rounds are never equal */
                c.code[count++] = dkm_hash_mix(r.label[v], (uint64_t)round);
        }
        DKM_STEP(dkm_counts_add(&c, count));
    }
out:
    dkm_counts_close(&c);
    refinement_free(&r);
    return local;
}

const dkm_kernel_class dkm_kernel_class_weisfeiler_lehman = {
    .name = "weisfeiler-lehman",
    .types = DKM_TYPE_BIT(DKM_GRAPHS),
    .params = DKM_PARAMS({.name = "h", .range = DKM_COUNT_OR_ZERO, .default_value = 3}),
    .precompute_params = 1,
    .precompute = weisfeiler_lehman_precompute,
    .diag = dkm_panel_diag_from_extra,
    .tile = dkm_counts_tile};
