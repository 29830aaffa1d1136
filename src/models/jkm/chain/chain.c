/* Scores and features of chains whose features are explicit, or were made so (emission.c).
 *
 * Cost per application, T positions, k labels, P ranks: windows of b characters 2 T b k / P flops,
 * dense rows 2 T d k / P, Viterbi 2 T k^2 / P; a difference of features 2 b or 4 d flops for each
 * position whose label is wrong. Nothing is sent. Per rank: its positions, T (1 + k) / P and the
 * rows. Replicated: the weight vector and the labels. */
#include "models/jkm/chain/chain.h"

#include <string.h>

#include "core/alloc.h"
#include "models/common/target_encoder.h"

dkm_idx dkm_chain_map_size(const dkm_chain_map *map)
{
    return (map->features + map->k) * map->k;
}

void dkm_chain_map_clear(dkm_chain_map *map)
{
    dkm_emission_close(&map->emission);
    DKM_FREE(map->labels);
}

void dkm_chain_close(dkm_chain *chain)
{
    dkm_sequences_close(&chain->sequences);
    dkm_viterbi_close(&chain->viterbi);
    DKM_FREE(chain->code);
    DKM_FREE(chain->table);
    DKM_FREE(chain->truth);
    DKM_FREE(chain->weight);
    DKM_FREE(chain->path);
    DKM_FREE(chain->w);
}

/* The place of a number among ascending ones; -1 where it is not there. */
static int32_t place_of(dkm_idx n, const double *sorted, double value)
{
    dkm_idx low = 0, high = n;

    while (low < high) {
        dkm_idx middle = (low + high) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sorted[low] == value ? (int32_t)low : -1;
}

static void encode_strings(dkm_chain *c)
{
    const dkm_chain_map *map = c->map;
    dkm_idx half = map->window / 2, at = 0;
    int32_t codes[DKM_CHAIN_BYTES];

    for (int byte = 0; byte < DKM_CHAIN_BYTES; byte++) {
        int32_t place = place_of(map->n_chars, map->alphabet, byte);
        codes[byte] = place >= 0 ? place : (int32_t)map->n_chars + 1;
    }
    for (dkm_idx i = 0; i < c->sequences.count; i++) {
        dkm_idx length;
        const char *x = dkm_data_string_const(c->sequences.X, i, &length);
        for (dkm_idx t = 0; t < half; t++)
            c->code[at++] = (int32_t)map->n_chars;
        for (dkm_idx t = 0; t < length; t++)
            c->code[at++] = codes[(unsigned char)x[t]];
        for (dkm_idx t = 0; t < half; t++)
            c->code[at++] = (int32_t)map->n_chars;
    }
}

dkm_local dkm_chain_allocate(dkm_chain *c)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_chain_map *map = c->map;
    dkm_idx own = dkm_sequences_own(&c->sequences), half = map->window / 2;

    DKM_STEP(dkm_alloc(c->ctx, own, &c->path));
    DKM_STEP(dkm_calloc(c->ctx, dkm_chain_map_size(map), &c->w));
    DKM_STEP(dkm_viterbi_open(&c->viterbi, c->ctx, map->k, c->sequences.longest));
    if (map->type != DKM_STRINGS || map->emission.fitted)
        goto out;
    DKM_STEP(dkm_alloc(c->ctx, own + 2 * half * c->sequences.count, &c->code));
    DKM_STEP(dkm_calloc(c->ctx, map->window * (map->n_chars + 2) * map->k, &c->table));
    encode_strings(c);
out:
    return local;
}

dkm_status dkm_chain_open(dkm_chain *chain, const dkm_chain_map *map, const dkm_data *X)
{
    dkm_status status = DKM_OK;

    *chain = (dkm_chain){.ctx = dkm_data_ctx(X), .map = map};
    DKM_TRY(dkm_sequences_open(&chain->sequences, X, map->column));
out:
    return status;
}

/* The bytes that strings have, ascending. Collective. */
static dkm_idx find_bytes(const dkm_data *data, double bytes[DKM_CHAIN_BYTES])
{
    char seen[DKM_CHAIN_BYTES] = {0};
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++) {
        dkm_idx length;
        const char *x = dkm_data_string_const(data, i, &length);
        for (dkm_idx t = 0; t < length; t++)
            seen[(unsigned char)x[t]] = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, seen, DKM_CHAIN_BYTES, MPI_SIGNED_CHAR, MPI_MAX,
                  dkm_ctx_comm(dkm_data_ctx(data)));
    for (int byte = 0; byte < DKM_CHAIN_BYTES; byte++)
        if (seen[byte])
            bytes[count++] = byte;
    return count;
}

static dkm_local check_lengths(const dkm_data *X, const dkm_data *Y)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        dkm_idx x, y;
        dkm_data_string_const(X, i, &x);
        dkm_data_string_const(Y, i, &y);
        if (x != y)
            return dkm_fail(dkm_data_ctx(X), DKM_ERR_ARG,
                            "example %lld has an input of %lld characters and an output of %lld: a "
                            "chain has a label for each position",
                            (long long)(dkm_data_local_first(X) + i), (long long)x, (long long)y);
    }
    return DKM_LOCAL_OK;
}

/* A character that no training input has, to stand beyond the ends; any where they have all. */
static char find_pad(const dkm_chain_map *map)
{
    const char *first = "-_.*#";

    for (; *first; first++)
        if (place_of(map->n_chars, map->alphabet, (unsigned char)*first) < 0)
            return *first;
    for (int byte = 1; byte < DKM_CHAIN_BYTES; byte++)
        if (place_of(map->n_chars, map->alphabet, byte) < 0)
            return (char)(unsigned char)byte;
    return '-';
}

static dkm_status learn_strings(dkm_chain_map *map, const dkm_data *X, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    double labels[DKM_CHAIN_BYTES];

    DKM_REQUIRE(ctx, dkm_data_type(Y) == DKM_STRINGS, DKM_ERR_UNSUPPORTED,
                "chains of strings have strings as outputs, a character for each position: these "
                "are %s",
                dkm_type_name(dkm_data_type(Y)));
    DKM_AGREE(ctx, check_lengths(X, Y));
    map->n_chars = find_bytes(X, map->alphabet);
    map->features = map->window * (map->n_chars + 1);
    map->pad = find_pad(map);
    map->k = find_bytes(Y, labels);
    DKM_AGREE(ctx, dkm_alloc(ctx, map->k, &map->labels));
    memcpy(map->labels, labels, (size_t)map->k * sizeof *labels);
out:
    return status;
}

static dkm_status learn_rows(dkm_chain_map *map, const dkm_data *X, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_target_encoder classes = {.ctx = ctx};

    DKM_REQUIRE(ctx, dkm_data_type(Y) == DKM_LABELS, DKM_ERR_UNSUPPORTED,
                "chains of dense rows have a label for each row: these outputs are %s",
                dkm_type_name(dkm_data_type(Y)));
    DKM_TRY(dkm_target_encoder_learn(&classes, Y));
    DKM_REQUIRE(ctx, classes.cols <= DKM_CHAIN_LABELS, DKM_ERR_UNSUPPORTED,
                "%lld different labels: chains have %d at most, a number for each pair of them",
                (long long)classes.cols, DKM_CHAIN_LABELS);
    map->features = dkm_data_cols(X) - 1;
    map->k = classes.cols;
    map->labels = classes.classes;
    classes.classes = NULL;
out:
    dkm_target_encoder_clear(&classes);
    return status;
}

dkm_status dkm_chain_learn(dkm_chain_map *map, const dkm_data *X, const dkm_data *Y)
{
    map->output = map->type == DKM_STRINGS ? DKM_STRINGS : DKM_LABELS;
    return map->type == DKM_STRINGS ? learn_strings(map, X, Y) : learn_rows(map, X, Y);
}

dkm_status dkm_chain_take_truth(dkm_chain *c, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    const dkm_chain_map *map = c->map;
    dkm_objs got = {0};
    dkm_idx at = 0;

    DKM_AGREE(c->ctx, dkm_alloc(c->ctx, dkm_sequences_own(&c->sequences), &c->truth));
    for (dkm_idx i = 0; map->output == DKM_STRINGS && i < c->sequences.count; i++) {
        dkm_idx length;
        const char *y = dkm_data_string_const(Y, i, &length);
        for (dkm_idx t = 0; t < length; t++)
            c->truth[at++] = place_of(map->k, map->labels, (unsigned char)y[t]);
    }
    if (map->output == DKM_LABELS) {
        DKM_TRY(dkm_sequences_fetch(&c->sequences, Y, &got));
        for (; at < got.n; at++)
            c->truth[at] = place_of(map->k, map->labels, got.values[at]);
    }
out:
    dkm_objs_clear(&got);
    return status;
}

/* Weights of the own sequences, from those of their positions. */
static dkm_local sequence_weights(dkm_chain *c, const double *of_positions)
{
    const dkm_sequences *s = &c->sequences;

    for (dkm_idx i = 0; i < s->count; i++) {
        c->weight[i] = of_positions[s->start[i]];
        for (dkm_idx t = s->start[i]; t < s->start[i + 1]; t++)
            if (of_positions[t] != c->weight[i])
                return dkm_fail(c->ctx, DKM_ERR_ARG,
                                "row %lld weighs %g, and its sequence began with %g: all rows of a "
                                "sequence have the same weight",
                                (long long)(s->first[dkm_ctx_rank(c->ctx)] + t), of_positions[t],
                                c->weight[i]);
    }
    return DKM_LOCAL_OK;
}

dkm_status dkm_chain_take_weights(dkm_chain *c, const dkm_data *weights)
{
    dkm_status status = DKM_OK;
    dkm_objs got = {0};

    if (!weights)
        return DKM_OK;
    DKM_AGREE(c->ctx, dkm_alloc(c->ctx, c->sequences.count, &c->weight));
    if (c->map->type == DKM_STRINGS) {
        memcpy(c->weight, dkm_data_values_const(weights),
               (size_t)c->sequences.count * sizeof *c->weight);
        goto out;
    }
    DKM_TRY(dkm_sequences_fetch(&c->sequences, weights, &got));
    DKM_AGREE(c->ctx, sequence_weights(c, got.values));
out:
    dkm_objs_clear(&got);
    return status;
}

/* Scores of windows: the weights of the code at each place, added up. */
static void score_windows(dkm_chain *c, double *G)
{
    const dkm_chain_map *map = c->map;
    dkm_idx k = map->k, width = (map->n_chars + 2) * k, at = 0;

    for (dkm_idx o = 0; o < map->window; o++)
        memcpy(c->table + o * width, c->w + o * (map->n_chars + 1) * k,
               (size_t)((map->n_chars + 1) * k) * sizeof *c->w);
    for (dkm_idx i = 0; i < c->sequences.count; i++, at += map->window - 1)
        for (dkm_idx t = c->sequences.start[i]; t < c->sequences.start[i + 1]; t++, at++) {
            double *g = G + t * k;
            memset(g, 0, (size_t)k * sizeof *g);
            for (dkm_idx o = 0; o < map->window; o++) {
                const double *w = c->table + o * width + c->code[at + o] * k;
                for (dkm_idx j = 0; j < k; j++)
                    g[j] += w[j];
            }
        }
}

void dkm_chain_scores(dkm_chain *c, double *G)
{
    const dkm_chain_map *map = c->map;
    dkm_idx own = dkm_sequences_own(&c->sequences);

    if (c->code)
        score_windows(c, G);
    else if (own > 0)
        dkm_repro_gemm(own, map->k, map->features, 1.0,
                       (dkm_row_block){c->sequences.rows, map->features},
                       (dkm_row_block){c->w, map->k}, 0.0, G);
    dkm_phase_flops(c->ctx, 2.0 * (double)own * (double)map->k *
                                (double)(c->code ? map->window : map->features));
}

static void add_emission(const dkm_chain *c, dkm_idx t, const int32_t *code, double weight,
                         dkm_twosum *sums)
{
    const dkm_chain_map *map = c->map;
    dkm_idx k = map->k, right = c->truth[t], wrong = c->path[t];

    for (dkm_idx o = 0; code && o < map->window; o++) {
        dkm_twosum *at = sums + (o * (map->n_chars + 1) + code[o]) * k;
        dkm_twosum_add(&at[right], weight);
        dkm_twosum_add(&at[wrong], -weight);
    }
    for (dkm_idx f = 0; !code && f < map->features; f++) {
        double x = weight * c->sequences.rows[t * map->features + f];
        dkm_twosum_add(&sums[f * k + right], x);
        dkm_twosum_add(&sums[f * k + wrong], -x);
    }
}

void dkm_chain_add_difference(const dkm_chain *c, dkm_twosum *sums)
{
    const dkm_chain_map *map = c->map;
    const dkm_sequences *s = &c->sequences;
    const int32_t *y = c->truth, *p = c->path;
    dkm_twosum *transitions = sums + map->features * map->k;
    dkm_idx at = 0;

    for (dkm_idx i = 0; i < s->count; i++, at += c->code ? map->window - 1 : 0) {
        double weight = dkm_chain_weight(c, i);
        for (dkm_idx t = s->start[i]; t < s->start[i + 1]; t++, at++) {
            if (y[t] != p[t])
                add_emission(c, t, c->code ? c->code + at : NULL, weight, sums);
            if (t == s->start[i] || (y[t] == p[t] && y[t - 1] == p[t - 1]))
                continue;
            dkm_twosum_add(&transitions[y[t - 1] * map->k + y[t]], weight);
            dkm_twosum_add(&transitions[p[t - 1] * map->k + p[t]], -weight);
        }
    }
}

void dkm_chain_search(dkm_chain *c, const double *G, int loss)
{
    const dkm_idx *start = c->sequences.start;
    const double *transitions = c->w + c->map->features * c->map->k;

    for (dkm_idx i = 0; i < c->sequences.count; i++)
        dkm_viterbi_search(&c->viterbi, start[i + 1] - start[i], G + start[i] * c->map->k,
                           transitions, loss ? c->truth + start[i] : NULL, c->path + start[i]);
    dkm_phase_flops(c->ctx, 2.0 * (double)start[c->sequences.count] * (double)c->map->k *
                                (double)c->map->k);
}

double dkm_chain_violation(const dkm_chain *c, const double *G, dkm_idx sequence)
{
    dkm_idx k = c->map->k, from = c->sequences.start[sequence];
    const double *transitions = c->w + c->map->features * k;
    const int32_t *y = c->truth, *p = c->path;
    double sum = 0;

    for (dkm_idx t = from; t < c->sequences.start[sequence + 1]; t++) {
        if (y[t] != p[t])
            sum += 1 + (G[t * k + p[t]] - G[t * k + y[t]]);
        if (t > from && (y[t] != p[t] || y[t - 1] != p[t - 1]))
            sum += transitions[p[t - 1] * k + p[t]] - transitions[y[t - 1] * k + y[t]];
    }
    return sum;
}
