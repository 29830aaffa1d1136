#include <stdio.h>
#include <string.h>

#include "io/checkpoint/checkpointer.h"
#include "solvers/krylov/pcg_impl.h"
#include "solvers/operators/fingerprint.h"

enum { STEPS, WAITED, RESTARTS, START, BEST, NOTES };

static void pcg_checkpoint_key(const dkm_pcg_run *c, char stage[DKM_STAGE_LENGTH])
{
    char print[DKM_FINGERPRINT_LENGTH];

    dkm_fingerprint_slab(c->Y, c->m, c->settings->precision, print);
    snprintf(stage, DKM_STAGE_LENGTH, "steps %s sides=%lld Y=%s", c->settings->stage,
             (long long)c->p, print);
}

static dkm_local pcg_fill_state(const dkm_pcg_run *c, int steps, dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    double notes[NOTES] = {[STEPS] = steps,
                           [WAITED] = c->waited,
                           [RESTARTS] = c->restarts,
                           [START] = c->start,
                           [BEST] = c->best};
    const double *history = c->settings->history;

    DKM_STEP(dkm_archive_put_reals(state, "notes", NOTES, notes));
    DKM_STEP(dkm_archive_put_reals(state, "rz", c->p, c->rz));
    if (history)
        DKM_STEP(dkm_archive_put_reals(state, "history", steps, history));
    DKM_STEP(dkm_multivec_save(state, "X", c->m, c->X));
    DKM_STEP(dkm_multivec_save(state, "R", c->m, &c->R));
    DKM_STEP(dkm_multivec_save(state, "D", c->m, &c->D));
out:
    return local;
}

dkm_status dkm_pcg_save(dkm_pcg_run *c, int steps)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(c->ctx);
    char stage[DKM_STAGE_LENGTH];

    if (!c->settings->stage || !dkm_checkpointer_due(c->ctx, 24.0 * (double)c->m * (double)c->p, 0))
        return DKM_OK;
    pcg_checkpoint_key(c, stage);
    DKM_AGREE(c->ctx, pcg_fill_state(c, steps, &state));
    DKM_TRY(dkm_checkpointer_save(c->ctx, stage, &state));
out:
    dkm_archive_clear(&state);
    return status;
}

/* A list of so many numbers. */
static dkm_local pcg_read_list(const dkm_archive *state, const char *name, dkm_idx wanted,
                               const double **list)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0;

    DKM_STEP(dkm_archive_reals(state, name, &count, list));
    if (count != wanted)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT,
                          "a checkpoint of conjugate gradients with %lld of '%s', not %lld",
                          (long long)count, name, (long long)wanted));
out:
    return local;
}

static dkm_local pcg_read_state(dkm_pcg_run *c, const dkm_archive *state, int *steps)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *notes = NULL, *rz = NULL, *history = NULL;
    dkm_idx whole[START] = {0};

    DKM_STEP(pcg_read_list(state, "notes", NOTES, &notes));
    DKM_STEP(pcg_read_list(state, "rz", c->p, &rz));
    for (int k = 0; k < START; k++)
        DKM_STEP(dkm_archive_whole(state, "notes", notes[k], 0, INT32_MAX, &whole[k]));
    if (c->settings->history && whole[STEPS] <= c->settings->max_steps) {
        DKM_STEP(pcg_read_list(state, "history", whole[STEPS], &history));
        memcpy(c->settings->history, history, (size_t)whole[STEPS] * sizeof *history);
    }
    DKM_STEP(dkm_multivec_restore(state, "X", c->X));
    DKM_STEP(dkm_multivec_restore(state, "R", &c->R));
    DKM_STEP(dkm_multivec_restore(state, "D", &c->D));
    memcpy(c->rz, rz, (size_t)c->p * sizeof *rz);
    *steps = (int)whole[STEPS];
    c->waited = (int)whole[WAITED];
    c->restarts = (int)whole[RESTARTS];
    c->start = notes[START];
    c->best = notes[BEST];
out:
    return local;
}

dkm_status dkm_pcg_restore(dkm_pcg_run *c, int *steps, int *found)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_archive state;

    *found = 0;
    if (!c->settings->stage)
        return DKM_OK;
    pcg_checkpoint_key(c, stage);
    DKM_TRY(dkm_checkpointer_load(c->ctx, stage, &state, found));
    if (*found)
        DKM_AGREE(c->ctx, pcg_read_state(c, &state, steps));
out:
    dkm_archive_clear(&state);
    return status;
}
