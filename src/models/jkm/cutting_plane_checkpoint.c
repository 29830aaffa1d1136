#include <math.h>
#include <stdio.h>

#include "io/checkpoint/checkpointer.h"
#include "io/checkpoint/state_table.h"
#include "models/jkm/cutting_plane.h"

#define MOST_FIELDS 7

static void checkpoint_key(const dkm_cutting_plane *l, char stage[DKM_STAGE_LENGTH])
{
    snprintf(stage, DKM_STAGE_LENGTH,
             "rounds m=%lld r=%lld epsilon=%.17g C=%.17g slacks=%s threshold=%d "
             "weights=%016llx Phi=%016llx",
             (long long)l->map->m, (long long)l->map->r, l->settings->epsilon, l->settings->C,
             l->constraints->ops->name, l->settings->threshold,
             (unsigned long long)(l->settings->weights
                                      ? dkm_checkpointer_fingerprint(l->settings->weights, "")
                                      : 0),
             (unsigned long long)l->fingerprint);
}

/* The state of the loop beside its working set. Returns how many fields there are. */
static dkm_idx list_fields(dkm_cutting_plane *l, double *epsilon, double *dual, dkm_idx *exact,
                           dkm_state_field fields[MOST_FIELDS])
{
    const dkm_state_field all[MOST_FIELDS] = {
        DKM_STATE_ONE("iteration", DKM_STATE_COUNT, &l->iteration),
        DKM_STATE_ONE("epsilon", DKM_STATE_REAL, epsilon),
        DKM_STATE_ONE("least", DKM_STATE_REAL, &l->least),
        DKM_STATE_ONE("first_gap", DKM_STATE_REAL, &l->first_gap),
        DKM_STATE_ONE("dual", DKM_STATE_REAL, dual),
        DKM_STATE_ONE("exact", DKM_STATE_COUNT, exact),
        DKM_STATE_SLAB("averaged", l->stabilized.H, l->map->m, l->map->r)};

    for (int k = 0; k < MOST_FIELDS; k++)
        fields[k] = all[k];
    return l->stabilized.enabled ? MOST_FIELDS : MOST_FIELDS - 1;
}

/* Gram matrix, factor and rows of the working set, about. */
static double bytes_of(const dkm_cutting_plane *l)
{
    double n = (double)l->constraints->n;
    dkm_idx width = l->settings->slacks == DKM_JKM_SLACKS_ONE ? l->map->m : l->map->r;

    return 8.0 * n * (n + (double)width);
}

dkm_status dkm_cutting_plane_save(dkm_cutting_plane *l, const dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(l->ctx);
    char stage[DKM_STAGE_LENGTH];
    dkm_state_field fields[MOST_FIELDS];
    double epsilon = l->oracle->epsilon, dual = qp->objective;
    dkm_idx exact = qp->exact, count = list_fields(l, &epsilon, &dual, &exact, fields);

    if (l->constraints->n == 0 || !dkm_checkpointer_due(l->ctx, bytes_of(l), 0))
        return DKM_OK;
    checkpoint_key(l, stage);
    DKM_AGREE(l->ctx, dkm_state_put(&state, count, fields));
    DKM_TRY(dkm_constraint_set_save(l->constraints, &state));
    DKM_TRY(dkm_checkpointer_save(l->ctx, stage, &state));
out:
    dkm_archive_clear(&state);
    dkm_constraint_set_saved(l->constraints);
    return status;
}

/* Annealing from far beyond where it began would go on for ever. */
static dkm_local check_epsilon(const dkm_cutting_plane *l, double epsilon)
{
    double last = l->settings->epsilon, first = fmax(last, l->settings->anneal);

    if (epsilon >= last && epsilon <= first)
        return DKM_LOCAL_OK;
    return dkm_fail(
        l->ctx, DKM_ERR_FORMAT,
        "a checkpoint with an epsilon of %g, where annealing goes from %g to %g: was it "
        "made with another --anneal?",
        epsilon, first, last);
}

dkm_status dkm_cutting_plane_resume(dkm_cutting_plane *l, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_archive state;
    dkm_state_field fields[MOST_FIELDS];
    double epsilon = 0;
    dkm_idx exact = 0, count = list_fields(l, &epsilon, &qp->objective, &exact, fields);
    int found = 0;

    checkpoint_key(l, stage);
    DKM_TRY(dkm_checkpointer_load(l->ctx, stage, &state, &found));
    if (!found)
        goto out;
    DKM_TRY(dkm_state_get(&state, count, fields));
    DKM_AGREE(l->ctx, check_epsilon(l, epsilon));
    qp->exact = exact != 0;
    l->stabilized.begun = l->stabilized.enabled;
    dkm_separation_oracle_set_epsilon(l->oracle, epsilon);
    DKM_TRY(dkm_constraint_set_load(l->constraints, &state));
out:
    dkm_archive_clear(&state);
    return status;
}
