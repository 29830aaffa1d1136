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

static dkm_local potrf_read_meta(const dkm_archive *state, dkm_idx *done, const double **meta,
                                 const dkm_matrix_entry **rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0;

    DKM_STEP(dkm_archive_count(state, "columns_done", 0, INT64_MAX, done));
    DKM_STEP(dkm_archive_reals(state, "notes", &count, meta));
    DKM_STEP(dkm_archive_rows(state, "matrix", rows));
    if (count != DKM_POTRF_CHECKPOINT_META)
        local = dkm_fail(state->ctx, DKM_ERR_FORMAT, "a checkpoint of a factor with %lld notes",
                         (long long)count);
out:
    return local;
}

dkm_status dkm_potrf_checkpoint_restore(dkm_potrf_checkpoint *k)
{
    dkm_status status = DKM_OK;
    const dkm_matrix_entry *rows = NULL;
    const double *meta = NULL;
    dkm_idx done = 0;
    dkm_archive state;
    int found = 0;

    k->from = 0;
    DKM_TRY(dkm_checkpointer_load(checkpoint_ctx(k), k->stage, &state, &found));
    if (!found)
        goto out;
    DKM_AGREE(checkpoint_ctx(k), potrf_read_meta(&state, &done, &meta, &rows));
    if (!potrf_state_fits(k, done)) {
        dkm_log(checkpoint_ctx(k), DKM_INFO,
                "the factor was left at column %lld, which is no multiple of the block size %lld "
                "here: factoring anew",
                (long long)done, (long long)dkm_dmat_col_block(k->A));
        goto out;
    }
    DKM_TRY(dkm_matrix_entry_read_matrix(rows, k->A));
    memcpy(k->meta, meta, sizeof k->meta);
    k->from = done;
out:
    dkm_archive_clear(&state);
    return status;
}

static dkm_local potrf_fill_state(const dkm_potrf_checkpoint *k, const dkm_matrix_entry *rows,
                                  dkm_idx done, dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_real(state, "columns_done", (double)done));
    DKM_STEP(dkm_archive_put_reals(state, "notes", DKM_POTRF_CHECKPOINT_META, k->meta));
    DKM_STEP(dkm_archive_put_rows(state, "matrix", rows));
out:
    return local;
}

static int potrf_checkpoint_due(void *user, dkm_idx done)
{
    const dkm_potrf_checkpoint *k = user;
    dkm_matrix_entry rows = dkm_matrix_entry_lower(k->A);

    return dkm_checkpointer_due(checkpoint_ctx(k), dkm_matrix_entry_bytes(&rows), done == rows.m);
}

static dkm_status potrf_checkpoint_save(void *user, dkm_idx done)
{
    dkm_potrf_checkpoint *k = user;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = checkpoint_ctx(k);
    dkm_archive state = dkm_archive_empty(ctx);
    dkm_matrix_entry rows = dkm_matrix_entry_lower(k->A);

    DKM_AGREE(ctx, potrf_fill_state(k, &rows, done, &state));
    DKM_TRY(dkm_checkpointer_save(ctx, k->stage, &state));
out:
    dkm_archive_clear(&state);
    return status;
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
