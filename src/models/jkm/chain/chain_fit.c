/* Fit of chains: features and labels of the training sequences, then the cutting-plane loop of all
 * joint kernel maps (cutting_plane.c) with Viterbi as its oracle (chain_set.c). */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "models/common/method_parts.h"
#include "models/jkm/chain/chain.h"
#include "models/jkm/chain/chain_set.h"
#include "models/jkm/cutting_plane.h"
#include "models/registry/model_impl.h"

#define ONE_HOT "weighted-degree(degree=1, shift=0)"
#define WINDOW  3 /* characters, where their number is not given */

/* What goes with chains. */
static dkm_local check_settings(dkm_ctx *ctx, const dkm_data *X, const dkm_jkm_settings *s)
{
    dkm_type type = dkm_data_type(X);

    if (!(s->C > 0))
        return dkm_fail(ctx, DKM_ERR_ARG, "chains need a price of slack C, for instance 1");
    if (!(s->tolerance > 0 && s->tolerance < 1))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "tolerance = %g: a share greater than 0 and less than 1 is wanted",
                        s->tolerance);
    if (s->slacks == DKM_JKM_SLACKS_EACH || s->rescale == DKM_JKM_RESCALE_SLACK || s->threshold ||
        s->epsilon > 0 || s->anneal != 0 || s->candidates || s->lists || s->oracle.find)
        return dkm_fail(
            ctx, DKM_ERR_UNSUPPORTED,
            "chains have one slack for all, and margins rescaled by the number of wrong "
            "labels: n-slack, rescaled slacks, epsilon, a threshold and candidates do not "
            "go with them");
    if (type != DKM_STRINGS && type != DKM_DENSE)
        return dkm_fail(
            ctx, DKM_ERR_UNSUPPORTED,
            "chains are strings, or dense rows with a column of sequence numbers: these "
            "inputs are %s",
            dkm_type_name(type));
    if (type == DKM_STRINGS && s->sequence_column >= 0)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a column of sequence numbers is for dense rows: a string is a sequence");
    if (type == DKM_DENSE && (s->sequence_column < 0 || s->window > 0))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "dense rows are positions: say which column has the numbers of their "
                        "sequences (--sequence-column), and leave out the window, which is for "
                        "strings");
    if (s->window < 0 || s->window > DKM_CHAIN_WINDOW || (s->window > 0 && s->window % 2 == 0))
        return dkm_fail(ctx, DKM_ERR_ARG, "a window of %lld characters: odd numbers up to %d do",
                        (long long)s->window, DKM_CHAIN_WINDOW);
    return DKM_LOCAL_OK;
}

int dkm_chain_is_explicit(dkm_type type, const dkm_kernel *kx)
{
    return type == DKM_STRINGS ? strcmp(dkm_kernel_text(kx), ONE_HOT) == 0
                               : dkm_kernel_is_linear(kx);
}

/* What settings say about the inputs. */
static dkm_chain_map map_of(const dkm_data *X, const dkm_jkm_settings *settings)
{
    dkm_idx window = settings->window > 0 ? settings->window : WINDOW;

    return (dkm_chain_map){.type = dkm_data_type(X),
                           .window = dkm_data_type(X) == DKM_STRINGS ? window : 0,
                           .column = settings->sequence_column};
}

dkm_status dkm_jkm_chain_positions(const dkm_data *X, const dkm_jkm_settings *settings,
                                   dkm_data **positions)
{
    dkm_status status = DKM_OK;
    dkm_chain_map map = map_of(X, settings);
    dkm_sequences sequences = {0};

    *positions = NULL;
    DKM_AGREE(dkm_data_ctx(X), check_settings(dkm_data_ctx(X), X, settings));
    DKM_TRY(dkm_sequences_open(&sequences, X, map.column));
    DKM_TRY(dkm_emission_positions(&sequences, map.window, '-', map.column, positions));
out:
    dkm_sequences_close(&sequences);
    return status;
}

/* Rows of features in place of the positions, under a kernel that has no explicit ones. */
static dkm_status make_features(dkm_jkm_chain *s, dkm_chain *chain, const dkm_kernel *kx,
                                const dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_sequences *sequences = &chain->sequences;
    dkm_data *positions = NULL, *features = NULL;
    dkm_objs own = {0};

    DKM_TRY(
        dkm_emission_positions(sequences, s->map.window, s->map.pad, s->map.column, &positions));
    DKM_FREE(sequences->rows);
    DKM_TRY(dkm_emission_fit(&s->map.emission, positions, kx, settings, &features));
    s->fingerprint = dkm_checkpointer_fingerprint(features, s->kx);
    dkm_data_destroy(&positions);
    DKM_TRY(dkm_sequences_fetch(sequences, features, &own));
    s->map.features = sequences->d = dkm_data_cols(features);
    sequences->rows = own.values;
    own.values = NULL;
out:
    dkm_objs_clear(&own);
    dkm_data_destroy(&features);
    dkm_data_destroy(&positions);
    return status;
}

/* The oracle of a chain: positions are its examples. */
static dkm_status open_oracle(dkm_separation_oracle *oracle, const dkm_output_space *space,
                              dkm_chain *chain)
{
    dkm_status status = DKM_OK;
    dkm_idx own = dkm_sequences_own(&chain->sequences);

    *oracle = (dkm_separation_oracle){.space = space,
                                      .first = chain->sequences.first[dkm_ctx_rank(chain->ctx)],
                                      .n = own,
                                      .rescale = DKM_JKM_RESCALE_MARGIN,
                                      .chain = chain};
    dkm_separation_oracle_set_epsilon(oracle, 0);
    DKM_AGREE(chain->ctx, dkm_alloc(chain->ctx, own, &oracle->violation));
    DKM_AGREE(chain->ctx, dkm_alloc(chain->ctx, own, &oracle->b));
out:
    return status;
}

/* What a state of the loop is about: kernel, window and column, inputs and, where there are, their
 * features, outputs and weights. */
static dkm_status find_fingerprint(dkm_jkm_chain *s, const dkm_data *X, const dkm_data *Y,
                                   const dkm_data *weights)
{
    dkm_status status = DKM_OK;
    dkm_idx length = (dkm_idx)strlen(s->kx) + 80;
    char *text = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, length, &text));
    snprintf(text, (size_t)length, "%s window=%lld column=%lld", s->kx, (long long)s->map.window,
             (long long)s->map.column);
    s->fingerprint = 7 * s->fingerprint + dkm_checkpointer_fingerprint(X, text) +
                     3 * dkm_checkpointer_fingerprint(Y, "") +
                     (weights ? 5 * dkm_checkpointer_fingerprint(weights, "") : 0);
out:
    DKM_FREE(text);
    return status;
}

static dkm_status chain_train(dkm_jkm_chain *s, dkm_chain *chain, const dkm_jkm_settings *settings,
                              dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_joint_map map = {
        .fitted.ctx = s->ctx, .m = dkm_sequences_total(&chain->sequences), .r = s->map.k};
    dkm_output_space space = {.ctx = s->ctx, .kind = DKM_JKM_CHAIN, .r = s->map.k};
    dkm_separation_oracle oracle = {0};
    dkm_cutting_plane loop = {0};

    DKM_TRY(open_oracle(&oracle, &space, chain));
    DKM_TRY(dkm_cutting_plane_run(&loop, &map, &oracle, settings, s->fingerprint));
    *info = loop.info;
    info->m = chain->sequences.all;
    info->r = s->map.k;
    info->positions = map.m;
    info->outputs = "chain";
    info->slacks = "one";
    s->w = chain->w;
    chain->w = NULL;
out:
    dkm_cutting_plane_close(&loop);
    dkm_separation_oracle_close(&oracle);
    return status;
}

/* Weights of features become coefficients of landmarks; those of transitions are left in w. */
static dkm_status fold_weights(dkm_jkm_chain *s)
{
    dkm_status status = DKM_OK;
    dkm_idx k = s->map.k;

    DKM_TRY(dkm_emission_fold(&s->map.emission, k, s->w));
    memmove(s->w, s->w + s->map.features * k, (size_t)(k * k) * sizeof *s->w);
    s->map.features = 0;
out:
    return status;
}

static dkm_status chain_learn(dkm_jkm_chain *s, const dkm_data *X, const dkm_data *Y,
                              const dkm_kernel *kx, const dkm_jkm_settings *settings,
                              dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_chain chain = {0};
    int explicit_features = dkm_chain_is_explicit(dkm_data_type(X), kx);

    s->map = map_of(X, settings);
    DKM_REQUIRE(s->ctx, s->map.type != DKM_DENSE || s->map.column < dkm_data_cols(X), DKM_ERR_ARG,
                "column %lld of sequence numbers of inputs with %lld columns, counted from 0",
                (long long)s->map.column, (long long)dkm_data_cols(X));
    DKM_REQUIRE(s->ctx, !explicit_features || settings->landmarks == 0, DKM_ERR_ARG,
                "the features of '%s' are explicit: leave out the landmarks, which other kernels "
                "take",
                dkm_kernel_text(kx));
    DKM_TRY(dkm_chain_learn(&s->map, X, Y));
    DKM_TRY(dkm_chain_open(&chain, &s->map, X));
    if (!explicit_features)
        DKM_TRY(make_features(s, &chain, kx, settings));
    DKM_AGREE(s->ctx, dkm_chain_allocate(&chain));
    DKM_TRY(dkm_chain_take_truth(&chain, Y));
    DKM_TRY(dkm_chain_take_weights(&chain, settings->weights));
    DKM_TRY(find_fingerprint(s, X, Y, settings->weights));
    DKM_TRY(chain_train(s, &chain, settings, info));
    info->landmarks = explicit_features ? 0 : dkm_data_rows(s->map.emission.e.fitted.X);
    if (!explicit_features)
        DKM_TRY(fold_weights(s));
out:
    dkm_chain_close(&chain);
    return status;
}

dkm_status dkm_jkm_chain_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                             const dkm_kernel *kx, const dkm_jkm_settings *settings,
                             dkm_model **model, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings chosen = *settings;
    dkm_jkm_info found = {0};
    dkm_jkm_chain *s = NULL;

    *model = NULL;
    dkm_phase_begin(ctx, "jkm");
    DKM_AGREE(ctx, dkm_check_examples(ctx, dkm_data_rows(X), Y));
    DKM_AGREE(ctx, check_settings(ctx, X, settings));
    chosen.epsilon = 0;
    chosen.slacks = DKM_JKM_SLACKS_ONE;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->C = settings->C;
    DKM_AGREE(ctx, dkm_strdup(ctx, dkm_kernel_text(kx), &s->kx));
    DKM_TRY(chain_learn(s, X, Y, kx, &chosen, &found));
    status = dkm_model_wrap(ctx, &dkm_class_jkm_chain, s, s->map.output,
                            s->map.output == DKM_LABELS ? 1 : 0, model);
    s = NULL; /* taken over, whatever came of it */
    if (info)
        *info = found;
out:
    dkm_phase_end(ctx);
    if (s)
        dkm_jkm_chain_destroy(s);
    return status;
}
