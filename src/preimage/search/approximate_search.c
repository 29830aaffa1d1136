/* Approximate search by an inverted file (search/faiss_index.h), with a recall that is measured.
 *
 * The squared distance of a candidate to a point with coordinates q is N - 2 <q, z> + <q, q>, N = ||phi(c) - mu||^2,
 * which is that of (z, h) to (q, 0) with h^2 = N - <z, z>: points of p + 1 numbers, of which every rank indexes those of
 * its own candidates, in single precision where memory allows it, else in a byte each.
 *
 * The same pass over the candidates searches exactly (search/topk.c) for SAMPLE of the points. Then the number of
 * cells that are looked into doubles until the share `wanted` of their true best candidates is found. Found are
 * 2 top + SPARE candidates per point and rank; those that are among the best so many over all ranks get their
 * coordinates in double and pass through the exact search, so that distances, order and ties are those of it. A
 * point for which too few are found is looked for in more cells.
 *
 * Cost for c candidates, n points, m training objects: c m kernel values and 2 c m p flops over all ranks, as of one
 * pass through all candidates, and c sqrt(c / ranks) (p + 1) multiply-adds to put them into cells; then for each point
 * probes / cells of its c (p + 1), and (2 top + SPARE) m kernel values. Held: c (p + 1) numbers of four bytes or one
 * over all ranks, outside the count of allocations. Replicated: the points with their lists, and the numbers of the
 * candidates that are left of all points. */
#include "preimage/search/approximate_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "data/objects.h"
#include "preimage/search/candidate_stream.h"
#include "search/faiss_index.h"

#define SAMPLE    64     /* points whose recall is measured */
#define SPARE     8      /* candidates found beyond 2 top */
#define TRAINING  262144 /* candidates that centers are found from */
#define PER_CELL  40     /* of those at least */
#define MOST      4096   /* cells */
#define SHARE     1.5    /* of the bytes of the index: what is free while it grows */
#define TOLERANCE 1e-9   /* of a distance: rounding */
#define BATCH     1024   /* candidates that are handed to faiss at once */

struct dkm_approximate_search {
    dkm_candidate_pool pool;
    dkm_ctx *ctx;
    dkm_idx m, top, d; /* candidates; how many of them to list; p + 1 */
    dkm_idx cells, probes;
    dkm_faiss *index; /* of this rank's candidates; NULL where it has none */
    float *row;       /* BATCH rows on their way */
    char why[DKM_FAISS_WHY];
    int failed;
};

dkm_local dkm_approximate_check(dkm_ctx *ctx)
{
    if (dkm_faiss_available())
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                    "approximate search needs faiss, and this dkmap was built without it "
                    "(Debian: libfaiss-dev)");
}

static dkm_idx pool_rows(const dkm_candidate_pool *pool)
{
    return pool->stream ? dkm_source_rows(pool->stream) : dkm_data_rows(pool->objects);
}

/* Objects named by a list that every rank has, in slabs. Collective. */
static dkm_status pool_select(const dkm_candidate_pool *pool, dkm_idx count, const dkm_idx *list,
                              dkm_data **objects)
{
    return pool->stream ? dkm_source_select(pool->stream, count, list, objects)
                        : dkm_data_select(pool->objects, count, list, objects);
}

/* What a step of faiss told, which is a failure of memory as good as always. Local. */
static dkm_local told(dkm_approximate_search *a, int failed)
{
    return failed ? dkm_fail(a->ctx, DKM_ERR_MEMORY, "%s", a->why) : DKM_LOCAL_OK;
}

/* (z, h) of n candidates. */
static void to_rows(const dkm_approximate_search *a, dkm_idx n, const double *Z,
                    const double *norms, float *rows)
{
    dkm_idx p = a->d - 1;

    for (dkm_idx i = 0; i < n; i++) {
        double inside = 0;
        for (dkm_idx k = 0; k < p; k++) {
            double z = Z[i * p + k];
            inside += z * z;
            rows[i * a->d + k] = (float)z;
        }
        rows[i * a->d + p] = (float)sqrt(fmax(norms[i] - inside, 0.0));
    }
}

/* As many cells as the root of a rank's candidates, and as there is a sample for. */
static dkm_idx count_cells(const dkm_approximate_search *a, dkm_idx sample)
{
    int size = dkm_ctx_size(a->ctx);
    double mine = (double)(a->m / size), most = (double)(sample / size / PER_CELL);

    return (dkm_idx)fmax(1.0, fmin(fmin(sqrt(mine), most), MOST));
}

static dkm_local create_index(dkm_approximate_search *a, int bytes)
{
    dkm_faiss_shape shape = {
        .d = (int)a->d, .cells = a->cells, .bytes = bytes, .threads = dkm_ctx_threads(a->ctx)};

    return told(a, dkm_faiss_create(&shape, &a->index, a->why));
}

/* Candidates at even steps, from which this rank finds the centers of its own. Collective. */
static dkm_status train(dkm_approximate_search *a, dkm_idx sample)
{
    dkm_status status = DKM_OK;
    dkm_idx *list = NULL, n;
    dkm_data *objects = NULL, *Z = NULL;
    double *norms = NULL;
    float *rows = NULL;

    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, sample, &list));
    for (dkm_idx k = 0; k < sample; k++)
        list[k] = (dkm_idx)((double)k * (double)a->m / (double)sample);
    DKM_TRY(pool_select(&a->pool, sample, list, &objects));
    n = dkm_data_local_rows(objects);
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n, &norms));
    DKM_TRY(dkm_embedding_encode(a->pool.e, objects, &Z, norms));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * a->d, &rows));
    to_rows(a, n, dkm_data_values_const(Z), norms, rows);
    DKM_AGREE(a->ctx, told(a, n > 0 && dkm_faiss_train(a->index, n, rows, a->why)));
out:
    DKM_FREE(rows);
    DKM_FREE(norms);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&objects);
    DKM_FREE(list);
    return status;
}

/* A block of candidates goes into the index, and past the exact search for the sample. */
typedef struct passing {
    dkm_approximate_search *a;
    dkm_topk_search *exact;
    dkm_idx start; /* this rank's first candidate */
} passing;

static void take_block(void *user, dkm_idx first, dkm_idx n, const double *Z, const double *norms)
{
    passing *s = user;
    dkm_approximate_search *a = s->a;
    dkm_idx p = a->d - 1;

    dkm_topk_search_scan(s->exact, s->start + first, n, Z, norms);
    for (dkm_idx i = 0; i < n && !a->failed; i += BATCH) {
        dkm_idx count = dkm_idx_min(n - i, BATCH);
        to_rows(a, count, Z + i * p, norms + i, a->row);
        a->failed = dkm_faiss_add(a->index, count, a->row, a->why);
    }
}

/* Index all candidates; the true best ones of the sample. Collective. */
static dkm_status take_all(dkm_approximate_search *a, const dkm_data *S, dkm_idx *index,
                           double *distance)
{
    dkm_status status = DKM_OK;
    dkm_norm_range as_they_are = {0, 0};
    passing s = {.a = a, .start = dkm_slab_first(a->m, dkm_ctx_rank(a->ctx), dkm_ctx_size(a->ctx))};
    const dkm_candidates *placed = a->pool.placed;

    DKM_TRY(dkm_topk_search_open(S, a->top, as_they_are, &s.exact));
    if (a->pool.stream)
        DKM_TRY(dkm_candidate_stream_visit(a->pool.e, a->pool.stream,
                                           &(dkm_candidate_visitor){take_block, &s}));
    else
        take_block(&s, 0, dkm_data_local_rows(placed->Z), dkm_data_values_const(placed->Z),
                   placed->norms);
    DKM_AGREE(a->ctx, told(a, a->failed));
    DKM_TRY(dkm_topk_search_finish(s.exact, index, distance));
out:
    dkm_topk_search_close(&s.exact);
    return status;
}

/* All points, on every rank, as faiss takes them. Collective. */
static dkm_status gather_points(const dkm_approximate_search *a, const dkm_data *Z, float **points)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_rows(Z), p = a->d - 1, *list = NULL;
    dkm_objs all = {0};

    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n, &list));
    for (dkm_idx i = 0; i < n; i++)
        list[i] = i;
    DKM_TRY(dkm_data_fetch(Z, n, list, &all));
    DKM_AGREE(a->ctx, dkm_calloc(a->ctx, n * a->d, points));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < p; k++)
            (*points)[i * a->d + k] = (float)all.values[i * p + k];
out:
    dkm_objs_clear(&all);
    DKM_FREE(list);
    return status;
}

static int ascending(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return (x > y) - (x < y);
}

/* Numbers among all candidates of those this rank found, each once and ascending. @return how many. Local. */
static dkm_idx unite(dkm_idx start, dkm_idx n, dkm_idx keep, const int64_t *number,
                     const float *distance, const double *limits, dkm_idx *list)
{
    dkm_idx count = 0, different = 0;

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < keep; k++)
            if (number[i * keep + k] >= 0 && (double)distance[i * keep + k] <= limits[i])
                list[count++] = start + number[i * keep + k];
    qsort(list, (size_t)count, sizeof *list, ascending);
    for (dkm_idx k = 0; k < count; k++)
        if (k == 0 || list[k] != list[different - 1])
            list[different++] = list[k];
    return different;
}

/* Candidates of this rank that may be among the best of some point. Collective. */
static dkm_status find_own(dkm_approximate_search *a, const dkm_data *Z, dkm_idx probes,
                           dkm_idx **list, dkm_idx *count)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(a->ctx), size = dkm_ctx_size(a->ctx);
    dkm_idx n = dkm_data_rows(Z), mine = dkm_slab_count(a->m, rank, size);
    dkm_idx wanted = dkm_idx_min(2 * a->top + SPARE, a->m), keep = dkm_idx_min(wanted, mine);
    float *points = NULL, *distance = NULL;
    int64_t *number = NULL;
    double *limits = NULL;

    DKM_TRY(gather_points(a, Z, &points));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * keep, &distance));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * keep, &number));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * keep, list));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n, &limits));
    DKM_AGREE(a->ctx, told(a, keep > 0 && dkm_faiss_search(a->index, n, points, keep, probes,
                                                           distance, number, a->why)));
    /* what is farther than so many of one rank is not among so many of all */
    for (dkm_idx i = 0; i < n; i++)
        limits[i] = keep == wanted && number[i * keep + keep - 1] >= 0
                        ? (double)distance[i * keep + keep - 1]
                        : INFINITY;
    MPI_Allreduce(MPI_IN_PLACE, limits, (int)n, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(a->ctx));
    *count = unite(dkm_slab_first(a->m, rank, size), n, keep, number, distance, limits, *list);
out:
    DKM_FREE(limits);
    DKM_FREE(number);
    DKM_FREE(distance);
    DKM_FREE(points);
    return status;
}

/* The lists of all ranks one after the other, which ascend as slabs do. Collective. */
static dkm_status gather_lists(const dkm_approximate_search *a, const dkm_idx *own, dkm_idx count,
                               dkm_idx **all, dkm_idx *total)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(a->ctx), *counts = NULL, *starts = NULL, mine = (int)count;

    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, size, &counts));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, size, &starts));
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(a->ctx));
    *total = 0;
    for (int r = 0; r < size; r++) {
        starts[r] = (int)*total;
        *total += counts[r];
    }
    DKM_REQUIRE(a->ctx, *total <= INT32_MAX, DKM_ERR_MEMORY,
                "too many candidates for so many points at once: predict fewer inputs at a time");
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, *total, all));
    MPI_Allgatherv(own, mine, MPI_INT64_T, *all, counts, starts, MPI_INT64_T, dkm_ctx_comm(a->ctx));
out:
    DKM_FREE(starts);
    DKM_FREE(counts);
    return status;
}

/* Candidates of a list in double, past the exact search. Collective. */
static dkm_status look_at_list(dkm_approximate_search *a, dkm_topk_search *search, dkm_idx count,
                               const dkm_idx *list)
{
    dkm_status status = DKM_OK;
    dkm_data *objects = NULL, *Z = NULL;
    double *norms = NULL;

    DKM_TRY(pool_select(&a->pool, count, list, &objects));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, dkm_data_local_rows(objects), &norms));
    DKM_TRY(dkm_embedding_encode(a->pool.e, objects, &Z, norms));
    dkm_topk_search_scan_list(search, dkm_data_local_rows(objects),
                              list + dkm_data_local_first(objects), dkm_data_values_const(Z),
                              norms);
out:
    DKM_FREE(norms);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&objects);
    return status;
}

/* The best candidates that so many cells hold. Collective. */
static dkm_status search_cells(dkm_approximate_search *a, const dkm_data *Z, dkm_idx probes,
                               dkm_idx *index, double *distance, dkm_idx *evaluated)
{
    dkm_status status = DKM_OK;
    dkm_norm_range as_they_are = {0, 0};
    dkm_idx *own = NULL, *all = NULL, count = 0, total = 0;
    dkm_idx each = dkm_fitted_kernel_batch_rows(&a->pool.e->fitted, a->d);
    dkm_topk_search *search = NULL;

    DKM_TRY(find_own(a, Z, probes, &own, &count));
    DKM_TRY(gather_lists(a, own, count, &all, &total));
    DKM_TRY(dkm_topk_search_open(Z, a->top, as_they_are, &search));
    for (dkm_idx first = 0; first < total; first += each)
        DKM_TRY(look_at_list(a, search, dkm_idx_min(each, total - first), all + first));
    DKM_TRY(dkm_topk_search_finish(search, index, distance));
    *evaluated += total;
out:
    dkm_topk_search_close(&search);
    DKM_FREE(all);
    DKM_FREE(own);
    return status;
}

/* Of so many numbers of all ranks. Collective. */
static double share_of_all(const dkm_approximate_search *a, dkm_idx right, dkm_idx count)
{
    dkm_idx sums[2] = {right, count};

    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(a->ctx));
    return sums[1] > 0 ? (double)sums[0] / (double)sums[1] : 1.0;
}

/* The share of the found ones that are as near as the last of the true ones. Collective. */
static double recall_of(const dkm_approximate_search *a, dkm_idx n, const double *truth,
                        const double *found)
{
    dkm_idx right = 0;

    for (dkm_idx i = 0; i < n; i++) {
        double last = truth[(i + 1) * a->top - 1], limit = last + TOLERANCE * fabs(last);
        for (dkm_idx k = 0; k < a->top; k++)
            right += found[i * a->top + k] <= limit;
    }
    return share_of_all(a, right, n * a->top);
}

/* Twice as many cells until enough is found. Collective. */
static dkm_status choose_probes(dkm_approximate_search *a, const dkm_data *S, const double *truth,
                                double wanted, dkm_search_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(S), evaluated = 0, *index = NULL;
    double *found = NULL;

    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * a->top, &index));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * a->top, &found));
    for (a->probes = 1;; a->probes = dkm_idx_min(2 * a->probes, a->cells)) {
        DKM_TRY(search_cells(a, S, a->probes, index, found, &evaluated));
        info->recall = recall_of(a, n, truth, found);
        if (info->recall >= wanted || a->probes == a->cells)
            break;
    }
    info->sample = dkm_data_rows(S);
    info->cells = a->cells;
    info->probes = a->probes;
out:
    DKM_FREE(found);
    DKM_FREE(index);
    return status;
}

/* Points at even steps. Collective. */
static dkm_status choose_sample(const dkm_data *Z, dkm_data **S)
{
    dkm_idx n = dkm_data_rows(Z), count = dkm_idx_min(n, SAMPLE), list[SAMPLE];

    for (dkm_idx k = 0; k < count; k++)
        list[k] = k * n / count;
    return dkm_data_select(Z, count, list, S);
}

static dkm_status build(dkm_approximate_search *a, const dkm_data *Z, double wanted,
                        dkm_search_info *info)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(a->ctx);
    double numbers = (double)(a->m / size + 1) * (double)a->d, extra = 8.0 * (double)(a->m / size);
    dkm_idx sample = dkm_idx_min(a->m, TRAINING), n, *index = NULL;
    int bytes = !dkm_memory_fits(a->ctx, SHARE * (4.0 * numbers + extra));
    double *truth = NULL;
    dkm_data *S = NULL;

    DKM_REQUIRE(a->ctx, !bytes || dkm_memory_fits(a->ctx, SHARE * (numbers + extra)),
                DKM_ERR_MEMORY,
                "an index of %lld candidates takes %.3g GiB per rank, more than is free: leave "
                "--approximate out, or use more ranks",
                (long long)a->m, (numbers + extra) / 1073741824.0);
    a->cells = count_cells(a, sample);
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, BATCH * a->d, &a->row));
    DKM_AGREE(a->ctx, create_index(a, bytes));
    DKM_TRY(train(a, sample));
    DKM_TRY(choose_sample(Z, &S));
    n = dkm_data_local_rows(S);
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * a->top, &index));
    DKM_AGREE(a->ctx, dkm_alloc(a->ctx, n * a->top, &truth));
    DKM_TRY(take_all(a, S, index, truth));
    DKM_TRY(choose_probes(a, S, truth, wanted, info));
out:
    DKM_FREE(truth);
    DKM_FREE(index);
    dkm_data_destroy(&S);
    return status;
}

dkm_status dkm_approximate_search_open(const dkm_candidate_pool *pool, const dkm_data *Z,
                                       dkm_idx top, double wanted, dkm_search_info *info,
                                       dkm_approximate_search **search)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pool->e->fitted.ctx;
    dkm_approximate_search *a = NULL;

    *search = NULL;
    dkm_phase_begin(ctx, "index");
    DKM_AGREE(ctx, dkm_approximate_check(ctx));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &a));
    a->pool = *pool;
    a->ctx = ctx;
    a->m = pool_rows(pool);
    a->top = top;
    a->d = pool->e->p + 1;
    DKM_TRY(build(a, Z, wanted, info));
    *search = a;
    a = NULL;
out:
    dkm_approximate_search_close(&a);
    dkm_phase_end(ctx);
    return status;
}

dkm_status dkm_approximate_search_run(dkm_approximate_search *a, const dkm_data *Z, dkm_idx *index,
                                      double *distance, dkm_search_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx probes = a->probes;

    dkm_phase_begin(a->ctx, "candidates");
    for (;; probes = dkm_idx_min(2 * probes, a->cells)) {
        dkm_idx found = 0, count = dkm_data_local_rows(Z) * a->top;
        DKM_TRY(search_cells(a, Z, probes, index, distance, &info->evaluated));
        for (dkm_idx k = 0; k < count; k++)
            found += isfinite(distance[k]);
        if (share_of_all(a, found, count) == 1.0 || probes == a->cells)
            break;
    }
out:
    dkm_phase_end(a->ctx);
    return status;
}

void dkm_approximate_search_close(dkm_approximate_search **search)
{
    dkm_approximate_search *a = *search;

    if (!a)
        return;
    dkm_faiss_destroy(&a->index);
    DKM_FREE(a->row);
    DKM_FREE(*search);
}
