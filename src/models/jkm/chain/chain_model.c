/* A chain as a model: label sequences of new inputs, and the parts of its file. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/jkm/chain/chain.h"
#include "models/registry/model_impl.h"

#define MOST_LABELS 100000 /* of dense rows */

void dkm_jkm_chain_destroy(void *state)
{
    dkm_jkm_chain *s = state;

    dkm_chain_map_clear(&s->map);
    DKM_FREE(s->w);
    DKM_FREE(s->kx);
    dkm_free_block(s);
}

/* The paths found as strings. */
static dkm_status write_strings(const dkm_chain *c, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_sequences *s = &c->sequences;
    dkm_idx *lengths = NULL;

    DKM_AGREE(c->ctx, dkm_alloc(c->ctx, s->count, &lengths));
    for (dkm_idx i = 0; i < s->count; i++)
        lengths[i] = s->start[i + 1] - s->start[i];
    DKM_TRY(dkm_data_create_strings(c->ctx, s->all, lengths, Y));
    for (dkm_idx i = 0; i < s->count; i++) {
        dkm_idx length;
        char *y = dkm_data_string(*Y, i, &length);
        for (dkm_idx t = 0; t < length; t++)
            y[t] = (char)(unsigned char)c->map->labels[c->path[s->start[i] + t]];
    }
out:
    DKM_FREE(lengths);
    return status;
}

/* The paths found as labels, one for each row of the input. */
static dkm_status write_labels(const dkm_chain *c, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx own = dkm_sequences_own(&c->sequences);
    double *labels = NULL;

    DKM_AGREE(c->ctx, dkm_alloc(c->ctx, own, &labels));
    for (dkm_idx t = 0; t < own; t++)
        labels[t] = c->map->labels[c->path[t]];
    DKM_TRY(dkm_data_create_labels(c->ctx, dkm_sequences_total(&c->sequences), Y));
    DKM_TRY(dkm_sequences_to_slab(&c->sequences, labels, dkm_data_values(*Y)));
out:
    DKM_FREE(labels);
    return status;
}

static dkm_local check_inputs(const dkm_jkm_chain *s, const dkm_data *X)
{
    if (dkm_data_type(X) != s->map.type)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "the model was trained on %s, the inputs are %s",
                        dkm_type_name(s->map.type), dkm_type_name(dkm_data_type(X)));
    if (s->map.type == DKM_DENSE && dkm_data_cols(X) != s->map.features + 1)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the model was trained on rows of %lld columns, with that of the sequence "
                        "numbers, the inputs have %lld",
                        (long long)s->map.features + 1, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

static dkm_status chain_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_jkm_chain *s = state;
    dkm_chain chain = {0};
    double *G = NULL;

    *Y = NULL;
    dkm_phase_begin(s->ctx, "predict");
    DKM_AGREE(s->ctx, check_inputs(s, X));
    DKM_TRY(dkm_chain_open(&chain, &s->map, X));
    memcpy(chain.w, s->w, (size_t)dkm_chain_map_size(&s->map) * sizeof *s->w);
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, dkm_sequences_own(&chain.sequences) * s->map.k, &G));
    dkm_chain_scores(&chain, G);
    dkm_chain_search(&chain, G, 0);
    DKM_TRY((s->map.output == DKM_STRINGS ? write_strings : write_labels)(&chain, Y));
out:
    dkm_phase_end(s->ctx);
    if (status != DKM_OK)
        dkm_data_destroy(Y);
    DKM_FREE(G);
    dkm_chain_close(&chain);
    return status;
}

/* Rows of a sequence stay together: all positions are one batch; strings are sequences. */
static dkm_idx chain_batch_rows(const void *state)
{
    const dkm_jkm_chain *s = state;

    return s->map.type == DKM_STRINGS ? 10000 * (dkm_idx)dkm_ctx_size(s->ctx) : (dkm_idx)1 << 40;
}

static dkm_local name_entries(dkm_jkm_chain *s, dkm_archive *archive, dkm_data **machine)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_chain_map *map = &s->map;

    DKM_STEP(dkm_archive_put_text(archive, "kx", s->kx));
    DKM_STEP(dkm_archive_put_real(archive, "C", s->C));
    DKM_STEP(dkm_archive_put_reals(archive, "labels", map->k, map->labels));
    DKM_STEP(dkm_archive_put_reals(archive, "transitions", map->k * map->k,
                                   s->w + map->features * map->k));
    if (map->type == DKM_STRINGS) {
        DKM_STEP(dkm_archive_put_real(archive, "window", (double)map->window));
        DKM_STEP(dkm_archive_put_reals(archive, "alphabet", map->letters, map->alphabet));
    } else {
        DKM_STEP(dkm_archive_put_real(archive, "sequence_column", (double)map->column));
    }
    DKM_STEP(dkm_archive_put_data(archive, "machine", machine));
out:
    return local;
}

static dkm_status chain_to_archive(void *state, dkm_archive *archive)
{
    dkm_status status = DKM_OK;
    dkm_jkm_chain *s = state;
    dkm_data *machine = NULL;

    DKM_TRY(dkm_data_create_dense(s->ctx, s->map.features, s->map.k, &machine));
    memcpy(dkm_data_values(machine), s->w + dkm_data_local_first(machine) * s->map.k,
           (size_t)(dkm_data_local_rows(machine) * s->map.k) * sizeof *s->w);
    DKM_AGREE(s->ctx, name_entries(s, archive, &machine));
out:
    dkm_data_destroy(&machine);
    return status;
}

/* Ascending whole numbers, of characters within a byte. */
static dkm_local check_ascending(const dkm_archive *archive, const char *name, dkm_idx count,
                                 const double *values, int bytes)
{
    for (dkm_idx j = 0; j < count; j++)
        if (!(floor(values[j]) == values[j] && fabs(values[j]) < 9e15) ||
            (bytes && !(values[j] >= 0 && values[j] < DKM_CHAIN_BYTES)) ||
            (j > 0 && !(values[j] > values[j - 1])))
            return dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                            "number %lld of '%s' is %g: ascending %s are wanted", (long long)j,
                            name, values[j], bytes ? "characters" : "labels");
    return DKM_LOCAL_OK;
}

static dkm_local read_inputs(dkm_jkm_chain *s, const dkm_archive *archive, dkm_idx rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_chain_map *map = &s->map;
    const double *alphabet = NULL;

    map->features = rows;
    if (!dkm_archive_find(archive, "window")) {
        map->type = DKM_DENSE;
        map->output = DKM_LABELS;
        DKM_STEP(dkm_archive_count(archive, "sequence_column", 0, rows, &map->column));
        goto out;
    }
    map->type = map->output = DKM_STRINGS;
    map->column = -1;
    DKM_STEP(dkm_archive_count(archive, "window", 1, DKM_CHAIN_WINDOW, &map->window));
    DKM_STEP(dkm_archive_reals(archive, "alphabet", &map->letters, &alphabet));
    if (map->letters < 1 || map->letters > DKM_CHAIN_BYTES || map->window % 2 == 0 ||
        rows != map->window * (map->letters + 1))
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT,
                          "a machine of %lld rows for windows of %lld characters of %lld",
                          (long long)rows, (long long)map->window, (long long)map->letters));
    DKM_STEP(check_ascending(archive, "alphabet", map->letters, alphabet, 1));
    memcpy(map->alphabet, alphabet, (size_t)map->letters * sizeof *alphabet);
out:
    return local;
}

static dkm_local read_entries(dkm_jkm_chain *s, dkm_archive *archive, dkm_data **machine)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_chain_map *map = &s->map;
    const double *labels = NULL, *transitions = NULL;
    const char *kx = "";
    dkm_idx k = 0;

    DKM_STEP(dkm_archive_text(archive, "kx", &kx));
    DKM_STEP(dkm_strdup(s->ctx, kx, &s->kx));
    DKM_STEP(dkm_archive_number(archive, "C", 0, HUGE_VAL, &s->C));
    DKM_STEP(dkm_archive_take_rows(archive, "machine", machine));
    DKM_STEP(read_inputs(s, archive, dkm_data_rows(*machine)));
    DKM_STEP(dkm_archive_reals(archive, "labels", &k, &labels));
    if (k < 1 || k > MOST_LABELS || k != dkm_data_cols(*machine))
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "a machine of %lld columns for %lld labels",
                          (long long)dkm_data_cols(*machine), (long long)k));
    DKM_STEP(check_ascending(archive, "labels", k, labels, map->output == DKM_STRINGS));
    DKM_STEP(dkm_archive_numbers(archive, "transitions", k * k, &transitions));
    DKM_STEP(dkm_alloc(s->ctx, k, &map->labels));
    map->k = k;
    memcpy(map->labels, labels, (size_t)k * sizeof *labels);
    DKM_STEP(dkm_alloc(s->ctx, dkm_chain_map_size(map), &s->w));
    memcpy(s->w + map->features * k, transitions, (size_t)(k * k) * sizeof *transitions);
out:
    return local;
}

static dkm_status chain_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                     void **state)
{
    dkm_status status = DKM_OK;
    dkm_data *machine = NULL;
    dkm_jkm_chain *s = NULL;

    (void)layout;
    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    DKM_AGREE(ctx, read_entries(s, archive, &machine));
    DKM_TRY(dkm_repro_gather(ctx, s->map.features, s->map.k, dkm_data_values_const(machine), 0,
                             s->map.features, s->w));
    *state = s;
    s = NULL;
out:
    dkm_data_destroy(&machine);
    if (s)
        dkm_jkm_chain_destroy(s);
    return status;
}

const dkm_model_class dkm_class_jkm_chain = {.name = "jkm-chain",
                                             .predict = chain_predict,
                                             .batch_rows = chain_batch_rows,
                                             .to_archive = chain_to_archive,
                                             .from_archive = chain_from_archive,
                                             .destroy = dkm_jkm_chain_destroy};
