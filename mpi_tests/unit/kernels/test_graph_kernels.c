/* Kernels on labelled graphs and on images, against their definitions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/arrays.h>
#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "reference/reference_gram.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 23, NEW = 7, MOST = 6 };

/* Adjacency by letters: ' ' for no edge, '-' for one without a label, else its label. */
typedef struct small_graph {
    int n;
    char label[MOST];
    char edge[MOST][MOST];
} small_graph;

static int draw(dkm_idx i, dkm_idx k, int below)
{
    return (int)dkm_random_below(11, (uint64_t)i, (uint64_t)k, below);
}

/* Graphs of 0 to 6 vertices; 1 is empty, 2 has no edges, 4 is 3 with its vertices in another order. */
static small_graph graph_of(dkm_idx i)
{
    dkm_idx seed = i == 4 ? 3 : i;
    small_graph g = {.n = i == 1 ? 0 : 3 + draw(seed, 0, MOST - 2)}, h;

    for (int u = 0; u < g.n; u++) {
        g.label[u] = "CCN"[draw(seed, 1 + u, 3)];
        for (int v = 0; v < u; v++)
            g.edge[u][v] = g.edge[v][u] = i == 2 ? ' ' : "  --="[draw(seed, 10 + 10 * u + v, 5)];
    }
    if (i != 4)
        return g;
    h = g;
    for (int u = 0; u < g.n; u++) {
        h.label[g.n - 1 - u] = g.label[u];
        for (int v = 0; v < g.n; v++)
            h.edge[g.n - 1 - u][g.n - 1 - v] = g.edge[u][v];
    }
    return h;
}

static dkm_idx graph_text(dkm_idx i, char *text, dkm_idx room)
{
    small_graph g = graph_of(i);
    dkm_idx used = 0;

    for (int u = 0; u < g.n; u++)
        used += snprintf(text + used, (size_t)(room - used), "%s%c", u ? " " : "", g.label[u]);
    used += snprintf(text + used, (size_t)(room - used), g.n ? " |" : "");
    for (int u = 0; u < g.n; u++)
        for (int v = u + 1; v < g.n; v++)
            if (g.edge[u][v] != ' ')
                used += snprintf(text + used, (size_t)(room - used), " %d-%d%s", u, v,
                                 g.edge[u][v] == '=' ? ":=" : "");
    return used;
}

static dkm_idx new_graph_text(dkm_idx i, char *text, dkm_idx room)
{
    return graph_text(i < 3 ? i : 50 + i, text, room);
}

static int same(const small_graph *g, int u, const small_graph *h, int v, int round);

/* Whether the neighbors of u and of v can be paired; being the same is an equivalence, so that the
 * first partner is as good as any. */
static int neighbors_pair(const small_graph *g, int u, const small_graph *h, int v, int round)
{
    int used[MOST] = {0}, left = 0;

    for (int b = 0; b < h->n; b++)
        left += b != v && h->edge[v][b] != ' ';
    for (int a = 0; a < g->n; a++) {
        int b = 0;
        if (a == u || g->edge[u][a] == ' ')
            continue;
        while (b < h->n &&
               (b == v || used[b] || h->edge[v][b] != g->edge[u][a] || !same(g, a, h, b, round)))
            b++;
        if (b == h->n)
            return 0;
        used[b] = 1;
        left--;
    }
    return left == 0;
}

static int same(const small_graph *g, int u, const small_graph *h, int v, int round)
{
    if (round == 0)
        return g->label[u] == h->label[v];
    return same(g, u, h, v, round - 1) && neighbors_pair(g, u, h, v, round - 1);
}

static int rounds;

/* Pairs of vertices that have the same label after 0, 1, ..., h rounds. */
static double common_subtrees(dkm_idx i, dkm_idx j)
{
    small_graph g = graph_of(i), h = graph_of(j);
    double pairs = 0;

    for (int round = 0; round <= rounds; round++)
        for (int u = 0; u < g.n; u++)
            for (int v = 0; v < h.n; v++)
                pairs += same(&g, u, &h, v, round);
    return pairs;
}

static double new_subtrees(dkm_idx i, dkm_idx j)
{
    return common_subtrees(i < 3 ? i : 50 + i, j);
}

static void graphs_agree_with_the_definition(dkm_ctx *ctx)
{
    static const struct {
        const char *text;
        int rounds;
    } all[] = {{"weisfeiler-lehman(h=0)", 0}, {"weisfeiler-lehman", 3}};
    dkm_data *X = objects_texts(ctx, DKM_GRAPHS, M, graph_text);
    dkm_data *Z = objects_texts(ctx, DKM_GRAPHS, NEW, new_graph_text);

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gram_case c = {all[k].text, X, common_subtrees, Z, new_subtrees, 0};
        rounds = all[k].rounds;
        check_gram(ctx, &c);
    }
    CHECK(common_subtrees(3, 3) == common_subtrees(3, 4) && common_subtrees(3, 3) > 0);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static void graphs_come_from_texts_in_one_form(dkm_ctx *ctx)
{
    static const char *const given[] = {"a  b\tc | 2-1 1-0 0-1",
                                        "x",
                                        "",
                                        "|",
                                        "p q | 1-0:=",
                                        "p q | 0-1 1-0 |x",
                                        "p q | 0-2",
                                        "p q | 0-0",
                                        "p q | 0-1:a 1-0:b",
                                        "p q | 0-1:",
                                        "p q | 0-99999999999999999999"};
    static const char *const wanted[] = {"a b c | 0-1 1-2", "x", "", "", "p q | 0-1:="};
    int last = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1;
    dkm_rows *rows = NULL;
    dkm_data *data = NULL;
    dkm_idx length;

    CHECK_OK(ctx, dkm_data_from_strings(ctx, DKM_GRAPHS, last ? 5 : 0, given, NULL, &data));
    CHECK_OK(ctx, dkm_rows_get(data, 0, 5, &rows));
    for (int i = 0; rows && i < 5; i++) {
        const char *got = dkm_rows_string(rows, i, &length);
        CHECK(length == (dkm_idx)strlen(wanted[i]) && memcmp(got, wanted[i], (size_t)length) == 0);
    }
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&data);
    for (size_t k = 5; k < sizeof given / sizeof *given; k++) {
        CHECK(dkm_data_from_strings(ctx, DKM_GRAPHS, last ? 1 : 0, given + k, NULL, &data) ==
              DKM_ERR_ARG);
        CHECK(!data && strstr(dkm_ctx_message(ctx), "graph 0 of this rank") != NULL);
    }
}

enum { HEIGHT = 5, WIDTH = 4, PIXELS = HEIGHT * WIDTH };

static double pixel(dkm_idx i, dkm_idx k)
{
    return i == 2 ? 0 : dkm_random_normal(12, 0, (uint64_t)i, (uint64_t)k);
}

static double new_pixel(dkm_idx i, dkm_idx k)
{
    return pixel(100 + i, k);
}

typedef struct patch_case {
    const char *text;
    int R, degree, power;
} patch_case;

static const patch_case *patches;

static double patch_value(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double sum = 0, weights = 0;
    int R = patches->R;

    for (int u = -R; u <= R; u++)
        for (int v = -R; v <= R; v++)
            weights += R + 1 - (abs(u) > abs(v) ? abs(u) : abs(v));
    for (int p = 0; p < PIXELS; p++) {
        double window = 0;
        for (int q = 0; q < PIXELS; q++) {
            int down = abs(p / WIDTH - q / WIDTH), right = abs(p % WIDTH - q % WIDTH);
            int off = down > right ? down : right;
            if (off <= R)
                window += (R + 1 - off) / weights * a(i, q) * b(j, q);
        }
        sum += pow(window, patches->degree);
    }
    return pow(sum, patches->power);
}

static double patch_among(dkm_idx i, dkm_idx j)
{
    return patch_value(pixel, i, pixel, j);
}

static double patch_others(dkm_idx i, dkm_idx j)
{
    return patch_value(new_pixel, i, pixel, j);
}

static void images_agree_with_the_definition(dkm_ctx *ctx)
{
    static const patch_case all[] = {
        {"local-patch(shape=5x4, width=3)", 1, 2, 1},
        {"local-patch(shape=5x4, width=9, degree=3, power=2)", 4, 3, 2},
        {"local-patch(shape=5x4, width=1, degree=1)", 0, 1, 1},
    };
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, PIXELS, pixel);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, NEW, PIXELS, new_pixel);
    dkm_prepared *P = NULL;
    dkm_kernel *k = NULL;

    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        gram_case g = {all[c].text, X, patch_among, Z, patch_others, 1e-13};
        patches = &all[c];
        check_gram(ctx, &g);
    }
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "local-patch(shape=4x4)", &k));
    CHECK(dkm_kernel_prepare(k, X, &P) == DKM_ERR_ARG && !P);
    CHECK(strstr(dkm_ctx_message(ctx), "4x4 have 16 pixels, and these rows have 20") != NULL);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "normalize(weisfeiler-lehman)",
                           objects_texts(ctx, DKM_GRAPHS, 7, graph_text));
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "local-patch(shape=5x4, width=3)",
                           objects_values(ctx, DKM_DENSE, 7, PIXELS, pixel));
}

static const check_case cases[] = {
    CASE(graphs_agree_with_the_definition),
    CASE(graphs_come_from_texts_in_one_form),
    CASE(images_agree_with_the_definition),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
