/* Candidates are compared by their full distance to Psi: ||phi(c) - mu||^2 - 2 z.z(c) + z.z, which
 * also counts what of phi(c) lies outside the span. Those of a file of any length are streamed, and most
 * of them are ruled out by a bound (pruned_search.c). Where values of the kernel depend on all training
 * objects there is no bound: coordinates and norms of a block are computed. Where memory allows they are
 * stored, and searched as those in memory are; else a first pass over the file finds the range of the
 * norms, and one pass for each batch of points searches. The objects that were chosen are read once more.
 *
 * Cost of n points and c candidates of p coordinates: 2 n c p flops over all ranks
 * (search/topk.c); the points of a batch travel to all ranks. Held: c (p + 1) / ranks numbers
 * where they are stored. */
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "preimage/preimage.h"
#include "preimage/search/approximate_search.h"
#include "preimage/search/candidate_stream.h"
#include "preimage/search/pruned_search.h"

#define FAINT 1e-12 /* of the mean squared norm */
#define SHARE 4.0   /* coordinates are stored where so many times their bytes are free */

typedef struct candidates_state {
    dkm_candidates candidates; /* coordinates; none where a file is streamed and they do not fit */
    int ranged;                /* whether `range` is known */
    dkm_norm_range range;
    dkm_approximate_search *index; /* NULL before the first search, and without `approximate` */
} candidates_state;

static void preimage_candidates_clear(void *state)
{
    candidates_state *s = state;

    dkm_approximate_search_close(&s->index);
    dkm_candidates_clear(&s->candidates);
}

static int preimage_candidates_accepts(const dkm_embedding *e)
{
    (void)e;
    return 1;
}

/* Coordinates and norms of the objects given. */
static dkm_status use_given(const dkm_preimage *pre, dkm_candidates *candidates)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    const dkm_data *C = pre->settings.candidates;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(C), &candidates->norms));
    DKM_TRY(dkm_embedding_encode(pre->e, C, &candidates->Z, candidates->norms));
out:
    return status;
}

static dkm_status preimage_candidates_prepare(const dkm_preimage *pre, void *state)
{
    candidates_state *s = state;

    if (pre->settings.stream)
        return DKM_OK;
    return (pre->settings.candidates ? use_given : dkm_preimage_training)(pre, &s->candidates);
}

/* Memory for what is stored of a file, or none. */
static dkm_status open_stored(const dkm_preimage *pre, dkm_candidates *stored)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_idx m = dkm_source_rows(pre->settings.stream), longest = m / dkm_ctx_size(ctx) + 1;

    if (!dkm_memory_fits(ctx, SHARE * (double)longest * (double)(pre->e->p + 1) * sizeof(double)))
        return DKM_OK;
    DKM_TRY(dkm_data_create_dense(ctx, m, pre->e->p, &stored->Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(stored->Z), &stored->norms));
out:
    return status;
}

static dkm_status visit_all(const dkm_preimage *pre, const dkm_candidate_visitor *visitor)
{
    return dkm_candidate_stream_visit(pre->e, pre->settings.stream, visitor);
}

static void keep_block(void *user, dkm_idx first, dkm_idx n, const double *Z, const double *norms)
{
    dkm_candidates *stored = user;
    dkm_idx p = dkm_data_cols(stored->Z);

    if (n == 0)
        return;
    memcpy(dkm_data_values(stored->Z) + first * p, Z, (size_t)(n * p) * sizeof *Z);
    memcpy(stored->norms + first, norms, (size_t)n * sizeof *norms);
}

static void add_range(void *user, dkm_idx first, dkm_idx n, const double *Z, const double *norms)
{
    (void)first;
    (void)Z;
    dkm_norm_range_add(user, n, norms);
}

typedef struct looker {
    dkm_topk_search *search;
    dkm_idx start; /* index of this rank's first candidate */
} looker;

static void look_at_block(void *user, dkm_idx first, dkm_idx n, const double *Z,
                          const double *norms)
{
    looker *l = user;

    dkm_topk_search_scan(l->search, l->start + first, n, Z, norms);
}

/* Coordinates of all candidates, stored where memory allows; else the range of their norms. Once. */
static dkm_status read_candidates(const dkm_preimage *pre, candidates_state *s)
{
    dkm_status status = DKM_OK;
    dkm_candidates stored = {0};
    dkm_norm_range range = dkm_norm_range_empty();

    DKM_TRY(open_stored(pre, &stored));
    DKM_TRY(visit_all(pre, stored.Z ? &(dkm_candidate_visitor){keep_block, &stored}
                                    : &(dkm_candidate_visitor){add_range, &range}));
    if (!stored.Z)
        dkm_norm_range_combine(pre->e->fitted.ctx, &range);
    s->range = range;
    s->ranged = !stored.Z;
    s->candidates = stored;
    stored = (dkm_candidates){0};
out:
    dkm_candidates_clear(&stored);
    return status;
}

static dkm_status search_stream(const dkm_preimage *pre, dkm_norm_range range, const dkm_data *Z,
                                dkm_idx top, dkm_idx *index, double *distance)
{
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_idx m = dkm_source_rows(pre->settings.stream);
    looker l = {.start = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx))};
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_topk_search_open(Z, top, range, &l.search));
    DKM_TRY(visit_all(pre, &(dkm_candidate_visitor){look_at_block, &l}));
    DKM_TRY(dkm_topk_search_finish(l.search, index, distance));
out:
    dkm_topk_search_close(&l.search);
    return status;
}

/* Whether a point is so near the mean that norms decide, to their last digits: those are compared over all
 * candidates (dkm_norm_range), so that none can be left out. Collective. */
static int has_faint(const dkm_preimage *pre, const dkm_data *Z)
{
    dkm_idx p = pre->e->p;
    double variance = 0;
    int faint = 0;

    for (dkm_idx k = 0; k < p; k++)
        variance += pre->e->values[k] / (double)dkm_data_rows(pre->e->fitted.X);
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++) {
        const double *z = dkm_data_values_const(Z) + i * p;
        double square = 0;
        for (dkm_idx k = 0; k < p; k++)
            square += z[k] * z[k];
        faint = faint || !(square > FAINT * variance);
    }
    MPI_Allreduce(MPI_IN_PLACE, &faint, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(dkm_data_ctx(Z)));
    return faint;
}

static dkm_local preimage_candidates_check(const dkm_preimage *pre)
{
    return pre->settings.approximate > 0 ? dkm_approximate_check(pre->e->fitted.ctx) : DKM_LOCAL_OK;
}

/* The candidates to choose from. */
static const dkm_data *objects_of(const dkm_preimage *pre)
{
    return pre->settings.candidates ? pre->settings.candidates : pre->e->fitted.X;
}

/* Most candidates are not looked at: those in far cells of an index. */
static dkm_status search_index(const dkm_preimage *pre, candidates_state *s, const dkm_data *Z,
                               dkm_idx top, dkm_idx *index, double *distance, dkm_search_info *info)
{
    dkm_status status = DKM_OK;
    dkm_candidate_pool pool = {.e = pre->e,
                               .stream = pre->settings.stream,
                               .objects = objects_of(pre),
                               .placed = &s->candidates};

    if (!s->index && dkm_data_rows(Z) > 0)
        DKM_TRY(
            dkm_approximate_search_open(&pool, Z, top, pre->settings.approximate, info, &s->index));
    if (s->index)
        DKM_TRY(dkm_approximate_search_run(s->index, Z, index, distance, info));
out:
    return status;
}

/* Most candidates are ruled out by a bound. */
static dkm_status search_pruned(const dkm_preimage *pre, const dkm_data *Z, dkm_idx top,
                                dkm_idx *index, double *distance, dkm_search_info *told)
{
    dkm_pruned_info info = {0};
    dkm_status status =
        dkm_pruned_search(pre->e, pre->settings.stream, Z, top, index, distance, &info);

    told->evaluated += info.evaluated;
    told->pivots = info.pivots;

    if (status == DKM_OK)
        dkm_log(pre->e->fitted.ctx, DKM_INFO,
                "%lld of %lld candidates evaluated, the others ruled out by %lld pivots",
                (long long)info.evaluated, (long long)info.candidates, (long long)info.pivots);
    return status;
}

/* Where the kernel has no bound: by coordinates of all candidates, stored or not. */
static dkm_status search_all(const dkm_preimage *pre, candidates_state *s, const dkm_data *Z,
                             dkm_idx top, dkm_idx *index, double *distance)
{
    dkm_status status = DKM_OK;

    if (!s->candidates.Z && !s->ranged)
        DKM_TRY(read_candidates(pre, s));
    if (s->candidates.Z)
        DKM_TRY(dkm_topk(Z, &s->candidates, top, index, distance));
    else
        DKM_TRY(search_stream(pre, s->range, Z, top, index, distance));
out:
    return status;
}

/* The objects chosen, of all ranks' points, from their file or from memory. */
static dkm_status read_chosen(const dkm_preimage *pre, dkm_idx n, dkm_idx own, const dkm_idx *index,
                              dkm_data **Y)
{
    dkm_ctx *ctx = pre->e->fitted.ctx;
    int size = dkm_ctx_size(ctx), *counts = NULL, *starts = NULL;
    dkm_status status = DKM_OK;
    dkm_idx *all = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &all));
    DKM_AGREE(ctx, dkm_alloc(ctx, size, &counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, size, &starts));
    for (int r = 0; r < size; r++) {
        counts[r] = (int)dkm_slab_count(n, r, size);
        starts[r] = (int)dkm_slab_first(n, r, size);
    }
    MPI_Allgatherv(index, (int)own, MPI_INT64_T, all, counts, starts, MPI_INT64_T,
                   dkm_ctx_comm(ctx));
    DKM_TRY(pre->settings.stream ? dkm_source_select(pre->settings.stream, n, all, Y)
                                 : dkm_data_select(objects_of(pre), n, all, Y));
out:
    DKM_FREE(starts);
    DKM_FREE(counts);
    DKM_FREE(all);
    return status;
}

static dkm_status preimage_candidates_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                                            const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    candidates_state *s = state;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_search_info unread = {0}, *info = pre->settings.info ? pre->settings.info : &unread;
    int approximate = pre->settings.approximate > 0;
    dkm_idx top = pre->settings.top > 0 ? pre->settings.top : 1;
    dkm_idx n = dkm_data_rows(Z), own = dkm_data_local_rows(Z), *index = NULL;
    double *distance = NULL;

    (void)X;
    if (pre->settings.top == 0 && !pre->settings.stream && !approximate)
        return dkm_topk_objects(Z, &s->candidates, objects_of(pre), NULL, Y);
    DKM_AGREE(ctx, dkm_alloc(ctx, own * top, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, own * top, &distance));
    info->searches++;
    info->candidates = pre->settings.stream ? dkm_source_rows(pre->settings.stream)
                                            : dkm_data_rows(objects_of(pre));
    if (approximate)
        DKM_TRY(search_index(pre, s, Z, top, index, distance, info));
    else if (pre->settings.stream && dkm_pruned_search_suits(pre->e) && !has_faint(pre, Z))
        DKM_TRY(search_pruned(pre, Z, top, index, distance, info));
    else
        DKM_TRY(search_all(pre, s, Z, top, index, distance));
    if (pre->settings.top > 0)
        DKM_TRY(dkm_candidates_list(ctx, n, top, index, distance, Y));
    else
        DKM_TRY(read_chosen(pre, n, own, index, Y));
out:
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

const dkm_preimage_kind dkm_preimage_candidates = {.method = DKM_PREIMAGE_CANDIDATES,
                                                   .takes = DKM_PREIMAGE_TAKES_CANDIDATES,
                                                   .state_size = sizeof(candidates_state),
                                                   .suits = preimage_candidates_accepts,
                                                   .check = preimage_candidates_check,
                                                   .prepare = preimage_candidates_prepare,
                                                   .solve = preimage_candidates_solve,
                                                   .clear = preimage_candidates_clear};
