#include "solvers/ridge/potrf_checkpoint.h"

#include <string.h>

#include "linalg/linalg.h"

static dkm_ctx *checkpoint_ctx(const dkm_potrf_checkpoint *k)
{
    return dkm_grid_ctx(dkm_dmat_grid(k->A));
}

/* Columns can be done from any panel's end on, if that is a block's end here too. */
static int potrf_state_fits(const dkm_potrf_checkpoint *k, dkm_idx done)
{
    dkm_idx m = dkm_dmat_rows(k->A);

    return done == m || (done > 0 && done < m && done % dkm_dmat_col_block(k->A) == 0);
}

/* The state: how many columns are done, what the caller adds, the matrix. */
#define POTRF_FIELDS(k, done)                                                                      \
    DKM_STATE_ONE("columns_done", DKM_STATE_COUNT, (done)),                                        \
        DKM_STATE_ARRAY("meta", DKM_STATE_REAL, (k)->meta, DKM_POTRF_CHECKPOINT_META)

dkm_status dkm_potrf_checkpoint_restore(dkm_potrf_checkpoint *k)
{
    dkm_status status = DKM_OK;
    dkm_potrf_checkpoint checkpoint = {.A = k->A};
    dkm_idx done = 0, step = 0;
    dkm_state_field small[] = {POTRF_FIELDS(&checkpoint, &done)};
    dkm_state_field matrix[] = {DKM_STATE_MATRIX("matrix", k->A)};
    dkm_archive state;
    int found = 0;

    k->from = 0;
    DKM_TRY(dkm_checkpointer_load(checkpoint_ctx(k), k->stage, &state, &found));
    if (!found)
        goto out;
    DKM_TRY(dkm_state_get(&state, DKM_STATE_TABLE(small)));
    DKM_AGREE(checkpoint_ctx(k),
              dkm_archive_check_int(&state, "meta", checkpoint.meta[0], 0, k->steps, &step));
    if (!potrf_state_fits(k, done)) {
        dkm_log(checkpoint_ctx(k), DKM_INFO,
                "the factor was left at column %lld, which is no multiple of the block size %lld "
                "here: factoring anew",
                (long long)done, (long long)dkm_dmat_col_block(k->A));
        goto out;
    }
    DKM_TRY(dkm_state_get(&state, DKM_STATE_TABLE(matrix)));
    memcpy(k->meta, checkpoint.meta, sizeof k->meta);
    k->from = done;
out:
    dkm_archive_clear(&state);
    return status;
}

static int potrf_checkpoint_due(void *user, dkm_idx done)
{
    const dkm_potrf_checkpoint *k = user;
    dkm_state_field fields[] = {DKM_STATE_MATRIX("matrix", k->A)};

    return dkm_checkpointer_due(checkpoint_ctx(k), dkm_state_bytes(DKM_STATE_TABLE(fields)),
                                done == dkm_dmat_rows(k->A));
}

static dkm_status potrf_checkpoint_save(void *user, dkm_idx done)
{
    dkm_potrf_checkpoint *k = user;
    dkm_state_field fields[] = {POTRF_FIELDS(k, &done), DKM_STATE_MATRIX("matrix", k->A)};

    return dkm_checkpointer_save_table(checkpoint_ctx(k), k->stage, DKM_STATE_TABLE(fields));
}

dkm_status dkm_potrf_checkpoint_factorize(dkm_potrf_checkpoint *k, dkm_idx *info)
{
    dkm_la_monitor watch = {k, potrf_checkpoint_due, potrf_checkpoint_save};
    dkm_idx from = k->from;

    k->from = 0;
    *info = 0;
    if (from == dkm_dmat_rows(k->A))
        return DKM_OK;
    return dkm_la_potrf_from(k->A, from,
                             dkm_checkpointer_enabled(checkpoint_ctx(k)) ? &watch : NULL, info);
}
