#include "solve/kept.h"

#include <string.h>

#include "scalapack/linalg.h"

static dkm_ctx *ctx_of(const dkm_kept *k)
{
    return dkm_grid_ctx(dkm_dmat_grid(k->A));
}

/* Columns can be done from any strip's end on, if that is a block's end here too. */
static int fits(const dkm_kept *k, dkm_idx done)
{
    dkm_idx m = dkm_dmat_rows(k->A);

    return done == m || (done > 0 && done < m && done % dkm_dmat_col_block(k->A) == 0);
}

static dkm_local read_notes(const dkm_bundle *state, dkm_idx *done, const double **notes,
                            const dkm_rowpart **rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0;

    DKM_STEP(dkm_bundle_count(state, "columns_done", 0, INT64_MAX, done));
    DKM_STEP(dkm_bundle_reals(state, "notes", &count, notes));
    DKM_STEP(dkm_bundle_rows(state, "matrix", rows));
    if (count != DKM_KEPT_NOTES)
        local = dkm_fail(state->ctx, DKM_ERR_FORMAT, "a checkpoint of a factor with %lld notes",
                         (long long)count);
out:
    return local;
}

dkm_status dkm_kept_find(dkm_kept *k)
{
    dkm_status status = DKM_OK;
    const dkm_rowpart *rows = NULL;
    const double *notes = NULL;
    dkm_idx done = 0;
    dkm_bundle state;
    int found = 0;

    k->from = 0;
    DKM_TRY(dkm_keep_find(ctx_of(k), k->stage, &state, &found));
    if (!found)
        goto out;
    DKM_AGREE(ctx_of(k), read_notes(&state, &done, &notes, &rows));
    if (!fits(k, done)) {
        dkm_say(ctx_of(k), DKM_INFO,
                "the factor was left at column %lld, which is no multiple of the block size %lld "
                "here: factoring anew",
                (long long)done, (long long)dkm_dmat_col_block(k->A));
        goto out;
    }
    DKM_TRY(dkm_rowpart_read_matrix(rows, k->A));
    memcpy(k->notes, notes, sizeof k->notes);
    k->from = done;
out:
    dkm_bundle_clear(&state);
    return status;
}

static dkm_local fill_state(const dkm_kept *k, const dkm_rowpart *rows, dkm_idx done,
                            dkm_bundle *state)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_real(state, "columns_done", (double)done));
    DKM_STEP(dkm_bundle_put_reals(state, "notes", DKM_KEPT_NOTES, k->notes));
    DKM_STEP(dkm_bundle_put_rows(state, "matrix", rows));
out:
    return local;
}

static int strip_due(void *user, dkm_idx done)
{
    const dkm_kept *k = user;
    dkm_rowpart rows = dkm_rowpart_lower(k->A);

    return dkm_keep_due(ctx_of(k), dkm_rowpart_bytes(&rows), done == rows.m);
}

static dkm_status after_strip(void *user, dkm_idx done)
{
    dkm_kept *k = user;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = ctx_of(k);
    dkm_bundle state = dkm_bundle_empty(ctx);
    dkm_rowpart rows = dkm_rowpart_lower(k->A);

    DKM_AGREE(ctx, fill_state(k, &rows, done, &state));
    DKM_TRY(dkm_keep_save(ctx, k->stage, &state));
out:
    dkm_bundle_clear(&state);
    return status;
}

dkm_status dkm_kept_cholesky(dkm_kept *k, dkm_idx *minor)
{
    dkm_la_watch watch = {k, strip_due, after_strip};
    dkm_idx from = k->from;

    k->from = 0;
    *minor = 0;
    if (from == dkm_dmat_rows(k->A))
        return DKM_OK;
    return dkm_la_cholesky_from(k->A, from, dkm_keep_wanted(ctx_of(k)) ? &watch : NULL, minor);
}
