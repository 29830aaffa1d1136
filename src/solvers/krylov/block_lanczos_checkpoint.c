#include <stdio.h>
#include <string.h>

#include "io/checkpoint/checkpointer.h"
#include "solvers/krylov/block_lanczos_impl.h"

enum { ROUNDS, PRODUCTS, RANDOM, STARTED, LOOK, LOOKED, RESIDUAL, COUNTS };

static void lanczos_checkpoint_key(const dkm_block_lanczos_run *k, char stage[DKM_STAGE_LENGTH])
{
    const dkm_block_lanczos_settings *s = k->settings;

    snprintf(stage, DKM_STAGE_LENGTH, "krylov m=%lld p=%lld block=%lld tolerance=%g operator %s",
             (long long)s->m, (long long)s->components, (long long)s->block, s->tolerance, s->name);
}

static dkm_local lanczos_fill_state(const dkm_block_lanczos_run *k,
                                    const dkm_block_lanczos_outcome *o, dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    double counts[COUNTS];
    dkm_idx m = k->settings->m;

    counts[ROUNDS] = o->rounds;
    counts[PRODUCTS] = (double)o->products;
    counts[RANDOM] = (double)k->random_columns;
    counts[STARTED] = k->started;
    counts[LOOK] = (double)k->look;
    counts[LOOKED] = (double)k->looked;
    counts[RESIDUAL] = o->residual;
    DKM_STEP(dkm_archive_put_reals(state, "counts", COUNTS, counts));
    DKM_STEP(dkm_archive_put_reals(state, "T", k->capacity * k->capacity, k->T));
    DKM_STEP(dkm_multivec_save(state, "V", m, &k->V));
    DKM_STEP(dkm_multivec_save(state, "W", m, &k->W));
    DKM_STEP(dkm_multivec_save(state, "Q", m, &k->Q));
out:
    return local;
}

dkm_status dkm_block_lanczos_save(dkm_block_lanczos_run *k, const dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;
    double columns = (double)(k->V.cols + k->W.cols + k->Q.cols);
    dkm_archive state = dkm_archive_empty(k->ctx);
    char stage[DKM_STAGE_LENGTH];

    if (!k->settings->name ||
        !dkm_checkpointer_due(k->ctx, 8.0 * (double)k->settings->m * columns, 0))
        return DKM_OK;
    lanczos_checkpoint_key(k, stage);
    DKM_AGREE(k->ctx, lanczos_fill_state(k, o, &state));
    DKM_TRY(dkm_checkpointer_save(k->ctx, stage, &state));
out:
    dkm_archive_clear(&state);
    return status;
}

static dkm_local lanczos_read_state(dkm_block_lanczos_run *k, const dkm_archive *state,
                                    dkm_block_lanczos_outcome *o)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *counts = NULL, *T = NULL;
    dkm_idx square = k->capacity * k->capacity, n = 0, found = 0, whole[RESIDUAL] = {0};

    DKM_STEP(dkm_archive_reals(state, "counts", &n, &counts));
    DKM_STEP(dkm_archive_reals(state, "T", &found, &T));
    if (n != COUNTS || found != square)
        DKM_STEP(dkm_fail(k->ctx, DKM_ERR_FORMAT, "a checkpoint of %lld numbers where %lld belong",
                          (long long)found, (long long)square));
    DKM_STEP(dkm_multivec_restore(state, "V", &k->V));
    DKM_STEP(dkm_multivec_restore(state, "W", &k->W));
    DKM_STEP(dkm_multivec_restore(state, "Q", &k->Q));
    memcpy(k->T, T, (size_t)square * sizeof *T);
    for (int c = 0; c < RESIDUAL; c++)
        DKM_STEP(dkm_archive_whole(state, "counts", counts[c], 0,
                                   c == ROUNDS || c == STARTED ? INT32_MAX : INT64_MAX, &whole[c]));
    o->rounds = (int)whole[ROUNDS];
    o->products = whole[PRODUCTS];
    o->residual = counts[RESIDUAL];
    k->random_columns = whole[RANDOM];
    k->started = (int)whole[STARTED];
    k->look = whole[LOOK];
    k->looked = whole[LOOKED];
out:
    return local;
}

dkm_status dkm_block_lanczos_restore(dkm_block_lanczos_run *k, dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_archive state;
    int found = 0;

    if (!k->settings->name)
        return DKM_OK;
    lanczos_checkpoint_key(k, stage);
    DKM_TRY(dkm_checkpointer_load(k->ctx, stage, &state, &found));
    if (found)
        DKM_AGREE(k->ctx, lanczos_read_state(k, &state, o));
out:
    dkm_archive_clear(&state);
    return status;
}
