/* diffusion: the diffusion kernel K = exp(-tau L) on the vertices of one graph (Kondor and Lafferty
 * 2002, ICML, pp. 315-322; Smola and Kondor 2003, COLT, pp. 144-158,
 * doi:10.1007/978-3-540-45167-9_12), where L = I - S is its normalized Laplacian and S = D^-1/2 W
 * D^-1/2; a vertex without edges has a zero row in L, so S(i, i) = 1 there. The spectrum of S lies
 * in [-1, 1], and with T_k the Chebyshev polynomials
 *   exp(-tau (1 - x)) = c_0 + 2 sum of c_k T_k(x),     c_k = exp(-tau) I_k(tau),
 * whose terms are negligible after about 9 sqrt(tau) + 20 (I_k by Miller's backward recurrence).
 * Each rank applies them to the unit vectors of its own vertices, a block at a time: only sparse
 * products are needed.
 *
 * The vertices of the graph are all objects there are: as new objects they are known when the full
 * graph is given again, and have the rows of K that they had.
 *
 * Cost per rank: (9 sqrt(tau) + 20) 2 nnz m / ranks flops. The graph is replicated, which is little
 * compared with a rank's m^2 / ranks numbers of K; it is all that is sent. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/object_hash.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/precomputed/precomputed.h"

#define WIDTH 32 /* vectors at a time */

typedef struct heat {
    dkm_ctx *ctx;
    dkm_idx m, terms;
    dkm_objs W;   /* all of the graph */
    double *root; /* 1 / sqrt(degree), 0 for a vertex without edges */
    double *c;
    double *now, *next, *sum; /* m x WIDTH each */
} heat;

/* c_k = exp(-tau) I_k(tau) by Miller's recurrence downwards, made to add up to 1. */
static void bessel(double tau, dkm_idx terms, double *c)
{
    double above = 0, at = 1e-300, sum = 0;

    for (dkm_idx k = terms - 1; k >= 0; k--) {
        double below = above + 2.0 * (double)(k + 1) / tau * at;
        c[k] = below;
        above = at;
        at = below;
        if (at > 1e200) {
            for (dkm_idx j = k; j < terms; j++)
                c[j] *= 1e-250;
            above *= 1e-250;
            at *= 1e-250;
        }
    }
    for (dkm_idx k = terms - 1; k >= 0; k--)
        sum += k > 0 ? 2 * c[k] : c[k];
    for (dkm_idx k = 0; k < terms; k++)
        c[k] /= sum;
}

static uint64_t edge_bits(dkm_idx i, dkm_idx j, double weight)
{
    uint64_t bits;

    memcpy(&bits, &weight, sizeof bits);
    return dkm_hash_mix(dkm_hash_mix(dkm_hash_mix(0, (uint64_t)i), (uint64_t)j), bits);
}

static double diffusion_weight_of(const dkm_objs *W, dkm_idx i, dkm_idx j)
{
    double weight = 0;

    for (dkm_idx k = W->start[i]; k < W->start[i + 1]; k++)
        weight += W->col[k] == j ? W->val[k] : 0.0;
    return weight;
}

static dkm_local fail_directed(const heat *h)
{
    const dkm_objs *W = &h->W;

    for (dkm_idx i = 0; i < h->m; i++)
        for (dkm_idx k = W->start[i]; k < W->start[i + 1]; k++)
            if (diffusion_weight_of(W, W->col[k], i) != W->val[k])
                return dkm_fail(h->ctx, DKM_ERR_ARG,
                                "diffusion: vertex %lld has an edge to %lld that is not the same "
                                "in the other direction: the graph must be undirected",
                                (long long)i, (long long)W->col[k]);
    return dkm_fail(h->ctx, DKM_ERR_ARG, "diffusion: the graph must be undirected");
}

/* Edges add their bits in one direction and lose those in the other: none are left over. */
static dkm_local check_edges(const heat *h)
{
    const dkm_objs *W = &h->W;
    uint64_t left = 0;

    for (dkm_idx i = 0; i < h->m; i++)
        for (dkm_idx k = W->start[i]; k < W->start[i + 1]; k++) {
            left += edge_bits(i, W->col[k], W->val[k]) - edge_bits(W->col[k], i, W->val[k]);
            if (W->val[k] < 0)
                return dkm_fail(h->ctx, DKM_ERR_ARG,
                                "diffusion: the edge of vertices %lld and %lld weighs %g: none may "
                                "be negative",
                                (long long)i, (long long)W->col[k], W->val[k]);
        }
    return left == 0 ? DKM_LOCAL_OK : fail_directed(h);
}

static dkm_local open_heat(heat *h, double tau)
{
    dkm_local local = DKM_LOCAL_OK;

    h->terms = 40 + (dkm_idx)(10 * sqrt(tau));
    DKM_STEP(dkm_calloc(h->ctx, h->m, &h->root));
    DKM_STEP(dkm_alloc(h->ctx, h->terms, &h->c));
    DKM_STEP(dkm_alloc(h->ctx, h->m * WIDTH, &h->now));
    DKM_STEP(dkm_alloc(h->ctx, h->m * WIDTH, &h->next));
    DKM_STEP(dkm_alloc(h->ctx, h->m * WIDTH, &h->sum));
    DKM_STEP(check_edges(h));
    bessel(tau, h->terms, h->c);
    for (dkm_idx i = 0; i < h->m; i++) {
        double degree = 0;
        for (dkm_idx k = h->W.start[i]; k < h->W.start[i + 1]; k++)
            degree += h->W.val[k];
        h->root[i] = degree > 0 ? 1.0 / sqrt(degree) : 0.0;
    }
out:
    return local;
}

static void close_heat(heat *h)
{
    dkm_objs_clear(&h->W);
    DKM_FREE(h->root);
    DKM_FREE(h->c);
    DKM_FREE(h->now);
    DKM_FREE(h->next);
    DKM_FREE(h->sum);
}

/* out = scale S in - out */
static void recur(const heat *h, double scale, const double *restrict in, double *restrict out)
{
    for (dkm_idx i = 0; i < h->m; i++) {
        double row[WIDTH] = {0};
        for (dkm_idx k = h->W.start[i]; k < h->W.start[i + 1]; k++) {
            double s = h->root[i] * h->W.val[k] * h->root[h->W.col[k]];
            for (int v = 0; v < WIDTH; v++)
                row[v] += s * in[h->W.col[k] * WIDTH + v];
        }
        if (h->root[i] == 0)
            memcpy(row, in + i * WIDTH, sizeof row);
        for (int v = 0; v < WIDTH; v++)
            out[i * WIDTH + v] = scale * row[v] - out[i * WIDTH + v];
    }
}

static void diffusion_add(const heat *h, double c, const double *restrict term)
{
    for (dkm_idx k = 0; k < h->m * WIDTH; k++)
        h->sum[k] += c * term[k];
}

/* Rows of K of @p count vertices from @p first on. No entry is negative but for rounding. */
static void diffusion_make_rows(heat *h, dkm_idx first, dkm_idx count, double *rows)
{
    size_t bytes = (size_t)(h->m * WIDTH) * sizeof(double);

    memset(h->now, 0, bytes);
    memset(h->next, 0, bytes);
    memset(h->sum, 0, bytes);
    for (dkm_idx v = 0; v < count; v++)
        h->now[(first + v) * WIDTH + v] = 1.0;
    diffusion_add(h, h->c[0], h->now);
    for (dkm_idx k = 1; k < h->terms; k++) {
        double *swap = h->next;
        recur(h, k == 1 ? 1.0 : 2.0, h->now, h->next);
        h->next = h->now;
        h->now = swap;
        diffusion_add(h, 2 * h->c[k], h->now);
    }
    for (dkm_idx v = 0; v < count; v++)
        for (dkm_idx i = 0; i < h->m; i++)
            rows[v * h->m + i] = h->sum[i * WIDTH + v] > 0 ? h->sum[i * WIDTH + v] : 0.0;
}

static dkm_local diffusion_make_matrix(heat *h, double tau, const dkm_prepared *P, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = P->X->mine.n;

    DKM_STEP(open_heat(h, tau));
    DKM_STEP(dkm_objs_init(out, P->ctx, DKM_GRAM, n, h->m, 0));
    for (dkm_idx i = 0; i < n; i += WIDTH)
        diffusion_make_rows(h, P->X->first + i, n - i < WIDTH ? n - i : WIDTH,
                            out->values + i * h->m);
    DKM_STEP(dkm_precomputed_add_extras(P, out));
out:
    return local;
}

/* Whether this rank's vertices have the same edges. */
static int same_edges(const dkm_objs *a, const dkm_objs *b)
{
    size_t edges;

    if (a->n != b->n || a->d != b->d ||
        (a->n > 0 && memcmp(a->start, b->start, (size_t)(a->n + 1) * sizeof *a->start) != 0))
        return 0;
    edges = a->n > 0 ? (size_t)a->start[a->n] : 0;
    return edges == 0 || (memcmp(a->col, b->col, edges * sizeof *a->col) == 0 &&
                          memcmp(a->val, b->val, edges * sizeof *a->val) == 0);
}

static dkm_local copy_rows(const dkm_objs *from, dkm_objs *to)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_objs_init(to, from->ctx, DKM_GRAM, from->n, from->d, 0));
    DKM_STEP(dkm_objs_add_extra(to, from->extras));
    memcpy(to->values, from->values, (size_t)(from->n * from->d) * sizeof *to->values);
    memcpy(to->extra, from->extra, (size_t)(from->n * from->extras) * sizeof *to->extra);
out:
    return local;
}

/* The training graph once more: its vertices as they were. */
static dkm_status take_known(const dkm_node *node, dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    dkm_objs rows = {0};
    int same = P->X->m == P->training->X->m && same_edges(&P->X->mine, &P->training->X->mine);

    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(P->ctx));
    DKM_REQUIRE(P->ctx, same, DKM_ERR_UNSUPPORTED,
                "diffusion knows the vertices of its graph alone: new ones have no kernel values "
                "(dkmap extend finds some); give all of the graph for its own vertices");
    DKM_AGREE(P->ctx, copy_rows(&P->training->slot[node->slot].full->mine, &rows));
    DKM_TRY(dkm_feature_cache_fill(P, node->slot, &rows));
out:
    dkm_objs_clear(&rows);
    return status;
}

/* Bring all of the graph to every rank. */
static dkm_status fetch_graph(heat *h, const dkm_data *X)
{
    dkm_status status = DKM_OK;
    dkm_idx *all = NULL;

    DKM_AGREE(h->ctx, dkm_alloc(h->ctx, X->m, &all));
    for (dkm_idx i = 0; i < X->m; i++)
        all[i] = i;
    DKM_TRY(dkm_data_fetch(X, X->m, all, &h->W));
out:
    DKM_FREE(all);
    return status;
}

/* A vertex without edges keeps its heat: it is 1 to itself and 0 to all others. */
static void tell_isolated(const heat *h)
{
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < h->m; i++)
        count += h->root[i] == 0;
    if (count > 0)
        dkm_log(h->ctx, DKM_WARN, "diffusion: %lld %s of %lld %s no edges: like nothing but itself",
                (long long)count, count == 1 ? "vertex" : "vertices", (long long)h->m,
                count == 1 ? "has" : "have");
}

static dkm_status diffusion_train(const dkm_node *node, dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    heat h = {.ctx = P->ctx, .m = P->X->m};
    dkm_objs rows = {0};

    if (P->training)
        return take_known(node, P);
    DKM_AGREE(P->ctx, dkm_precomputed_check_square(P));
    DKM_TRY(fetch_graph(&h, P->X));
    DKM_AGREE(P->ctx, diffusion_make_matrix(&h, dkm_node_param(node, 0), P, &rows));
    tell_isolated(&h);
    DKM_TRY(dkm_feature_cache_fill(P, node->slot, &rows));
    DKM_TRY(dkm_feature_cache_keep_extras(P, node->slot));
out:
    close_heat(&h);
    dkm_objs_clear(&rows);
    return status;
}

const dkm_kernel_class dkm_kernel_class_diffusion = {
    .name = "diffusion",
    .types = DKM_TYPE_BIT(DKM_GRAPH),
    .params = DKM_PARAMS({.name = "tau", .range = DKM_POSITIVE, .default_value = 1}),
    .is_data_dependent = 1,
    .train = diffusion_train,
    .diag = dkm_precomputed_diag,
    .tile = dkm_precomputed_tile};
