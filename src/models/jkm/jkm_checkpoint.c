#include "models/jkm/jkm_checkpoint.h"

#include <stdio.h>

#include "io/checkpoint/checkpointer.h"
#include "models/jkm/constraint_checkpoint.h"

enum { ROUND, EPSILON, LEAST, FIRST_GAP, DUAL, THRESHOLD, WEIGHT, NOTES };

static void jkm_checkpoint_checkpoint_key(const dkm_cutting_plane *l, char stage[DKM_STAGE_LENGTH])
{
    snprintf(stage, DKM_STAGE_LENGTH, "rounds m=%lld r=%lld epsilon=%.17g C=%.17g slacks=%s",
             (long long)l->map->m, (long long)l->map->r, l->settings->epsilon, l->settings->C,
             l->split ? "split"
             : l->one ? "one"
                      : "each");
}

static double jkm_checkpoint_bytes_of(const dkm_cutting_plane *l)
{
    double n = (double)(l->one ? l->joint.n : l->cuts.n);

    return 8.0 * n * (n + (double)(l->one ? l->map->m : l->map->r));
}

/* Notes, and the values of the averaged weight vector where there is one. */
static dkm_local put_notes(const dkm_cutting_plane *l, double dual, dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_matrix_entry values = {.m = l->map->m, .n = l->map->r, .slab = l->H, .ld = l->map->r};
    double notes[NOTES] = {[ROUND] = (double)l->round,
                           [EPSILON] = l->oracle->epsilon,
                           [LEAST] = l->least,
                           [FIRST_GAP] = l->first_gap,
                           [DUAL] = dual,
                           [THRESHOLD] = l->cuts.threshold,
                           [WEIGHT] = l->cuts.weight};

    DKM_STEP(dkm_archive_put_reals(state, "notes", NOTES, notes));
    if (l->slow)
        DKM_STEP(dkm_archive_put_rows(state, "slow", &values));
out:
    return local;
}

dkm_status dkm_cutting_plane_save(const dkm_cutting_plane *l, double dual)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(l->ctx);
    dkm_constraints_borrowed lent = {0};
    char stage[DKM_STAGE_LENGTH];

    if ((l->one ? l->joint.n : l->cuts.n) == 0 ||
        !dkm_checkpointer_due(l->ctx, jkm_checkpoint_bytes_of(l), 0))
        return DKM_OK;
    jkm_checkpoint_checkpoint_key(l, stage);
    DKM_AGREE(l->ctx, put_notes(l, dual, &state));
    if (l->one)
        DKM_TRY(dkm_one_slack_save(&l->joint, &state, &lent));
    else
        DKM_TRY(dkm_constraint_set_save(&l->cuts, &state, &lent));
    DKM_TRY(dkm_checkpointer_save(l->ctx, stage, &state));
out:
    dkm_archive_clear(&state);
    dkm_constraints_borrowed_clear(&lent);
    return status;
}

static dkm_local jkm_checkpoint_read_notes(dkm_cutting_plane *l, const dkm_archive *state,
                                           double *dual)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *values = NULL;
    const double *notes = NULL;
    dkm_idx count = 0, r = l->map->r;

    if (l->slow) {
        DKM_STEP(dkm_archive_rows(state, "slow", &values));
        if (values->m != l->map->m)
            DKM_STEP(dkm_fail(l->ctx, DKM_ERR_FORMAT, "%s: values of %lld examples, not %lld",
                              values->path, (long long)values->m, (long long)l->map->m));
        DKM_STEP(dkm_matrix_entry_read_slab(l->ctx, values, r, r, l->H));
        l->begun = 1;
    }
    DKM_STEP(dkm_archive_reals(state, "notes", &count, &notes));
    if (count != NOTES)
        DKM_STEP(dkm_fail(l->ctx, DKM_ERR_FORMAT, "a checkpoint of rounds with %lld notes",
                          (long long)count));
    DKM_STEP(dkm_archive_whole(state, "notes", notes[ROUND], 0, INT64_MAX, &l->round));
    l->least = notes[LEAST];
    l->first_gap = notes[FIRST_GAP];
    *dual = notes[DUAL];
    l->cuts.threshold = notes[THRESHOLD];
    l->cuts.weight = notes[WEIGHT];
    dkm_separation_oracle_set_epsilon(l->oracle, notes[EPSILON]);
out:
    return local;
}

dkm_status dkm_cutting_plane_resume(dkm_cutting_plane *l, double *dual)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_archive state;
    int found = 0;

    jkm_checkpoint_checkpoint_key(l, stage);
    DKM_TRY(dkm_checkpointer_load(l->ctx, stage, &state, &found));
    if (!found)
        goto out;
    DKM_AGREE(l->ctx, jkm_checkpoint_read_notes(l, &state, dual));
    if (l->one)
        DKM_TRY(dkm_one_slack_restore(&l->joint, &state));
    else
        DKM_TRY(dkm_constraint_set_restore(&l->cuts, &state));
out:
    dkm_archive_clear(&state);
    return status;
}
