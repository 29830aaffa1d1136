#include <stdio.h>
#include <string.h>

#include "data/keeper.h"
#include "solve/krylov_impl.h"

enum { ROUNDS, PRODUCTS, RANDOM, STARTED, LOOK, LOOKED, RESIDUAL, COUNTS };

static void name_stage(const dkm_krylov_run *k, char stage[DKM_STAGE_LENGTH])
{
    const dkm_krylov_settings *s = k->settings;

    snprintf(stage, DKM_STAGE_LENGTH, "krylov m=%lld p=%lld block=%lld tolerance=%g operator %s",
             (long long)s->m, (long long)s->components, (long long)s->block, s->tolerance, s->name);
}

static dkm_local fill_state(const dkm_krylov_run *k, const dkm_krylov_outcome *o, dkm_bundle *state)
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
    DKM_STEP(dkm_bundle_put_reals(state, "counts", COUNTS, counts));
    DKM_STEP(dkm_bundle_put_reals(state, "T", k->capacity * k->capacity, k->T));
    DKM_STEP(dkm_slab_put(state, "V", m, &k->V));
    DKM_STEP(dkm_slab_put(state, "W", m, &k->W));
    DKM_STEP(dkm_slab_put(state, "Q", m, &k->Q));
out:
    return local;
}

dkm_status dkm_krylov_leave(dkm_krylov_run *k, const dkm_krylov_outcome *o)
{
    dkm_status status = DKM_OK;
    double columns = (double)(k->V.cols + k->W.cols + k->Q.cols);
    dkm_bundle state = dkm_bundle_empty(k->ctx);
    char stage[DKM_STAGE_LENGTH];

    if (!k->settings->name || !dkm_keep_due(k->ctx, 8.0 * (double)k->settings->m * columns, 0))
        return DKM_OK;
    name_stage(k, stage);
    DKM_AGREE(k->ctx, fill_state(k, o, &state));
    DKM_TRY(dkm_keep_save(k->ctx, stage, &state));
out:
    dkm_bundle_clear(&state);
    return status;
}

static dkm_local read_state(dkm_krylov_run *k, const dkm_bundle *state, dkm_krylov_outcome *o)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *counts = NULL, *T = NULL;
    dkm_idx square = k->capacity * k->capacity, n = 0, found = 0, whole[RESIDUAL] = {0};

    DKM_STEP(dkm_bundle_reals(state, "counts", &n, &counts));
    DKM_STEP(dkm_bundle_reals(state, "T", &found, &T));
    if (n != COUNTS || found != square)
        DKM_STEP(dkm_fail(k->ctx, DKM_ERR_FORMAT, "a checkpoint of %lld numbers where %lld belong",
                          (long long)found, (long long)square));
    DKM_STEP(dkm_slab_get(state, "V", &k->V));
    DKM_STEP(dkm_slab_get(state, "W", &k->W));
    DKM_STEP(dkm_slab_get(state, "Q", &k->Q));
    memcpy(k->T, T, (size_t)square * sizeof *T);
    for (int c = 0; c < RESIDUAL; c++)
        DKM_STEP(dkm_bundle_whole(state, "counts", counts[c], 0,
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

dkm_status dkm_krylov_take_up(dkm_krylov_run *k, dkm_krylov_outcome *o)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_bundle state;
    int found = 0;

    if (!k->settings->name)
        return DKM_OK;
    name_stage(k, stage);
    DKM_TRY(dkm_keep_find(k->ctx, stage, &state, &found));
    if (found)
        DKM_AGREE(k->ctx, read_state(k, &state, o));
out:
    dkm_bundle_clear(&state);
    return status;
}
