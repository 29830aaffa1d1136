/* Coordinate descent on the leave-one-out error of nearest neighbors under a weighted Hamming
 * distance (cf. Wettschereck, Aha and Mohri 1997, Artificial Intelligence Review 11:273-314, on
 * weights of features for lazy learners). Weights are powers of two.
 * A pass tries to double and to halve each of them, all at once, and takes the change after which
 * fewest characters are wrong; it ends when none helps.
 *
 * Up to QUERIES characters of training outputs, evenly spaced, are found anew from the characters of
 * all other strings. Outputs that are longer or shorter than their inputs keep their own lengths.
 *
 * Cost per pass, N characters of all outputs, w of a window: QUERIES N (w / 8 + 2 w) / ranks
 * operations. Strings pass by in chunks; per rank: 2 w k voters for each of its queries. */
#include "preimage/strings/window_weights.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/object_hash.h"
#include "preimage/strings/char_voters.h"
#include "preimage/strings/context_windows.h"

#define QUERIES  2000
#define CHUNK    512
#define PASSES   60
#define FARTHEST 6 /* powers of two from 1 that a weight may be */

/* Characters that are to be found. */
typedef struct search {
    dkm_ctx *ctx;
    const dkm_data *X, *Y;
    dkm_idx width, k, trials;
    dkm_context_windows windows; /* of this rank's training strings */
    dkm_idx count;               /* queries of this rank */
    dkm_idx *string, *position;  /* count: own string of each, and its character there */
    uint64_t *id;                /* count: hash of the input */
    double *table;               /* words x 256 x trials */
    double *last;                /* count x trials: distance of the k-th voter */
    double *distance;            /* trials: work */
    dkm_char_voter *voters;      /* count x trials x k */
    long long all;               /* queries of all ranks */
} search;

static void search_close(search *s)
{
    dkm_context_windows_close(&s->windows);
    DKM_FREE(s->string);
    DKM_FREE(s->position);
    DKM_FREE(s->id);
    DKM_FREE(s->table);
    DKM_FREE(s->last);
    DKM_FREE(s->distance);
    DKM_FREE(s->voters);
}

/* Whether a character, one of @p total, is one of the evenly spaced queries. */
static int is_query(dkm_idx character, dkm_idx total)
{
    return total <= QUERIES || (character + 1) * QUERIES / total > character * QUERIES / total;
}

/* The queries among this rank's characters, the first of which is @p first of @p total. */
static dkm_local list_queries(search *s, dkm_idx first, dkm_idx total)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_objs *x = &s->X->mine;
    dkm_idx characters = s->windows.start[s->windows.n];

    for (dkm_idx c = 0; c < characters; c++)
        s->count += is_query(first + c, total);
    DKM_STEP(dkm_alloc(s->ctx, s->count, &s->string));
    DKM_STEP(dkm_alloc(s->ctx, s->count, &s->position));
    DKM_STEP(dkm_alloc(s->ctx, s->count, &s->id));
    DKM_STEP(dkm_alloc(s->ctx, s->windows.words * 256 * s->trials, &s->table));
    DKM_STEP(dkm_alloc(s->ctx, s->count * s->trials, &s->last));
    DKM_STEP(dkm_alloc(s->ctx, s->trials, &s->distance));
    DKM_STEP(dkm_alloc(s->ctx, s->count * s->trials * s->k, &s->voters));
    s->count = 0;
    for (dkm_idx i = 0; i < s->windows.n; i++)
        for (dkm_idx c = s->windows.start[i]; c < s->windows.start[i + 1]; c++)
            if (is_query(first + c, total)) {
                s->string[s->count] = i;
                s->position[s->count] = c;
                s->id[s->count++] =
                    dkm_hash_bytes(x->bytes + x->start[i], x->start[i + 1] - x->start[i]);
            }
out:
    return local;
}

static dkm_status search_open(search *s)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(s->X), *own = NULL;
    long long characters = 0, first = 0;
    dkm_objs y = {0};

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n, &own));
    for (dkm_idx i = 0; i < n; i++)
        own[i] = dkm_data_local_first(s->X) + i;
    DKM_TRY(dkm_data_fetch(s->Y, n, own, &y));
    DKM_AGREE(s->ctx, dkm_context_windows_open(&s->windows, &s->X->mine, &y, NULL, s->width));
    characters = s->windows.start[n];
    MPI_Exscan(&characters, &first, 1, MPI_LONG_LONG, MPI_SUM, dkm_ctx_comm(s->ctx));
    if (dkm_ctx_rank(s->ctx) == 0)
        first = 0;
    MPI_Allreduce(MPI_IN_PLACE, &characters, 1, MPI_LONG_LONG, MPI_SUM, dkm_ctx_comm(s->ctx));
    DKM_AGREE(s->ctx, list_queries(s, (dkm_idx)first, (dkm_idx)characters));
    s->all = s->count;
    MPI_Allreduce(MPI_IN_PLACE, &s->all, 1, MPI_LONG_LONG, MPI_SUM, dkm_ctx_comm(s->ctx));
out:
    dkm_objs_clear(&y);
    DKM_FREE(own);
    return status;
}

/* A character of training string @p example, for all trials of a query. */
static void meet(search *s, dkm_idx query, const dkm_context_windows *w, dkm_idx example,
                 dkm_idx string, dkm_idx character)
{
    dkm_idx T = s->trials, words = w->words;
    const uint64_t *a = s->windows.window + s->position[query] * words;
    const uint64_t *b = w->window + character * words;
    double *last = s->last + query * T, *distance = s->distance;

    memcpy(distance, s->table + dkm_context_windows_mask(a[0], b[0]) * T,
           (size_t)T * sizeof *distance);
    for (dkm_idx k = 1; k < words; k++) {
        const double *more = s->table + (256 * k + dkm_context_windows_mask(a[k], b[k])) * T;
        for (dkm_idx t = 0; t < T; t++)
            distance[t] += more[t];
    }
    for (dkm_idx t = 0; t < T; t++) {
        dkm_char_voter *list = s->voters + (query * T + t) * s->k;
        if (distance[t] > last[t])
            continue;
        dkm_char_voters_insert(
            list, s->k,
            (dkm_char_voter){
                distance[t],
                dkm_char_voters_tie(dkm_ctx_seed(s->ctx), s->id[query],
                                    s->position[query] - s->windows.start[s->string[query]],
                                    example, character - w->start[string]),
                w->letter[character]});
        last[t] = list[s->k - 1].distance;
    }
}

/* All queries against training strings [first, first + count). */
static dkm_status meet_chunk(search *s, dkm_idx first, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_idx indices[CHUNK], own = dkm_data_local_first(s->X);
    dkm_context_windows w = {0};
    dkm_objs x = {0}, y = {0};

    for (dkm_idx i = 0; i < count; i++)
        indices[i] = first + i;
    DKM_TRY(dkm_data_fetch(s->X, count, indices, &x));
    DKM_TRY(dkm_data_fetch(s->Y, count, indices, &y));
    DKM_AGREE(s->ctx, dkm_context_windows_open(&w, &x, &y, NULL, s->width));
    for (dkm_idx q = 0; q < s->count; q++)
        for (dkm_idx i = 0; i < count; i++)
            for (dkm_idx c = w.start[i]; first + i != own + s->string[q] && c < w.start[i + 1]; c++)
                meet(s, q, &w, first + i, i, c);
out:
    dkm_context_windows_close(&w);
    dkm_objs_clear(&y);
    dkm_objs_clear(&x);
    return status;
}

/* How many queries are wrong by each trial's weights, over all ranks. */
static dkm_status count_wrong(search *s, const double *weights, long long *wrong)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(s->X), T = s->trials;

    for (dkm_idx t = 0; t < T; t++)
        dkm_context_windows_table(s->width, weights + t * s->width, T, s->table + t);
    dkm_char_voters_clear(s->voters, s->count * T * s->k);
    for (dkm_idx q = 0; q < s->count * T; q++)
        s->last[q] = INFINITY;
    for (dkm_idx first = 0; first < m; first += CHUNK)
        DKM_TRY(meet_chunk(s, first, m - first < CHUNK ? m - first : CHUNK));
    memset(wrong, 0, (size_t)T * sizeof *wrong);
    for (dkm_idx q = 0; q < s->count; q++)
        for (dkm_idx t = 0; t < T; t++)
            wrong[t] += dkm_char_voters_elect(s->voters + (q * T + t) * s->k, s->k) !=
                        s->windows.letter[s->position[q]];
    MPI_Allreduce(MPI_IN_PLACE, wrong, (int)T, MPI_LONG_LONG, MPI_SUM, dkm_ctx_comm(s->ctx));
out:
    return status;
}

/* The weights themselves, and each doubled and halved as far as it may be. */
static void make_trials(dkm_idx width, const double *now, double *trials)
{
    for (dkm_idx t = 0; t < 2 * width + 1; t++) {
        double *w = trials + t * width;
        memcpy(w, now, (size_t)width * sizeof *w);
        if (t > 0)
            w[(t - 1) / 2] = fmin(ldexp(1, FARTHEST),
                                  fmax(ldexp(1, -FARTHEST), w[(t - 1) / 2] * (t % 2 ? 2 : 0.5)));
    }
}

static void report(const search *s, dkm_idx passes, long long before, long long after)
{
    dkm_log(s->ctx, DKM_INFO,
            "weights of %lld places of the window after %lld passes: %.4f of %lld characters left "
            "out are wrong, %.4f with equal weights",
            (long long)s->width, (long long)passes, (double)after / (double)s->all, s->all,
            (double)before / (double)s->all);
}

dkm_status dkm_window_weights_choose(const dkm_data *X, const dkm_data *Y, dkm_idx width, dkm_idx k,
                                     double *weights)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    search s = {.ctx = ctx, .X = X, .Y = Y, .width = width, .k = k, .trials = 2 * width + 1};
    double *trials = NULL, sum = 0;
    long long *wrong = NULL, before = 0, now = 0;
    dkm_idx passes = 0, best = 1;

    DKM_AGREE(ctx, dkm_alloc(ctx, s.trials * width, &trials));
    DKM_AGREE(ctx, dkm_alloc(ctx, s.trials, &wrong));
    DKM_TRY(search_open(&s));
    for (dkm_idx p = 0; p < width; p++)
        weights[p] = 1;
    for (; best > 0 && passes < PASSES; passes++) {
        make_trials(width, weights, trials);
        DKM_TRY(count_wrong(&s, trials, wrong));
        best = 0;
        for (dkm_idx t = 1; t < s.trials; t++)
            best = wrong[t] < wrong[best] ? t : best;
        memcpy(weights, trials + best * width, (size_t)width * sizeof *weights);
        before = passes == 0 ? wrong[0] : before;
        now = wrong[best];
    }
    if (s.all > 0)
        report(&s, passes, before, now);
    for (dkm_idx p = 0; p < width; p++)
        sum += weights[p];
    for (dkm_idx p = 0; p < width; p++)
        weights[p] *= (double)width / sum;
out:
    search_close(&s);
    DKM_FREE(wrong);
    DKM_FREE(trials);
    return status;
}
