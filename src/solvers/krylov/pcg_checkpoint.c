#include <stdio.h>
#include <string.h>

#include "io/checkpoint/checkpointer.h"
#include "solvers/krylov/pcg_impl.h"
#include "solvers/operators/fingerprint.h"

static void pcg_checkpoint_key(const dkm_pcg_run *c, char stage[DKM_STAGE_LENGTH])
{
    char print[DKM_FINGERPRINT_LENGTH];

    dkm_fingerprint_slab(c->Y, c->m, c->settings->precision, print);
    snprintf(stage, DKM_STAGE_LENGTH, "steps %s sides=%lld Y=%s", c->settings->stage,
             (long long)c->p, print);
}

#define MULTIVEC_FIELD(name, V, m, p)                                                              \
    {                                                                                              \
        (name), DKM_STATE_ROWS, (V)->a, (m), (p), (V)->ld                                          \
    }

/* What is known of any run, and the history of residuals, as long as there are steps. */
#define PCG_FIELDS(c, steps)                                                                       \
    DKM_STATE_ONE("steps", DKM_STATE_INT, (steps)),                                                \
        DKM_STATE_ONE("waited", DKM_STATE_INT, &(c)->waited),                                      \
        DKM_STATE_ONE("restarts", DKM_STATE_INT, &(c)->restarts),                                  \
        DKM_STATE_ONE("start", DKM_STATE_REAL, &(c)->start),                                       \
        DKM_STATE_ONE("best", DKM_STATE_REAL, &(c)->best),                                         \
        DKM_STATE_ARRAY("rz", DKM_STATE_REAL, (c)->rz, (c)->p),                                    \
        MULTIVEC_FIELD("X", (c)->X, (c)->m, (c)->p), MULTIVEC_FIELD("R", &(c)->R, (c)->m, (c)->p), \
        MULTIVEC_FIELD("D", &(c)->D, (c)->m, (c)->p)
#define HISTORY_FIELD(c, steps)                                                                    \
    DKM_STATE_ARRAY("history", DKM_STATE_REAL, (c)->settings->history,                             \
                    (c)->settings->history ? (steps) : 0)

dkm_status dkm_pcg_save(dkm_pcg_run *c, int steps)
{
    char stage[DKM_STAGE_LENGTH];
    dkm_state_field fields[] = {PCG_FIELDS(c, &steps), HISTORY_FIELD(c, steps)};

    if (!c->settings->stage ||
        !dkm_checkpointer_due(c->ctx, dkm_state_bytes(DKM_STATE_TABLE(fields)), 0))
        return DKM_OK;
    pcg_checkpoint_key(c, stage);
    return dkm_checkpointer_save_table(c->ctx, stage, DKM_STATE_TABLE(fields));
}

dkm_status dkm_pcg_restore(dkm_pcg_run *c, int *steps, int *found)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    dkm_state_field fields[] = {PCG_FIELDS(c, steps)};
    dkm_archive state;

    *found = 0;
    if (!c->settings->stage)
        return DKM_OK;
    pcg_checkpoint_key(c, stage);
    DKM_TRY(dkm_checkpointer_load(c->ctx, stage, &state, found));
    if (!*found)
        goto out;
    DKM_TRY(dkm_state_get(&state, DKM_STATE_TABLE(fields)));
    dkm_state_field history[] = {HISTORY_FIELD(c, *steps)};
    if (c->settings->history && *steps <= c->settings->max_steps)
        DKM_TRY(dkm_state_get(&state, DKM_STATE_TABLE(history)));
    c->X->cols = c->R.cols = c->D.cols = c->p;
out:
    dkm_archive_clear(&state);
    return status;
}
