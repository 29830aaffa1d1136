/* The top nearest candidates of many points by blocked matrix products: exact brute-force search
 * with a single-precision prefilter (prefilter.h), as in dense k-nearest-neighbor search by gemm,
 * but with a proven bound on the rounding errors, so the answer is that of double precision for any
 * number of ranks.
 *
 * Every rank holds all points of a batch and scans its own candidates; lists of the best are
 * merged rank by rank. Cost per rank: 2 n c p / ranks flops in single precision for n points, c
 * candidates and p coordinates, and 2 p for each pair that is scored again in double. Sent: n p
 * words to all ranks, and 2 n top words per rank. Replicated: the points. */
#include "search/topk.h"

#include <math.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "core/minmax.h"
#include "data/objects.h"
#include "search/prefilter.h"

#define LANES    8
#define FEW      16    /* more than one in so many is too many to be worked out one by one */
#define ROUNDING 1e-12 /* of the largest norm: what rounding may make of equal ones */
#define DISTRUST 8     /* blocks that are filtered in double after one where single did not help */

struct dkm_topk_search {
    dkm_ctx *ctx;
    dkm_idx top;             /* how many to keep */
    dkm_query_points points; /* all of them */
    dkm_prefilter screen;
    dkm_norm_range range;
    double *norms;    /* of one block: less the least, and 0 where rounding alone is left */
    double *distance; /* points x top: the best of this rank's candidates, ascending, less q.q */
    dkm_idx *index;
    int *found;       /* of one block */
    dkm_idx distrust; /* blocks for which single precision is not tried */
    dkm_idx one_by_one, by_product;
    int *counts, *starts;
};

void dkm_candidates_clear(dkm_candidates *candidates)
{
    dkm_data_destroy(&candidates->Z);
    DKM_FREE(candidates->norms);
}

dkm_local dkm_candidates_match(dkm_ctx *ctx, dkm_type type, dkm_idx cols, dkm_type wanted,
                               dkm_idx wanted_cols)
{
    if (type != wanted)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "candidates are %s, and the model's objects are %s: give such ones, or say "
                        "what type they are",
                        dkm_type_name(type), dkm_type_name(wanted));
    if ((type == DKM_DENSE || type == DKM_GRAM || type == DKM_DISTANCE) && cols != wanted_cols)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "candidates have %lld columns, and the model's objects have %lld",
                        (long long)cols, (long long)wanted_cols);
    return DKM_LOCAL_OK;
}

static dkm_local topk_reserve(dkm_topk_search *s)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(s->ctx);
    dkm_idx n = s->points.n;

    DKM_STEP(dkm_alloc(s->ctx, n * s->points.p, &s->points.values));
    DKM_STEP(dkm_prefilter_open(&s->screen, s->ctx, s->points.p, s->top));
    DKM_STEP(dkm_alloc(s->ctx, n * s->top, &s->distance));
    DKM_STEP(dkm_alloc(s->ctx, n * s->top, &s->index));
    DKM_STEP(dkm_alloc(s->ctx, DKM_PREFILTER_BLOCK, &s->found));
    DKM_STEP(dkm_alloc(s->ctx, DKM_PREFILTER_BLOCK, &s->norms));
    DKM_STEP(dkm_alloc(s->ctx, size, &s->counts));
    DKM_STEP(dkm_alloc(s->ctx, size, &s->starts));
    for (dkm_idx k = 0; k < n * s->top; k++) {
        s->distance[k] = INFINITY;
        s->index[k] = INT64_MAX;
    }
out:
    return local;
}

void dkm_topk_search_close(dkm_topk_search **search)
{
    dkm_topk_search *s = *search;

    if (!s)
        return;
    dkm_query_points_close(&s->points);
    dkm_prefilter_close(&s->screen);
    DKM_FREE(s->distance);
    DKM_FREE(s->index);
    DKM_FREE(s->found);
    DKM_FREE(s->norms);
    DKM_FREE(s->counts);
    DKM_FREE(s->starts);
    DKM_FREE(*search);
}

/* Counts and starts of every rank's slab of n rows, each of @p width items. */
static void plan_slabs(dkm_topk_search *s, dkm_idx width)
{
    int size = dkm_ctx_size(s->ctx);

    for (int r = 0; r < size; r++) {
        s->counts[r] = (int)(dkm_slab_count(s->points.n, r, size) * width);
        s->starts[r] = (int)(dkm_slab_first(s->points.n, r, size) * width);
    }
}

static void gather_points(dkm_topk_search *s, const dkm_data *Q)
{
    plan_slabs(s, s->points.p);
    MPI_Allgatherv(dkm_data_values_const(Q), (int)(dkm_data_local_rows(Q) * s->points.p),
                   MPI_DOUBLE, s->points.values, s->counts, s->starts, MPI_DOUBLE,
                   dkm_ctx_comm(s->ctx));
}

dkm_norm_range dkm_norm_range_empty(void)
{
    return (dkm_norm_range){.least = INFINITY, .largest = 0};
}

void dkm_norm_range_add(dkm_norm_range *range, dkm_idx n, const double *norms)
{
    for (dkm_idx c = 0; c < n; c++) {
        range->least = fmin(range->least, norms[c]);
        range->largest = fmax(range->largest, fabs(norms[c]));
    }
}

void dkm_norm_range_combine(dkm_ctx *ctx, dkm_norm_range *range)
{
    double ends[2] = {range->least, -range->largest};

    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(ctx));
    *range = (dkm_norm_range){.least = ends[0], .largest = -ends[1]};
}

dkm_status dkm_topk_search_open(const dkm_data *Q, dkm_idx top, dkm_norm_range range,
                                dkm_topk_search **search)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Q);
    dkm_topk_search *s = NULL;

    *search = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->top = top;
    s->range = range;
    s->points = (dkm_query_points){.n = dkm_data_rows(Q), .p = dkm_data_cols(Q)};
    DKM_AGREE(ctx, dkm_checked_int(ctx, s->points.n * (s->points.p > top ? s->points.p : top),
                                   "the numbers of the points to look for", &(int){0}));
    DKM_AGREE(ctx, topk_reserve(s));
    gather_points(s, Q);
    DKM_AGREE(ctx, dkm_query_points_open(&s->points, ctx));
    *search = s;
    s = NULL;
out:
    dkm_topk_search_close(&s);
    return status;
}

void dkm_topk_search_stats(const dkm_topk_search *s, dkm_idx *one_by_one, dkm_idx *by_product)
{
    *one_by_one = s->one_by_one;
    *by_product = s->by_product;
}

/* Put a candidate into an ascending list of @p top, if it belongs there. */
static void topk_insert(double *distance, dkm_idx *index, dkm_idx top, double d, dkm_idx c)
{
    dkm_idx k = top - 1;

    if (!(d < distance[k] || (d == distance[k] && c < index[k])))
        return;
    for (; k > 0 && (d < distance[k - 1] || (d == distance[k - 1] && c < index[k - 1])); k--) {
        distance[k] = distance[k - 1];
        index[k] = index[k - 1];
    }
    distance[k] = d;
    index[k] = c;
}

/* x.y, always added up in the same order. */
static double product(dkm_idx p, const double *x, const double *y)
{
    double lane[LANES] = {0}, sum = 0;
    dkm_idx j = 0;

    for (; j + LANES <= p; j += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[j + k] * y[j + k];
    for (; j < p; j++)
        sum += x[j] * y[j];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

/* Candidates of this rank that are in cache together. */
typedef struct block {
    dkm_idx first, n; /* index of the first, and how many */
    const double *Z, *norms;
} block;

/* Work out distances of point @p q to those candidates that may belong to its list; returns how
 * many. They come in ascending order: one at the distance of the last stays behind it. */
static dkm_idx look_closely(dkm_topk_search *s, const block *b, dkm_idx q, dkm_idx at)
{
    dkm_idx p = s->points.p, top = s->top;
    double *distance = s->distance + q * top;
    dkm_idx count =
        dkm_prefilter_find(&s->screen, at, s->points.lengths[q], distance[top - 1], top, s->found);

    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx c = s->found[k];
        double xy = product(p, s->points.values + q * p, b->Z + c * p);
        topk_insert(distance, s->index + q * top, top, b->norms[c] - 2.0 * xy, b->first + c);
    }
    s->one_by_one += count;
    return count;
}

/* Points [first, last); ends early, and returns where, when single precision leaves too many. */
static dkm_idx search_tile(dkm_topk_search *s, const block *b, dkm_idx first, dkm_idx last)
{
    dkm_idx most = (last - first) * (b->n / FEW + 2 * s->top), count = 0, q = first;

    dkm_prefilter_values(&s->screen, &s->points, first, last - first);
    if (s->screen.precision == DKM_F64)
        s->by_product += (last - first) * b->n;
    for (; q < last && (count <= most || s->screen.precision == DKM_F64); q++)
        count += look_closely(s, b, q, q - first);
    return q;
}

static void use_double(dkm_topk_search *s, const block *b)
{
    dkm_prefilter_load_block(&s->screen, DKM_F64, &s->points, b->n, b->Z, b->norms);
}

static void search_block(dkm_topk_search *s, const block *b)
{
    int single = s->distrust == 0 &&
                 dkm_prefilter_load_block(&s->screen, DKM_F32, &s->points, b->n, b->Z, b->norms);

    if (!single)
        use_double(s, b);
    s->distrust -= s->distrust > 0;
    for (dkm_idx q = 0; q < s->points.n;) {
        dkm_idx last = dkm_idx_min(s->points.n, q + DKM_PREFILTER_POINTS),
                end = search_tile(s, b, q, last);
        if (end < last) {
            use_double(s, b);
            s->distrust = DISTRUST;
        }
        q = end;
    }
}

static void level_norms(dkm_topk_search *s, dkm_idx n, const double *norms)
{
    for (dkm_idx c = 0; c < n; c++) {
        double above = norms[c] - s->range.least;
        s->norms[c] = above <= ROUNDING * s->range.largest ? 0.0 : above;
    }
}

void dkm_topk_search_scan(dkm_topk_search *s, dkm_idx first, dkm_idx n, const double *Z,
                          const double *norms)
{
    for (dkm_idx c = 0; c < n; c += DKM_PREFILTER_BLOCK) {
        block b = {.first = first + c,
                   .n = dkm_idx_min(n - c, DKM_PREFILTER_BLOCK),
                   .Z = Z + c * s->points.p,
                   .norms = s->norms};
        level_norms(s, b.n, norms + c);
        search_block(s, &b);
    }
    dkm_phase_flops(s->ctx, 2.0 * (double)s->points.n * (double)n * (double)s->points.p);
}

/* Merge the lists that other ranks hold for this rank's points, one rank after the other. */
static void topk_merge(dkm_topk_search *s, dkm_idx *index, double *distance, dkm_idx *their_index,
                       double *their_distance)
{
    int rank = dkm_ctx_rank(s->ctx), size = dkm_ctx_size(s->ctx);
    dkm_idx total = s->counts[rank], top = s->top;
    MPI_Comm comm = dkm_ctx_comm(s->ctx);

    memcpy(index, s->index + s->starts[rank], (size_t)total * sizeof *index);
    memcpy(distance, s->distance + s->starts[rank], (size_t)total * sizeof *distance);
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        MPI_Sendrecv(s->index + s->starts[to], s->counts[to], MPI_INT64_T, to, 0, their_index,
                     (int)total, MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(s->distance + s->starts[to], s->counts[to], MPI_DOUBLE, to, 1, their_distance,
                     (int)total, MPI_DOUBLE, from, 1, comm, MPI_STATUS_IGNORE);
        for (dkm_idx k = 0; k < total; k++)
            topk_insert(distance + k / top * top, index + k / top * top, top, their_distance[k],
                        their_index[k]);
    }
}

dkm_status dkm_topk_search_finish(dkm_topk_search *s, dkm_idx *index, double *distance)
{
    dkm_status status = DKM_OK;
    dkm_idx p = s->points.p, total, first, *their_index = NULL;
    double *their_distance = NULL;

    plan_slabs(s, s->top);
    total = s->counts[dkm_ctx_rank(s->ctx)];
    first = s->starts[dkm_ctx_rank(s->ctx)] / s->top;
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, total, &their_index));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, total, &their_distance));
    topk_merge(s, index, distance, their_index, their_distance);
    for (dkm_idx k = 0; k < total; k++) {
        const double *q = s->points.values + (first + k / s->top) * p;
        distance[k] = fmax(0.0, distance[k] + s->range.least + product(p, q, q));
    }
out:
    DKM_FREE(their_index);
    DKM_FREE(their_distance);
    return status;
}

dkm_status dkm_topk(const dkm_data *Q, const dkm_candidates *candidates, dkm_idx top,
                    dkm_idx *index, double *distance)
{
    const dkm_data *Z = candidates->Z;
    dkm_ctx *ctx = dkm_data_ctx(Q);
    dkm_idx n = dkm_data_local_rows(Z);
    dkm_status status = DKM_OK;
    dkm_norm_range range = dkm_norm_range_empty();
    dkm_topk_search *s = NULL;

    dkm_phase_begin(ctx, "nearest");
    dkm_norm_range_add(&range, n, candidates->norms);
    dkm_norm_range_combine(ctx, &range);
    DKM_TRY(dkm_topk_search_open(Q, top, range, &s));
    dkm_topk_search_scan(s, dkm_data_local_first(Z), n, dkm_data_values_const(Z),
                         candidates->norms);
    DKM_TRY(dkm_topk_search_finish(s, index, distance));
out:
    dkm_topk_search_close(&s);
    dkm_phase_end(ctx);
    return status;
}

dkm_status dkm_topk_objects(const dkm_data *Q, const dkm_candidates *candidates,
                            const dkm_data *objects, const dkm_idx *which, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Q);
    dkm_idx n = dkm_data_local_rows(Q), *index = NULL;
    double *distance = NULL;
    dkm_objs got = {0};

    *Y = NULL;
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &distance));
    DKM_TRY(dkm_topk(Q, candidates, 1, index, distance));
    for (dkm_idx i = 0; which && i < n; i++)
        index[i] = which[index[i]];
    DKM_TRY(dkm_data_fetch(objects, n, index, &got));
    DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(Q), &got, Y));
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

dkm_status dkm_candidates_list(dkm_ctx *ctx, dkm_idx n, dkm_idx top, const dkm_idx *index,
                               const double *distance, dkm_data **Y)
{
    dkm_status status = dkm_data_create_dense(ctx, n, 2 * top, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y) * top; k++) {
        dkm_data_values(*Y)[2 * k] = (double)index[k];
        dkm_data_values(*Y)[2 * k + 1] = distance[k] > 0.0 ? distance[k] : 0.0;
    }
    return status;
}
