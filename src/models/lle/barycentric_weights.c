/* Barycentric reconstruction weights (Roweis and Saul 2000, Science 290:2323-2326,
 * doi:10.1126/science.290.5500.2323; Saul and Roweis 2003, JMLR 4:119-155): w minimizes ||x - sum_a
 * w_a n_a||^2 subject to sum of w = 1 over the k nearest neighbors n_a. It solves G w = 1, scaled
 * to sum to one, with G(a, b) = (n_a - x)'(n_b - x) and a small ridge.
 *
 * Cost per point: the top-k search, k^2 d flops for G and k^3 / 3 for the solution. Local once the
 * neighbors have been fetched. */
#include "models/lle/barycentric_weights.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "kernels/evaluation/column_shift.h"
#include "models/common/embedding.h"
#include "search/topk.h"

#define EACH 1024 /* points a rank at a time */

static const dkm_data *points_of(const dkm_anchors *anchors)
{
    return anchors->shifted ? anchors->shifted : anchors->X;
}

dkm_status dkm_anchors_open(dkm_anchors *anchors, const dkm_data *X)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(X);
    const double *values;

    *anchors = (dkm_anchors){.X = X};
    DKM_TRY(dkm_shift_find(X, &anchors->shift));
    if (anchors->shift)
        DKM_TRY(dkm_shift_data(X, anchors->shift, &anchors->shifted));
    values = dkm_data_values_const(points_of(anchors));
    DKM_AGREE(dkm_data_ctx(X),
              dkm_calloc(dkm_data_ctx(X), dkm_data_local_rows(X), &anchors->norms));
    for (dkm_idx k = 0; k < dkm_data_local_rows(X) * d; k++)
        anchors->norms[k / d] += values[k] * values[k];
out:
    return status;
}

void dkm_anchors_close(dkm_anchors *anchors)
{
    DKM_FREE(anchors->norms);
    dkm_data_destroy(&anchors->shifted);
    DKM_FREE(anchors->shift);
}

/* Solve G w = 1 for a symmetric positive definite k x k matrix, in place of it; w becomes the
 * solution. The ridge keeps it positive. */
static void solve_ones(dkm_idx k, double *G, double *w)
{
    for (dkm_idx j = 0; j < k; j++) { /* G = L L' */
        for (dkm_idx l = 0; l < j; l++)
            for (dkm_idx i = j; i < k; i++)
                G[i + j * k] -= G[i + l * k] * G[j + l * k];
        double root = sqrt(fmax(G[j + j * k], 1e-300));
        for (dkm_idx i = j; i < k; i++)
            G[i + j * k] /= root;
    }
    for (dkm_idx i = 0; i < k; i++) {
        w[i] = 1.0;
        for (dkm_idx l = 0; l < i; l++)
            w[i] -= G[i + l * k] * w[l];
        w[i] /= G[i + i * k];
    }
    for (dkm_idx i = k - 1; i >= 0; i--) {
        for (dkm_idx l = i + 1; l < k; l++)
            w[i] -= G[l + i * k] * w[l];
        w[i] /= G[i + i * k];
    }
}

/* Weights of one point: G(a, b) = (n_a - x)'(n_b - x) with a ridge, G w = 1, w over its sum. */
static void barycentric_weights_weigh(dkm_idx k, dkm_idx d, const double *x, const double *near,
                                      double ridge, double *G, double *w)
{
    double trace = 0, sum = 0;

    for (dkm_idx a = 0; a < k; a++)
        for (dkm_idx b = 0; b <= a; b++) {
            double g = 0;
            for (dkm_idx j = 0; j < d; j++)
                g += (near[a * d + j] - x[j]) * (near[b * d + j] - x[j]);
            G[a + b * k] = G[b + a * k] = g;
            trace += a == b ? g : 0.0;
        }
    for (dkm_idx a = 0; a < k; a++)
        G[a + a * k] += trace > 0 ? ridge * trace : ridge;
    solve_ones(k, G, w);
    for (dkm_idx a = 0; a < k; a++)
        sum += w[a];
    for (dkm_idx a = 0; a < k; a++)
        w[a] /= sum;
}

typedef struct batch {
    dkm_ctx *ctx;
    dkm_idx k, top, n; /* neighbors, how many are looked for, points of this rank */
    dkm_idx *found, *indices;
    double *distance, *G;
    dkm_objs near;
} batch;

static dkm_local barycentric_weights_open_batch(batch *s)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(s->ctx, s->n * s->top, &s->found));
    DKM_STEP(dkm_alloc(s->ctx, s->n * s->top, &s->distance));
    DKM_STEP(dkm_alloc(s->ctx, s->n * s->k, &s->indices));
    DKM_STEP(dkm_alloc(s->ctx, s->k * s->k, &s->G));
out:
    return local;
}

static void barycentric_weights_close_batch(batch *s)
{
    DKM_FREE(s->found);
    DKM_FREE(s->distance);
    DKM_FREE(s->indices);
    DKM_FREE(s->G);
    dkm_objs_clear(&s->near);
}

/* The first k of those found that are not the point itself. */
static void leave_own(batch *s, dkm_idx first, int own)
{
    for (dkm_idx i = 0; i < s->n; i++) {
        dkm_idx n_kept = 0;
        for (dkm_idx c = 0; c < s->top && n_kept < s->k; c++)
            if (!own || s->found[i * s->top + c] != first + i)
                s->indices[i * s->k + n_kept++] = s->found[i * s->top + c];
    }
}

/* Some points, spread over the ranks; those of this rank begin at its own place @p first. */
static dkm_status weigh_batch(const dkm_anchors *anchors, const dkm_data *part, dkm_idx first,
                              int own, dkm_idx k, double ridge, double *pairs)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(part);
    batch s = {.ctx = dkm_data_ctx(part), .k = k, .top = k + !!own};
    dkm_candidates candidates = {(dkm_data *)(uintptr_t)points_of(anchors), anchors->norms};
    dkm_data *shifted = NULL;

    if (anchors->shift) {
        DKM_TRY(dkm_shift_data(part, anchors->shift, &shifted));
        part = shifted;
    }
    s.n = dkm_data_local_rows(part);
    DKM_AGREE(s.ctx, barycentric_weights_open_batch(&s));
    DKM_TRY(dkm_topk(part, &candidates, s.top, s.found, s.distance));
    leave_own(&s, first, own);
    DKM_TRY(dkm_data_fetch(points_of(anchors), s.n * k, s.indices, &s.near));
    for (dkm_idx i = 0; i < s.n; i++) {
        double *mine = pairs + i * 2 * k;
        barycentric_weights_weigh(k, d, dkm_data_values_const(part) + i * d,
                                  s.near.values + i * k * d, ridge, s.G, mine + k);
        for (dkm_idx a = 0; a < k; a++)
            mine[a] = (double)s.indices[i * k + a];
    }
out:
    barycentric_weights_close_batch(&s);
    dkm_data_destroy(&shifted);
    return status;
}

dkm_status dkm_barycentric_weights(const dkm_anchors *anchors, const dkm_data *Q, int own,
                                   dkm_idx k, double ridge, double *pairs)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Q);
    int size = dkm_ctx_size(ctx);
    dkm_idx longest = dkm_slab_count(dkm_data_rows(Q), 0, size), *indices = NULL;
    dkm_data *part = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, (EACH < longest ? EACH : longest) * size, &indices));
    for (dkm_idx first = 0; first < longest; first += EACH) {
        dkm_idx count = dkm_own_batches(Q, first, EACH, indices);
        DKM_TRY(dkm_data_select(Q, count, indices, &part));
        DKM_TRY(weigh_batch(anchors, part, dkm_data_local_first(Q) + first, own, k, ridge,
                            pairs + first * 2 * k));
        dkm_data_destroy(&part);
    }
out:
    dkm_data_destroy(&part);
    DKM_FREE(indices);
    return status;
}
