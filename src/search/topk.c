/* The top nearest candidates of many points by blocked matrix products: exact brute-force search
 * with a single-precision prefilter (prefilter.h), as in dense k-nearest-neighbor search by gemm,
 * but with a proven bound on the rounding errors, so the answer is that of double precision for any
 * number of ranks.
 *
 * Every rank holds all points of a batch and scans its own candidates; lists of the best are
 * merged by a reduction that scatters them to the owners of the points. Cost per rank: 2 n c p / ranks
 * flops in single precision for n points, c candidates and p coordinates, and 2 p for each pair that
 * is scored again in double. Sent: n p words to all ranks, and 2 n top words per rank in log2(ranks)
 * messages. Replicated: the points of a batch and their lists, at most BATCH numbers where candidates
 * stay in memory; those of streamed candidates see all points in one batch. */
#include "search/topk.h"

#include <math.h>
#include <string.h>

#include <dkmap/grid.h>

#include "comm/merge_lists.h"
#include "core/alloc.h"
#include "core/checked.h"
#include "core/minmax.h"
#include "data/objects.h"
#include "search/prefilter.h"

#define LANES    8
#define FEW      16      /* more than one in so many is too many to be worked out one by one */
#define ROUNDING 1e-12   /* of the largest norm: what rounding may make of equal ones */
#define BATCH    8388608 /* numbers of points and lists that a rank holds at a time: 64 MiB */
#define DISTRUST 8 /* blocks that are filtered in double after one where single did not help */

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
    dkm_idx *rows; /* points of each rank */
    int *counts, *starts;
};

/* A candidate of a list on its way; the index as a double, so that both are one type: exact up to
 * NONE, which is that of no candidate. */
#define NONE ((dkm_idx)1 << 53)

typedef struct entry {
    double distance, index;
} entry;

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
    DKM_FREE(s->rows);
    DKM_FREE(s->counts);
    DKM_FREE(s->starts);
    DKM_FREE(*search);
}

/* Counts and starts of every rank's points, each of @p width items. */
static void plan_ranks(dkm_topk_search *s, dkm_idx width)
{
    for (int r = 0; r < dkm_ctx_size(s->ctx); r++) {
        s->counts[r] = (int)(s->rows[r] * width);
        s->starts[r] = r ? s->starts[r - 1] + s->counts[r - 1] : 0;
    }
}

static void gather_points(dkm_topk_search *s, const double *own)
{
    plan_ranks(s, s->points.p);
    MPI_Allgatherv(own, s->counts[dkm_ctx_rank(s->ctx)], MPI_DOUBLE, s->points.values, s->counts,
                   s->starts, MPI_DOUBLE, dkm_ctx_comm(s->ctx));
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

double dkm_norm_range_level(const dkm_norm_range *range, double norm)
{
    double above = norm - range->least;

    return above <= ROUNDING * range->largest ? 0.0 : above;
}

void dkm_norm_range_combine(dkm_ctx *ctx, dkm_norm_range *range)
{
    double ends[2] = {range->least, -range->largest};

    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(ctx));
    *range = (dkm_norm_range){.least = ends[0], .largest = -ends[1]};
}

/* Points [first, first + most) of every rank's slab of Q, as far as there are any. */
static dkm_status topk_open_batch(const dkm_data *Q, dkm_idx first, dkm_idx most, dkm_idx top,
                                  dkm_norm_range range, dkm_topk_search **search)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Q);
    int size = dkm_ctx_size(ctx);
    dkm_topk_search *s = NULL;

    *search = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->top = top;
    s->range = range;
    s->points = (dkm_query_points){.n = 0, .p = dkm_data_cols(Q)};
    DKM_AGREE(ctx, dkm_alloc(ctx, size, &s->rows));
    for (int r = 0; r < size; r++) {
        dkm_idx left = dkm_slab_count(dkm_data_rows(Q), r, size) - first;
        s->rows[r] = dkm_idx_max(0, dkm_idx_min(left, most));
        s->points.n += s->rows[r];
    }
    DKM_AGREE(ctx, dkm_checked_int(ctx, s->points.n * (s->points.p > top ? s->points.p : top),
                                   "the numbers of the points to look for", &(int){0}));
    DKM_AGREE(ctx, topk_reserve(s));
    gather_points(s, dkm_data_values_const(Q) +
                         dkm_idx_min(first, dkm_data_local_rows(Q)) * s->points.p);
    DKM_AGREE(ctx, dkm_query_points_open(&s->points, ctx));
    *search = s;
    s = NULL;
out:
    dkm_topk_search_close(&s);
    return status;
}

dkm_status dkm_topk_search_open(const dkm_data *Q, dkm_idx top, dkm_norm_range range,
                                dkm_topk_search **search)
{
    return topk_open_batch(Q, 0, dkm_data_rows(Q), top, range, search);
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
    dkm_idx first, n;     /* index of the first, and how many */
    const dkm_idx *index; /* of each, where they do not follow one another; else NULL */
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
        topk_insert(distance, s->index + q * top, top, b->norms[c] - 2.0 * xy,
                    b->index ? b->index[c] : b->first + c);
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
    for (dkm_idx c = 0; c < n; c++)
        s->norms[c] = dkm_norm_range_level(&s->range, norms[c]);
}

static void topk_scan(dkm_topk_search *s, dkm_idx first, const dkm_idx *index, dkm_idx n,
                      const double *Z, const double *norms)
{
    for (dkm_idx c = 0; c < n; c += DKM_PREFILTER_BLOCK) {
        block b = {.first = first + c,
                   .n = dkm_idx_min(n - c, DKM_PREFILTER_BLOCK),
                   .index = index ? index + c : NULL,
                   .Z = Z + c * s->points.p,
                   .norms = s->norms};
        level_norms(s, b.n, norms + c);
        search_block(s, &b);
    }
    dkm_phase_flops(s->ctx, 2.0 * (double)s->points.n * (double)n * (double)s->points.p);
}

void dkm_topk_search_scan(dkm_topk_search *s, dkm_idx first, dkm_idx n, const double *Z,
                          const double *norms)
{
    topk_scan(s, first, NULL, n, Z, norms);
}

void dkm_topk_search_scan_list(dkm_topk_search *s, dkm_idx n, const dkm_idx *index, const double *Z,
                               const double *norms)
{
    topk_scan(s, 0, index, n, Z, norms);
}

void dkm_topk_search_limits(const dkm_topk_search *s, double *limits)
{
    dkm_idx p = s->points.p;

    for (dkm_idx q = 0; q < s->points.n; q++) {
        const double *x = s->points.values + q * p;
        limits[q] = s->distance[q * s->top + s->top - 1] + s->range.least + product(p, x, x);
    }
}

static int comes_before(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    return x->distance < y->distance || (x->distance == y->distance && x->index < y->index);
}

static void merge_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    dkm_merge_lists(in, inout, *count, *type, sizeof(entry), comes_before);
}

/* The lists of this rank's points, merged from those of all ranks. */
static void topk_merge(dkm_topk_search *s, const entry *lists, entry *own)
{
    MPI_Datatype list;
    MPI_Op op;

    MPI_Type_contiguous((int)(2 * s->top), MPI_DOUBLE, &list);
    MPI_Type_commit(&list);
    MPI_Op_create(merge_op, 1, &op);
    plan_ranks(s, 1);
    MPI_Reduce_scatter(lists, own, s->counts, list, op, dkm_ctx_comm(s->ctx));
    MPI_Op_free(&op);
    MPI_Type_free(&list);
}

dkm_status dkm_topk_search_finish(dkm_topk_search *s, dkm_idx *index, double *distance)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(s->ctx);
    dkm_idx p = s->points.p, total = s->rows[rank] * s->top;
    entry *lists = NULL, *own = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, s->points.n * s->top, &lists));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, total, &own));
    for (dkm_idx k = 0; k < s->points.n * s->top; k++)
        lists[k] = (entry){s->distance[k], (double)dkm_idx_min(s->index[k], NONE)};
    topk_merge(s, lists, own);
    for (dkm_idx k = 0; k < total; k++) {
        const double *q = s->points.values + (s->starts[rank] + k / s->top) * p;
        index[k] = (dkm_idx)own[k].index;
        distance[k] = fmax(0.0, own[k].distance + s->range.least + product(p, q, q));
    }
out:
    DKM_FREE(lists);
    DKM_FREE(own);
    return status;
}

/* Points of a rank that a batch takes. */
static dkm_idx topk_batch_rows(const dkm_data *Q, dkm_idx top)
{
    dkm_idx each = BATCH / (dkm_data_cols(Q) + 4 * top) / dkm_ctx_size(dkm_data_ctx(Q));

    return each > 0 ? each : 1;
}

dkm_status dkm_topk_in_batches(const dkm_data *Q, const dkm_candidates *candidates, dkm_idx top,
                               dkm_idx each, dkm_idx *index, double *distance)
{
    const dkm_data *Z = candidates->Z;
    dkm_ctx *ctx = dkm_data_ctx(Q);
    dkm_idx n = dkm_data_local_rows(Z),
            longest = dkm_slab_count(dkm_data_rows(Q), 0, dkm_ctx_size(ctx));
    dkm_status status = DKM_OK;
    dkm_norm_range range = dkm_norm_range_empty();
    dkm_topk_search *s = NULL;

    dkm_phase_begin(ctx, "nearest");
    dkm_norm_range_add(&range, n, candidates->norms);
    dkm_norm_range_combine(ctx, &range);
    for (dkm_idx first = 0; first < longest; first += each) {
        dkm_idx at = dkm_idx_min(first, dkm_data_local_rows(Q)) * top;
        DKM_TRY(topk_open_batch(Q, first, each, top, range, &s));
        dkm_topk_search_scan(s, dkm_data_local_first(Z), n, dkm_data_values_const(Z),
                             candidates->norms);
        DKM_TRY(dkm_topk_search_finish(s, index + at, distance + at));
        dkm_topk_search_close(&s);
    }
out:
    dkm_topk_search_close(&s);
    dkm_phase_end(ctx);
    return status;
}

dkm_status dkm_topk(const dkm_data *Q, const dkm_candidates *candidates, dkm_idx top,
                    dkm_idx *index, double *distance)
{
    return dkm_topk_in_batches(Q, candidates, top, topk_batch_rows(Q, top), index, distance);
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
