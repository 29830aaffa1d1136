/* A chain as a model: label sequences of new inputs, and the parts of its file. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/jkm/chain/chain.h"
#include "models/registry/model_impl.h"

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
    dkm_objs labels = {0};

    DKM_AGREE(c->ctx, dkm_objs_init(&labels, c->ctx, DKM_LABELS, own, 1, 0));
    for (dkm_idx t = 0; t < own; t++)
        labels.values[t] = c->map->labels[c->path[t]];
    DKM_TRY(dkm_sequences_to_slabs(&c->sequences, &labels, Y));
out:
    dkm_objs_clear(&labels);
    return status;
}

static dkm_idx columns_of(const dkm_jkm_chain *s)
{
    const dkm_emission *emission = &s->map.emission;

    return emission->fitted ? dkm_data_cols(emission->e.fitted.X) : s->map.features;
}

static dkm_local check_inputs(const dkm_jkm_chain *s, const dkm_data *X)
{
    if (dkm_data_type(X) != s->map.type)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "the model was trained on %s, the inputs are %s",
                        dkm_type_name(s->map.type), dkm_type_name(dkm_data_type(X)));
    if (s->map.type == DKM_DENSE && dkm_data_cols(X) != columns_of(s) + 1)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the model was trained on rows of %lld columns, with that of the sequence "
                        "numbers, the inputs have %lld",
                        (long long)columns_of(s) + 1, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

/* Scores of the own positions by the kernel values of landmarks. */
static dkm_status emission_scores(dkm_jkm_chain *s, const dkm_chain *chain, double *G)
{
    dkm_status status = DKM_OK;
    const dkm_chain_map *map = &s->map;
    dkm_data *positions = NULL, *scores = NULL;
    dkm_objs own = {0};

    DKM_TRY(
        dkm_emission_positions(&chain->sequences, map->window, map->pad, map->column, &positions));
    DKM_TRY(dkm_emission_scores(&s->map.emission, positions, &scores));
    DKM_TRY(dkm_sequences_fetch(&chain->sequences, scores, &own));
    memcpy(G, own.values, (size_t)(own.n * map->k) * sizeof *G);
out:
    dkm_objs_clear(&own);
    dkm_data_destroy(&scores);
    dkm_data_destroy(&positions);
    return status;
}

dkm_status dkm_jkm_chain_score(dkm_jkm_chain *s, const dkm_data *X, dkm_chain *chain, double **G)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(s->ctx, check_inputs(s, X));
    DKM_TRY(dkm_chain_open(chain, &s->map, X));
    DKM_AGREE(s->ctx, dkm_chain_allocate(chain));
    memcpy(chain->w, s->w, (size_t)dkm_chain_map_size(&s->map) * sizeof *s->w);
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, dkm_sequences_own(&chain->sequences) * s->map.k, G));
    if (s->map.emission.fitted)
        DKM_TRY(emission_scores(s, chain, *G));
    else
        dkm_chain_scores(chain, *G);
out:
    return status;
}

static dkm_status chain_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_jkm_chain *s = state;
    dkm_chain chain = {0};
    double *G = NULL;

    *Y = NULL;
    dkm_phase_begin(s->ctx, "predict");
    DKM_TRY(dkm_jkm_chain_score(s, X, &chain, &G));
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

static dkm_local name_entries(dkm_jkm_chain *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_chain_map *map = &s->map;

    DKM_STEP(dkm_archive_put_text(archive, "kx", s->kx));
    DKM_STEP(dkm_archive_put_real(archive, "C", s->C));
    DKM_STEP(dkm_archive_put_reals(archive, "labels", map->k, map->labels));
    DKM_STEP(dkm_archive_put_reals(archive, "transitions", map->k * map->k,
                                   s->w + map->features * map->k));
    if (map->type == DKM_DENSE) {
        DKM_STEP(dkm_archive_put_real(archive, "sequence_column", (double)map->column));
        goto out;
    }
    DKM_STEP(dkm_archive_put_real(archive, "window", (double)map->window));
    if (map->emission.fitted)
        DKM_STEP(dkm_archive_put_real(archive, "pad", (unsigned char)map->pad));
    else
        DKM_STEP(dkm_archive_put_reals(archive, "alphabet", map->n_chars, map->alphabet));
out:
    return local;
}

static dkm_status chain_to_archive(void *state, dkm_archive *archive)
{
    dkm_status status = DKM_OK;
    dkm_jkm_chain *s = state;
    dkm_data *machine = NULL;

    DKM_AGREE(s->ctx, name_entries(s, archive));
    if (s->map.emission.fitted)
        return dkm_emission_to_archive(&s->map.emission, archive);
    DKM_TRY(dkm_data_create_dense(s->ctx, s->map.features, s->map.k, &machine));
    memcpy(dkm_data_values(machine), s->w + dkm_data_local_first(machine) * s->map.k,
           (size_t)(dkm_data_local_rows(machine) * s->map.k) * sizeof *s->w);
    DKM_AGREE(s->ctx, dkm_archive_put_data(archive, "machine", &machine));
out:
    dkm_data_destroy(&machine);
    return status;
}

/* Ascending integers, of characters within a byte. */
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

/* Of strings: the window, and its characters or what stands beyond the ends. */
static dkm_local read_window(dkm_jkm_chain *s, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_chain_map *map = &s->map;
    const double *alphabet = NULL;
    dkm_idx pad = 0;

    map->column = -1;
    DKM_STEP(dkm_archive_count(archive, "window", 1, DKM_CHAIN_WINDOW, &map->window));
    if (map->window % 2 == 0)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "a window of %lld characters has no middle",
                          (long long)map->window));
    if (dkm_archive_find(archive, "pad")) {
        DKM_STEP(dkm_archive_count(archive, "pad", 0, DKM_CHAIN_BYTES - 1, &pad));
        map->pad = (char)(unsigned char)pad;
        goto out;
    }
    DKM_STEP(dkm_archive_reals(archive, "alphabet", &map->n_chars, &alphabet));
    if (map->n_chars < 1 || map->n_chars > DKM_CHAIN_BYTES)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "an alphabet of %lld characters",
                          (long long)map->n_chars));
    DKM_STEP(check_ascending(archive, "alphabet", map->n_chars, alphabet, 1));
    memcpy(map->alphabet, alphabet, (size_t)map->n_chars * sizeof *alphabet);
out:
    return local;
}

static dkm_local read_entries(dkm_jkm_chain *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_chain_map *map = &s->map;
    const double *labels = NULL;
    const char *kx = "";

    DKM_STEP(dkm_archive_text(archive, "kx", &kx));
    DKM_STEP(dkm_strdup(s->ctx, kx, &s->kx));
    DKM_STEP(dkm_archive_number(archive, "C", 0, HUGE_VAL, &s->C));
    map->type = dkm_archive_find(archive, "window") ? DKM_STRINGS : DKM_DENSE;
    map->output = map->type == DKM_STRINGS ? DKM_STRINGS : DKM_LABELS;
    if (map->type == DKM_STRINGS)
        DKM_STEP(read_window(s, archive));
    else
        DKM_STEP(dkm_archive_count(archive, "sequence_column", 0, INT32_MAX, &map->column));
    DKM_STEP(dkm_archive_reals(archive, "labels", &map->k, &labels));
    if (map->k < 1 || map->k > DKM_CHAIN_LABELS)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "a chain of %lld labels", (long long)map->k));
    DKM_STEP(check_ascending(archive, "labels", map->k, labels, map->output == DKM_STRINGS));
    DKM_STEP(dkm_alloc(s->ctx, map->k, &map->labels));
    memcpy(map->labels, labels, (size_t)map->k * sizeof *labels);
out:
    return local;
}

/* Weights of explicit features, and of transitions. */
static dkm_local read_machine(dkm_jkm_chain *s, dkm_archive *archive, dkm_data **machine)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_chain_map *map = &s->map;
    const double *transitions = NULL;
    dkm_idx k = map->k;

    if (!map->emission.fitted) {
        DKM_STEP(dkm_archive_take_rows(archive, "machine", machine));
        map->features = dkm_data_rows(*machine);
        if (dkm_data_cols(*machine) != k ||
            (map->type == DKM_STRINGS && map->features != map->window * (map->n_chars + 1)))
            DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT,
                              "a machine of %lld x %lld for %lld labels, and windows of %lld "
                              "characters of %lld",
                              (long long)map->features, (long long)dkm_data_cols(*machine),
                              (long long)k, (long long)map->window, (long long)map->n_chars));
    } else if (dkm_data_type(map->emission.e.fitted.X) != map->type) {
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "landmarks that are %s in a chain of %s",
                          dkm_type_name(dkm_data_type(map->emission.e.fitted.X)),
                          dkm_type_name(map->type)));
    }
    if (map->column > columns_of(s))
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "a sequence column %lld after %lld others",
                          (long long)map->column, (long long)columns_of(s)));
    DKM_STEP(dkm_archive_numbers(archive, "transitions", k * k, &transitions));
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

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    DKM_AGREE(ctx, read_entries(s, archive));
    if (dkm_archive_find(archive, "coefficients"))
        DKM_TRY(dkm_emission_from_archive(&s->map.emission, archive, layout, s->map.k));
    DKM_AGREE(ctx, read_machine(s, archive, &machine));
    if (machine)
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
                                             .residuals = dkm_jkm_chain_residuals,
                                             .open_sets = dkm_jkm_chain_open_sets,
                                             .prediction_sets = dkm_jkm_chain_prediction_sets,
                                             .batch_rows = chain_batch_rows,
                                             .to_archive = chain_to_archive,
                                             .from_archive = chain_from_archive,
                                             .destroy = dkm_jkm_chain_destroy};
