/* A string is found character by character. Every character of a training output is an example: the
 * coordinates of the full output and the window on the input around the character go with it. The
 * k nearest of them vote, by the distance
 *   ||z - z_i||^2 + 2 sum of w_p over the places p of the windows that differ,
 * w_p = 1 or chosen by leave-one-out (window_weights.c). Ties are nearly universal: they are broken at
 * random, by the seed. The length is that of the input and what the outputs of the k nearest strings
 * have more than their inputs.
 *
 * Training strings pass by in chunks on every rank; points stay where they are.
 *
 * Cost per character: one comparison of a window, eight characters at a time, with every
 * character of the training outputs whose string is near enough. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/object_hash.h"
#include "linalg/backend/blas.h"
#include "preimage/preimage.h"
#include "preimage/strings/char_voters.h"
#include "preimage/strings/context_windows.h"
#include "preimage/strings/preimage_char_classifier.h"
#include "preimage/strings/window_weights.h"

#define CHUNK  512
#define VOTERS 5
#define WIDTH  3
#define GRAIN  0x1.0p-30 /* of distances, relative to their size: what is nearer is a tie */

typedef struct strings_state {
    dkm_candidates training; /* coordinates, with norms of those alone */
    double *longer;          /* how much each training output is longer than its input, m */
    double *table;           /* of weighted differences, see context_windows.h */
    dkm_char_classifier classifier;
} strings_state;

static void preimage_string_knn_clear(void *state)
{
    strings_state *s = state;

    dkm_candidates_clear(&s->training);
    DKM_FREE(s->longer);
    DKM_FREE(s->table);
    dkm_char_classifier_close(&s->classifier);
}

/* What is known of this rank's points. */
typedef struct decoding {
    const dkm_preimage *pre;
    const strings_state *state;
    const dkm_data *X, *Z;
    dkm_context_windows windows;
    uint64_t *id;           /* of each string, by which its ties are broken */
    dkm_char_voter *voters; /* k for each character, nearest first */
    dkm_idx k;
    double grain;
} decoding;

/* A chunk of training strings, the same on every rank. */
typedef struct examples {
    dkm_idx first;
    dkm_objs z, x, y;
    dkm_context_windows windows;
    double *distance; /* strings of the chunk for each point */
} examples;

static int preimage_string_knn_accepts(const dkm_embedding *e)
{
    return dkm_data_type(e->fitted.X) == DKM_STRINGS && e->inputs &&
           dkm_data_type(e->inputs) == DKM_STRINGS;
}

static dkm_idx voters_of(const dkm_preimage *pre)
{
    return pre->settings.neighbors > 0 ? pre->settings.neighbors : VOTERS;
}

static dkm_idx window_of(const dkm_preimage *pre)
{
    return pre->settings.window > 0 ? pre->settings.window : WIDTH;
}

/* How much longer each training output is than its input, on every rank. */
static dkm_status find_gaps(const dkm_preimage *pre, strings_state *s)
{
    dkm_status status = DKM_OK;
    const dkm_data *X = pre->e->inputs, *Y = pre->e->fitted.X;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_idx m = dkm_data_rows(X), first = dkm_data_local_first(X), *own = NULL;
    dkm_objs y = {0};

    DKM_AGREE(ctx, dkm_calloc(ctx, m, &s->longer));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &own));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        own[i] = first + i;
    DKM_TRY(dkm_data_fetch(Y, dkm_data_local_rows(X), own, &y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        dkm_idx input, output;
        dkm_data_string_const(X, i, &input);
        dkm_context_windows_output(y.bytes + y.start[i], y.start[i + 1] - y.start[i], &output);
        s->longer[first + i] = (double)(output - input);
    }
    MPI_Allreduce(MPI_IN_PLACE, s->longer, (int)m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
out:
    dkm_objs_clear(&y);
    DKM_FREE(own);
    return status;
}

static double preimage_string_knn_square(const double *z, dkm_idx p)
{
    double sum = 0;

    for (dkm_idx j = 0; j < p; j++)
        sum += z[j] * z[j];
    return sum;
}

/* What differences of windows weigh. */
static dkm_status open_table(const dkm_preimage *pre, strings_state *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_idx width = window_of(pre);
    double *weights = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, (width + 7) / 8 * 256, &s->table));
    DKM_AGREE(ctx, dkm_alloc(ctx, width, &weights));
    if (pre->settings.window_weights == DKM_WINDOW_WEIGHTS_LOO)
        DKM_TRY(dkm_window_weights_choose(pre->e->inputs, pre->e->fitted.X, width, voters_of(pre),
                                          weights));
    dkm_context_windows_table(
        width, pre->settings.window_weights == DKM_WINDOW_WEIGHTS_LOO ? weights : NULL, 1,
        s->table);
out:
    DKM_FREE(weights);
    return status;
}

/* Distances are between coordinates alone: what an output has outside of them is not known. */
static dkm_status preimage_string_knn_prepare(const dkm_preimage *pre, void *state)
{
    dkm_status status = DKM_OK;
    strings_state *s = state;

    DKM_TRY(dkm_preimage_training(pre, &s->training));
    for (dkm_idx i = 0; i < dkm_data_local_rows(s->training.Z); i++)
        s->training.norms[i] = preimage_string_knn_square(
            dkm_data_values_const(s->training.Z) + i * pre->e->p, pre->e->p);
    DKM_TRY(find_gaps(pre, s));
    if (pre->settings.kz)
        DKM_TRY(dkm_char_classifier_learn(&s->classifier, pre, window_of(pre), s->training.Z,
                                          s->longer));
    else
        DKM_TRY(open_table(pre, s));
out:
    return status;
}

/* Lengths of the outputs of this rank's points. */
static dkm_status find_lengths(const dkm_preimage *pre, const strings_state *s, const dkm_data *X,
                               const dkm_data *Z, dkm_idx *lengths)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Z);
    dkm_idx m = dkm_data_rows(pre->e->inputs), n = dkm_data_local_rows(Z), *index = NULL;
    dkm_idx k = voters_of(pre) < m ? voters_of(pre) : m;
    double *distance = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * k, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * k, &distance));
    DKM_TRY(dkm_topk(Z, &s->training, k, index, distance));
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx input;
        double more = 0;
        dkm_data_string_const(X, i, &input);
        for (dkm_idx j = 0; j < k; j++)
            more += index[i * k + j] < m ? s->longer[index[i * k + j]] / (double)k : 0.0;
        lengths[i] = (dkm_idx)fmax(0.0, rint((double)input + more));
    }
out:
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

static dkm_local open_decoding(decoding *s, const dkm_idx *lengths)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_data_ctx(s->Z);
    const dkm_objs *X = &s->X->mine;
    dkm_idx letters;

    s->k = voters_of(s->pre);
    DKM_STEP(dkm_context_windows_open(&s->windows, X, NULL, lengths, window_of(s->pre)));
    letters = s->windows.start[s->windows.n];
    DKM_STEP(dkm_alloc(ctx, X->n, &s->id));
    DKM_STEP(dkm_alloc(ctx, letters * s->k, &s->voters));
    for (dkm_idx i = 0; i < X->n; i++)
        s->id[i] = dkm_hash_bytes(X->bytes + X->start[i], X->start[i + 1] - X->start[i]);
    dkm_char_voters_clear(s->voters, letters * s->k);
out:
    return local;
}

static void close_decoding(decoding *s)
{
    dkm_context_windows_close(&s->windows);
    DKM_FREE(s->id);
    DKM_FREE(s->voters);
}

/* The grain of distances, the same on every rank. */
static double find_grain(const dkm_candidates *training)
{
    double size[2] = {0, 0};

    for (dkm_idx i = 0; i < dkm_data_local_rows(training->Z); i++)
        size[0] += training->norms[i];
    size[1] = (double)dkm_data_local_rows(training->Z);
    MPI_Allreduce(MPI_IN_PLACE, size, 2, MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(dkm_data_ctx(training->Z)));
    return exp2(floor(log2(size[0] / size[1]))) * GRAIN;
}

/* All characters of training string i, at @p far from point t, want to be among the voters of t's.
 */
static void preimage_string_knn_inner(decoding *s, dkm_idx t, const examples *c, dkm_idx i,
                                      double far)
{
    const dkm_context_windows *a = &s->windows, *b = &c->windows;
    uint64_t seed = dkm_ctx_seed(s->pre->e->fitted.ctx);

    for (dkm_idx p = a->start[t]; p < a->start[t + 1]; p++) {
        dkm_char_voter *list = s->voters + p * s->k;
        for (dkm_idx q = b->start[i]; far <= list[s->k - 1].distance && q < b->start[i + 1]; q++) {
            dkm_char_voter v = {far, 0, b->letter[q]};
            v.distance += 2.0 * dkm_context_windows_distance(a->window + p * a->words,
                                                             b->window + q * b->words, a->words,
                                                             s->state->table);
            if (v.distance > list[s->k - 1].distance)
                continue;
            v.tie =
                dkm_char_voters_tie(seed, s->id[t], p - a->start[t], c->first + i, q - b->start[i]);
            dkm_char_voters_insert(list, s->k, v);
        }
    }
}

static dkm_status fetch_examples(decoding *s, dkm_idx first, dkm_idx count, examples *c)
{
    dkm_status status = DKM_OK;
    const dkm_preimage *pre = s->pre;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_idx indices[CHUNK];

    *c = (examples){.first = first};
    for (dkm_idx i = 0; i < count; i++)
        indices[i] = first + i;
    DKM_TRY(dkm_data_fetch(s->state->training.Z, count, indices, &c->z));
    DKM_TRY(dkm_data_fetch(pre->e->inputs, count, indices, &c->x));
    DKM_TRY(dkm_data_fetch(pre->e->fitted.X, count, indices, &c->y));
    DKM_AGREE(ctx, dkm_context_windows_open(&c->windows, &c->x, &c->y, NULL, window_of(pre)));
    DKM_AGREE(ctx, dkm_alloc(ctx, count * dkm_data_local_rows(s->Z), &c->distance));
out:
    return status;
}

static void clear_examples(examples *c)
{
    DKM_FREE(c->distance);
    dkm_context_windows_close(&c->windows);
    dkm_objs_clear(&c->y);
    dkm_objs_clear(&c->x);
    dkm_objs_clear(&c->z);
}

/* All points of this rank against a chunk. */
static void preimage_string_knn_meet_all(decoding *s, examples *c)
{
    dkm_idx n = dkm_data_local_rows(s->Z), count = c->z.n, p = s->pre->e->p;
    const double *Z = dkm_data_values_const(s->Z);

    dkm_blas_gemm(DKM_F64, 'T', 'N', count, n, p, -2.0, c->z.values, p, Z, p, 0.0, c->distance,
                  count);
    for (dkm_idx t = 0; t < n; t++) {
        double own = preimage_string_knn_square(Z + t * p, p);
        for (dkm_idx i = 0; i < count; i++) {
            double far = c->distance[t * count + i] + own +
                         preimage_string_knn_square(c->z.values + i * p, p);
            preimage_string_knn_inner(s, t, c, i, s->grain * rint(fmax(0.0, far) / s->grain));
        }
    }
}

static dkm_status decode_all(decoding *s, dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(s->pre->e->inputs);
    examples c = {0};

    s->grain = find_grain(&s->state->training);
    for (dkm_idx first = 0; first < m; first += CHUNK) {
        DKM_TRY(fetch_examples(s, first, m - first < CHUNK ? m - first : CHUNK, &c));
        preimage_string_knn_meet_all(s, &c);
        clear_examples(&c);
    }
    for (dkm_idx t = 0; t < s->windows.n; t++) {
        dkm_idx length;
        char *letters = dkm_data_string(Y, t, &length);
        for (dkm_idx p = 0; p < length; p++)
            letters[p] = dkm_char_voters_elect(s->voters + (s->windows.start[t] + p) * s->k, s->k);
    }
out:
    clear_examples(&c);
    return status;
}

static dkm_local preimage_string_knn_check_inputs(const dkm_preimage *pre, const dkm_data *X)
{
    if (X)
        return DKM_LOCAL_OK;
    return dkm_fail(pre->e->fitted.ctx, DKM_ERR_UNSUPPORTED,
                    "the pre-image method strings looks at the inputs: use predict, not decode");
}

static dkm_status preimage_string_knn_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                                            const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_idx *lengths = NULL;
    dkm_data *found = NULL;
    strings_state *known = state;
    decoding s = {.pre = pre, .state = known, .X = X, .Z = Z};

    DKM_AGREE(ctx, preimage_string_knn_check_inputs(pre, X));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(Z), &lengths));
    DKM_TRY(find_lengths(pre, known, X, Z, lengths));
    DKM_TRY(dkm_data_create_strings(ctx, dkm_data_rows(Z), lengths, &found));
    if (pre->settings.kz) {
        DKM_TRY(dkm_char_classifier_fill(&known->classifier, X, Z, found));
    } else {
        DKM_AGREE(ctx, open_decoding(&s, lengths));
        DKM_TRY(decode_all(&s, found));
    }
    *Y = found;
    found = NULL;
out:
    close_decoding(&s);
    dkm_data_destroy(&found);
    DKM_FREE(lengths);
    return status;
}

const dkm_preimage_kind dkm_preimage_strings = {
    .method = DKM_PREIMAGE_STRINGS,
    .takes = DKM_PREIMAGE_TAKES_NEIGHBORS | DKM_PREIMAGE_TAKES_WINDOW | DKM_PREIMAGE_TAKES_KERNEL,
    .state_size = sizeof(strings_state),
    .suits = preimage_string_knn_accepts,
    .prepare = preimage_string_knn_prepare,
    .solve = preimage_string_knn_solve,
    .clear = preimage_string_knn_clear};
