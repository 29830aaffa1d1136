#include "model/jkm_kept.h"

#include <stdio.h>

#include "data/keeper.h"
#include "model/cuts_kept.h"

enum { ROUND, EPSILON, LEAST, FIRST_GAP, DUAL, THRESHOLD, WEIGHT, NOTES };

static void name_stage(const dkm_jkm_loop *l, char stage[DKM_STAGE_LENGTH])
{
    snprintf(stage, DKM_STAGE_LENGTH, "rounds m=%lld r=%lld epsilon=%.17g C=%.17g slacks=%s",
             (long long)l->form->m, (long long)l->form->r, l->settings->epsilon, l->settings->C,
             l->split ? "split"
             : l->one ? "one"
                      : "each");
}

static double bytes_of(const dkm_jkm_loop *l)
{
    double n = (double)(l->one ? l->joint.n : l->cuts.n);

    return 8.0 * n * (n + (double)(l->one ? l->form->m : l->form->r));
}

/* Notes, and the values of the slow machine where there is one. */
static dkm_local put_notes(const dkm_jkm_loop *l, double dual, dkm_bundle *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_rowpart values = {.m = l->form->m, .n = l->form->r, .slab = l->H, .ld = l->form->r};
    double notes[NOTES] = {[ROUND] = (double)l->round,
                           [EPSILON] = l->oracle->epsilon,
                           [LEAST] = l->least,
                           [FIRST_GAP] = l->first_gap,
                           [DUAL] = dual,
                           [THRESHOLD] = l->cuts.threshold,
                           [WEIGHT] = l->cuts.weight};

    DKM_STEP(dkm_bundle_put_reals(state, "notes", NOTES, notes));
    if (l->slow)
        DKM_STEP(dkm_bundle_put_rows(state, "slow", &values));
out:
    return local;
}

dkm_status dkm_jkm_loop_leave(const dkm_jkm_loop *l, double dual)
{
    dkm_status status = DKM_OK;
    dkm_bundle state = dkm_bundle_empty(l->ctx);
    dkm_cuts_lent lent = {0};
    char stage[DKM_STAGE_LENGTH];

    if ((l->one ? l->joint.n : l->cuts.n) == 0 || !dkm_keep_due(l->ctx, bytes_of(l), 0))
        return DKM_OK;
    name_stage(l, stage);
    DKM_AGREE(l->ctx, put_notes(l, dual, &state));
    if (l->one)
        DKM_TRY(dkm_onecut_put(&l->joint, &state, &lent));
    else
        DKM_TRY(dkm_cutset_put(&l->cuts, &state, &lent));
    DKM_TRY(dkm_keep_save(l->ctx, stage, &state));
out:
    dkm_bundle_clear(&state);
    dkm_cuts_lent_clear(&lent);
    return status;
}

static dkm_local read_notes(dkm_jkm_loop *l, const dkm_bundle *state, double *dual)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_rowpart *values = NULL;
    const double *notes = NULL;
    dkm_idx count = 0, r = l->form->r;

    if (l->slow) {
        DKM_STEP(dkm_bundle_rows(state, "slow", &values));
        if (values->m != l->form->m)
            DKM_STEP(dkm_fail(l->ctx, DKM_ERR_FORMAT, "%s: values of %lld examples, not %lld",
                              values->path, (long long)values->m, (long long)l->form->m));
        DKM_STEP(dkm_rowpart_read_slab(l->ctx, values, r, r, l->H));
        l->begun = 1;
    }
    DKM_STEP(dkm_bundle_reals(state, "notes", &count, &notes));
    if (count != NOTES)
        DKM_STEP(dkm_fail(l->ctx, DKM_ERR_FORMAT, "a checkpoint of rounds with %lld notes",
                          (long long)count));
    DKM_STEP(dkm_bundle_whole(state, "notes", notes[ROUND], 0, INT64_MAX, &l->round));
    l->least = notes[LEAST];
    l->first_gap = notes[FIRST_GAP];
    *dual = notes[DUAL];
    l->cuts.threshold = notes[THRESHOLD];
    l->cuts.weight = notes[WEIGHT];
    dkm_oracle_set_epsilon(l->oracle, notes[EPSILON]);
out:
    return local;
}

dkm_status dkm_jkm_loop_take_up(dkm_jkm_loop *l, double *dual)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_bundle state;
    int found = 0;

    name_stage(l, stage);
    DKM_TRY(dkm_keep_find(l->ctx, stage, &state, &found));
    if (!found)
        goto out;
    DKM_AGREE(l->ctx, read_notes(l, &state, dual));
    if (l->one)
        DKM_TRY(dkm_onecut_get(&l->joint, &state));
    else
        DKM_TRY(dkm_cutset_get(&l->cuts, &state));
out:
    dkm_bundle_clear(&state);
    return status;
}
