/* Exact top-k search among very many candidates: a lower bound of the distance by few pivots.
 *
 * Let y_0, ..., y_s be training objects (pivots), chosen by pivoted Cholesky, and o = phi(y_0). With G G' the
 * matrix of the <phi(y_i) - o, phi(y_j) - o>, a candidate c has the coordinates z = G^-1 <phi(y_i) - o, phi(c) - o>
 * in the span of the pivots, and is h away from it, h^2 = ||phi(c) - o||^2 - ||z||^2. Likewise a point f has q and
 * e, from its distances to the pivots. By the inequality of Cauchy and Schwarz outside the span
 *
 *     ||phi(c) - f||^2  >=  ||phi(c) - o||^2 - 2 (q.z + e h) + ||f - o||^2,
 *
 * which is a squared distance of s + 1 numbers again. A candidate of which this exceeds the squared distance of the
 * top-th best so far, for every point, is not among the best of any. All others get their kernel values to all
 * training objects and pass through the search of topk.c: the answer is that of a search through all of them.
 * As many pivots are taken as leave ENOUGH of the points outside their span, PIVOTS at most: smooth kernels and those
 * of few features take few; where PIVOTS leave much, most candidates are evaluated.
 * (Bounds by projection on pivots: Chavez, Navarro, Baeza-Yates and Marroquin 2001, ACM Computing Surveys
 * 33(3):273-321, doi:10.1145/502807.502808.)
 *
 * Values of the bound in single precision have the slack of prefilter.h.
 *
 * Cost for c candidates, n points and m training objects: c (s + 1) kernel values and c s (s + 2 n) flops over all
 * ranks, and c' m kernel values and 2 c' m p flops for the c' that are left. Sent: n (s + 2) words to all ranks, and
 * for every block n limits by a reduction. Held per rank: a block of candidates with s + 1 numbers each, at most
 * BLOCK_BYTES twice, and the points. Replicated: s + 1 <= PIVOTS + 1 objects, G, and the points. */
#include "preimage/search/pruned_search.h"

#include <math.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "kernels/evaluation/prepare.h"
#include "preimage/search/pivot_space.h"
#include "search/prefilter.h"
#include "search/topk.h"
#include "solvers/landmarks/greedy.h"

#define PIVOTS 256
#define ENOUGH                                                                                     \
    1e-4 /* of ||f - o||^2 over all points: what may lie outside the span of the pivots */
#define HOPELESS    8 /* blocks that are evaluated unmeasured after one of which most were left */
#define FIRST       1024 /* candidates of a rank in the first block, all of which are evaluated */
#define BLOCK_BYTES 8388608.0 /* of kernel values of a block */

typedef struct pruner {
    dkm_ctx *ctx;
    dkm_embedding *e;
    dkm_pivot_space space;
    dkm_query_points points; /* (q, e) of all ranks' points */
    double *base;            /* ||f - o||^2 of each */
    double *limits;          /* of ||phi(c) - f||^2 */
    dkm_prefilter screen;
    int *found;
    dkm_idx hopeless; /* blocks yet to be evaluated unmeasured */
    dkm_topk_search *search;
    dkm_pruned_info info;
} pruner;

int dkm_pruned_search_suits(const dkm_embedding *e)
{
    return !dkm_kernel_needs_training_set(e->fitted.kernel);
}

/* The objects of this rank as data of another context; @p data is left without any. */
static dkm_status move_objects(dkm_data *data, dkm_ctx *to, dkm_idx m, dkm_data **moved)
{
    dkm_objs objs = data->mine;
    dkm_status status;

    data->mine = (dkm_objs){0};
    objs.ctx = to;
    status = dkm_data_wrap(to, m, &objs, moved);
    dkm_objs_clear(&objs);
    return status;
}

/* All points on every rank. Collective. */
static dkm_status open_points(pruner *p, const dkm_data *Z)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_rows(Z), wide = p->space.s + 2, *rows = NULL;
    dkm_data *Q = NULL;
    dkm_objs all = {0};

    p->points = (dkm_query_points){.n = n, .p = p->space.s + 1};
    DKM_TRY(dkm_data_create_dense(p->ctx, n, wide, &Q));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++)
        dkm_pivot_space_place_point(&p->space, dkm_data_values_const(Z) + i * p->e->p,
                                    dkm_data_values(Q) + i * wide);
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, n, &rows));
    for (dkm_idx i = 0; i < n; i++)
        rows[i] = i;
    DKM_TRY(dkm_data_fetch(Q, n, rows, &all));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, n * (p->space.s + 1), &p->points.values));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, n, &p->base));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, n, &p->limits));
    for (dkm_idx i = 0; i < n; i++) {
        memcpy(p->points.values + i * (p->space.s + 1), all.values + i * wide,
               (size_t)(p->space.s + 1) * sizeof(double));
        p->base[i] = all.values[i * wide + p->space.s + 1];
        p->limits[i] = INFINITY;
    }
    DKM_AGREE(p->ctx, dkm_query_points_open(&p->points, p->ctx));
out:
    dkm_objs_clear(&all);
    DKM_FREE(rows);
    dkm_data_destroy(&Q);
    return status;
}

/* As many of the pivots as the points need, in the order of what they add: their number, and their places in
 * @p rows instead of those that were there. Collective. */
static dkm_status take_enough(const pruner *p, const dkm_data *Z, dkm_idx *count, dkm_idx *rows)
{
    dkm_status status = DKM_OK;
    double *sums = NULL, *row = NULL, left = 0, most;
    dkm_idx *taken = NULL, s = 0;

    DKM_AGREE(p->ctx, dkm_calloc(p->ctx, p->space.s + 1, &sums));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, p->space.s + 2, &row));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, p->space.s + 1, &taken));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++) {
        dkm_pivot_space_place_point(&p->space, dkm_data_values_const(Z) + i * p->e->p, row);
        for (dkm_idx k = 0; k < p->space.s; k++)
            sums[k] += row[k] * row[k];
        sums[p->space.s] += row[p->space.s + 1];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)(p->space.s + 1), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(p->ctx));
    most = left = sums[p->space.s];
    for (; s < p->space.s && left > ENOUGH * most; s++)
        left -= sums[s];
    MPI_Bcast(&s, 1, MPI_INT64_T, 0, dkm_ctx_comm(p->ctx));
    taken[0] = rows[0];
    for (dkm_idx k = 0; k < s; k++)
        taken[k + 1] = rows[p->space.pivot[k]];
    *count = s + 1;
    memcpy(rows, taken, (size_t)*count * sizeof *rows);
out:
    DKM_FREE(taken);
    DKM_FREE(row);
    DKM_FREE(sums);
    return status;
}

static dkm_status pruner_open(pruner *p, const dkm_data *Z, dkm_idx top)
{
    dkm_status status = DKM_OK;
    dkm_idx count = dkm_idx_min(PIVOTS + 1, dkm_data_rows(p->e->fitted.X)), *rows = NULL;
    dkm_norm_range as_they_are = {0, 0};

    DKM_TRY(dkm_pivot_space_begin(&p->space, p->e));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, count, &rows));
    DKM_TRY(dkm_greedy_choose(p->e->fitted.prepared, DKM_GREEDY_CHOLESKY, &count, rows));
    DKM_TRY(dkm_pivot_space_take(&p->space, count, rows));
    DKM_TRY(take_enough(p, Z, &count, rows));
    DKM_TRY(dkm_pivot_space_take(&p->space, count, rows));
    p->info.pivots = count;
    DKM_TRY(open_points(p, Z));
    DKM_AGREE(p->ctx, dkm_prefilter_open(&p->screen, p->ctx, p->space.s + 1, 1));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, DKM_PREFILTER_BLOCK, &p->found));
    DKM_TRY(dkm_topk_search_open(Z, top, as_they_are, &p->search));
out:
    DKM_FREE(rows);
    return status;
}

static void pruner_close(pruner *p)
{
    dkm_topk_search_close(&p->search);
    DKM_FREE(p->found);
    dkm_prefilter_close(&p->screen);
    DKM_FREE(p->limits);
    DKM_FREE(p->base);
    dkm_query_points_close(&p->points);
    dkm_pivot_space_close(&p->space);
}

/* A block of this rank's candidates. Its arrays are as long as the longest block and serve all of them: memory
 * that the system hands out anew for every block would cost as much as what is computed in it. */
typedef struct block {
    dkm_idx n;
    dkm_data *objects; /* on the context of this rank alone */
    double *Z;         /* n x (s + 1): z and h */
    double *work;      /* n s */
    double *norms;     /* ||phi(c) - o||^2 */
    char *marks;       /* those that are left, and */
    dkm_idx *rows;     /* their list */
    dkm_idx left;
} block;

static dkm_local block_open(const pruner *p, dkm_idx most, block *b)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(p->ctx, most * (p->space.s + 1), &b->Z));
    DKM_STEP(dkm_alloc(p->ctx, most * p->space.s, &b->work));
    DKM_STEP(dkm_alloc(p->ctx, most, &b->norms));
    DKM_STEP(dkm_alloc(p->ctx, most, &b->marks));
    DKM_STEP(dkm_alloc(p->ctx, most, &b->rows));
out:
    return local;
}

static void block_close(block *b)
{
    DKM_FREE(b->rows);
    DKM_FREE(b->marks);
    DKM_FREE(b->norms);
    DKM_FREE(b->work);
    DKM_FREE(b->Z);
    dkm_data_destroy(&b->objects);
}

/* Mark those of a block that may be among the best of some point. Local. */
static void screen_block(pruner *p, const block *b)
{
    for (dkm_idx c = 0; c < b->n; c += DKM_PREFILTER_BLOCK) {
        dkm_idx n = dkm_idx_min(b->n - c, DKM_PREFILTER_BLOCK), wide = p->space.s + 1;
        if (!dkm_prefilter_load_block(&p->screen, DKM_F32, &p->points, n, b->Z + c * wide,
                                      b->norms + c))
            dkm_prefilter_load_block(&p->screen, DKM_F64, &p->points, n, b->Z + c * wide,
                                     b->norms + c);
        for (dkm_idx q = 0; q < p->points.n; q += DKM_PREFILTER_POINTS) {
            dkm_idx count = dkm_idx_min(p->points.n - q, DKM_PREFILTER_POINTS);
            dkm_prefilter_values(&p->screen, &p->points, q, count);
            for (dkm_idx k = 0; k < count; k++) {
                double bound = p->limits[q + k] - p->base[q + k];
                dkm_idx hits =
                    dkm_prefilter_find(&p->screen, k, p->points.lengths[q + k], bound, 1, p->found);
                for (dkm_idx h = 0; h < hits; h++)
                    b->marks[c + p->found[h]] = 1;
            }
        }
    }
}

/* List those that are left; all of them as long as some point has no limit, or where measuring does not help. On
 * this rank alone. */
static dkm_status list_left(pruner *p, block *b)
{
    dkm_status status = DKM_OK;
    int limited = p->hopeless == 0;

    p->hopeless -= p->hopeless > 0;
    for (dkm_idx q = 0; q < p->points.n; q++)
        limited = limited && isfinite(p->limits[q]);
    b->left = 0;
    if (limited && b->n > 0) {
        memset(b->marks, 0, (size_t)b->n);
        DKM_TRY(dkm_pivot_space_place(&p->space, b->objects, b->work, b->Z, b->norms));
        screen_block(p, b);
    }
    for (dkm_idx i = 0; i < b->n; i++)
        if (!limited || b->marks[i])
            b->rows[b->left++] = i;
    if (limited && 2 * b->left > b->n)
        p->hopeless = HOPELESS;
out:
    return status;
}

/* Those that are left of all ranks, as many of each rank as of any: the last are repeated. Collective. */
static dkm_status gather_left(pruner *p, const block *b, dkm_idx each, dkm_data **all)
{
    dkm_status status = DKM_OK;
    dkm_idx *rows = NULL;
    dkm_data *mine = NULL;

    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, each, &rows));
    for (dkm_idx i = 0; i < each; i++)
        rows[i] = i < b->left ? b->rows[i] : 0;
    status = dkm_data_select(b->n > 0 ? b->objects : p->space.pivots.X, each, rows, &mine);
    DKM_TRY(dkm_pivot_space_agree(&p->space, status));
    DKM_TRY(move_objects(mine, p->ctx, each * dkm_ctx_size(p->ctx), all));
out:
    dkm_data_destroy(&mine);
    DKM_FREE(rows);
    return status;
}

/* Work out the distances of those that are left. Collective. */
static dkm_status evaluate_left(pruner *p, block *b, dkm_idx start)
{
    dkm_status status = DKM_OK;
    dkm_data *objects = NULL, *Z = NULL;
    double *norms = NULL;
    dkm_idx each = 0;

    MPI_Allreduce(&b->left, &each, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(p->ctx));
    if (each == 0)
        return DKM_OK;
    DKM_TRY(gather_left(p, b, each, &objects));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, each, &norms));
    DKM_TRY(dkm_embedding_encode(p->e, objects, &Z, norms));
    for (dkm_idx i = 0; i < b->left; i++)
        b->rows[i] += start;
    dkm_topk_search_scan_list(p->search, b->left, b->rows, dkm_data_values_const(Z), norms);
    dkm_topk_search_limits(p->search, p->limits);
    MPI_Allreduce(MPI_IN_PLACE, p->limits, (int)p->points.n, MPI_DOUBLE, MPI_MIN,
                  dkm_ctx_comm(p->ctx));
    p->info.evaluated += b->left;
out:
    DKM_FREE(norms);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&objects);
    return status;
}

/* Candidates [first, first + each) of every rank's share. Collective. */
static dkm_status visit_block(pruner *p, dkm_source *stream, dkm_idx first, dkm_idx each, block *b)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(p->ctx), size = dkm_ctx_size(p->ctx);
    dkm_idx start = dkm_slab_first(dkm_source_rows(stream), rank, size) + first;
    dkm_data *read = NULL;

    DKM_TRY(dkm_source_read_share(stream, first, each, &read));
    b->n = dkm_data_local_rows(read);
    status = move_objects(read, p->space.own, b->n, &b->objects);
    if (status == DKM_OK)
        status = list_left(p, b);
    DKM_TRY(dkm_pivot_space_agree(&p->space, status));
    DKM_TRY(evaluate_left(p, b, start));
out:
    dkm_data_destroy(&b->objects);
    dkm_data_destroy(&read);
    return status;
}

dkm_status dkm_pruned_search(dkm_embedding *e, dkm_source *stream, const dkm_data *Z, dkm_idx top,
                             dkm_idx *index, double *distance, dkm_pruned_info *info)
{
    dkm_status status = DKM_OK;
    pruner p = {.ctx = e->fitted.ctx, .e = e};
    dkm_idx m = dkm_source_rows(stream), longest = dkm_slab_count(m, 0, dkm_ctx_size(p.ctx));
    dkm_idx most, each = FIRST;
    block b = {0};

    dkm_phase_begin(p.ctx, "candidates");
    DKM_TRY(pruner_open(&p, Z, top));
    most = dkm_batch_rows(3 * (p.space.s + 1) + dkm_source_cols(stream), BLOCK_BYTES, 1);
    DKM_AGREE(p.ctx, block_open(&p, dkm_idx_max(most, FIRST), &b));
    for (dkm_idx first = 0; first < longest; first += each) {
        each = first == 0 ? FIRST : dkm_idx_min(2 * first, most);
        DKM_TRY(visit_block(&p, stream, first, each, &b));
        dkm_progress(p.ctx, (double)first, (double)longest);
    }
    DKM_TRY(dkm_topk_search_finish(p.search, index, distance));
    p.info.candidates = m;
    MPI_Allreduce(MPI_IN_PLACE, &p.info.evaluated, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(p.ctx));
    if (info)
        *info = p.info;
out:
    block_close(&b);
    pruner_close(&p);
    dkm_phase_end(p.ctx);
    return status;
}
