#include <stdio.h>

#include "io/checkpoint/checkpointer.h"
#include "solvers/krylov/block_lanczos_impl.h"

static void lanczos_checkpoint_key(const dkm_block_lanczos_run *k, char stage[DKM_STAGE_LENGTH])
{
    const dkm_block_lanczos_settings *s = k->settings;

    snprintf(stage, DKM_STAGE_LENGTH,
             "block Lanczos m=%lld p=%lld block=%lld tolerance=%g operator %s", (long long)s->m,
             (long long)s->components, (long long)s->block, s->tolerance, s->name);
}

/* The state: how far the run is, and the basis V, its products W and the new block Q, whose columns
 * in use come first. */
#define LANCZOS_FIELDS(k, o)                                                                       \
    DKM_STATE_ONE("rounds", DKM_STATE_INT, &(o)->rounds),                                          \
        DKM_STATE_ONE("products", DKM_STATE_COUNT, &(o)->products),                                \
        DKM_STATE_ONE("residual", DKM_STATE_REAL, &(o)->residual),                                 \
        DKM_STATE_ONE("random_columns", DKM_STATE_COUNT, &(k)->random_columns),                    \
        DKM_STATE_ONE("started", DKM_STATE_INT, &(k)->started),                                    \
        DKM_STATE_ONE("look", DKM_STATE_COUNT, &(k)->look),                                        \
        DKM_STATE_ONE("looked", DKM_STATE_COUNT, &(k)->looked),                                    \
        DKM_STATE_ONE("V_cols", DKM_STATE_COUNT, &(k)->V.cols),                                    \
        DKM_STATE_ONE("W_cols", DKM_STATE_COUNT, &(k)->W.cols),                                    \
        DKM_STATE_ONE("Q_cols", DKM_STATE_COUNT, &(k)->Q.cols),                                    \
        DKM_STATE_ARRAY("diagonal", DKM_STATE_REAL, (k)->diagonal, (k)->capacity),                 \
        DKM_STATE_MATRIX("T", (k)->T)
#define COLUMNS_FIELD(name, S, m)                                                                  \
    {                                                                                              \
        (name), DKM_STATE_ROWS, (S).a, (m), (S).cols, (S).ld                                       \
    }
#define BASIS_FIELDS(k)                                                                            \
    COLUMNS_FIELD("V", (k)->V, (k)->settings->m), COLUMNS_FIELD("W", (k)->W, (k)->settings->m),    \
        COLUMNS_FIELD("Q", (k)->Q, (k)->settings->m)

dkm_status dkm_block_lanczos_save(dkm_block_lanczos_run *k, dkm_block_lanczos_outcome *o)
{
    char stage[DKM_STAGE_LENGTH];
    dkm_state_field fields[] = {LANCZOS_FIELDS(k, o), BASIS_FIELDS(k)};

    if (!k->settings->name ||
        !dkm_checkpointer_due(k->ctx, dkm_state_bytes(DKM_STATE_TABLE(fields)), 0))
        return DKM_OK;
    lanczos_checkpoint_key(k, stage);
    return dkm_checkpointer_save_table(k->ctx, stage, DKM_STATE_TABLE(fields));
}

static dkm_status lanczos_load(dkm_block_lanczos_run *k, const dkm_archive *state,
                               dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;
    dkm_state_field fields[] = {LANCZOS_FIELDS(k, o)};

    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(fields)));
    DKM_REQUIRE(k->ctx, k->V.cols <= k->V.ld && k->W.cols <= k->W.ld && k->Q.cols <= k->Q.ld,
                DKM_ERR_FORMAT, "a checkpoint with a basis of %lld columns where %lld fit",
                (long long)k->V.cols, (long long)k->V.ld);
    dkm_state_field basis[] = {BASIS_FIELDS(k)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(basis)));
    k->projected = 1; /* as lanczos_apply() leaves it */
out:
    return status;
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
        DKM_TRY(lanczos_load(k, &state, o));
out:
    dkm_archive_clear(&state);
    return status;
}
