/* Constraints of a single slack as parts of a state. */
#include "core/alloc.h"
#include "model/cuts_kept.h"
#include "model/kept_lists.h"
#include "model/onecut_primal.h"
#include "solve/qp_kept.h"

/* One row an example: the candidates that the constraints name. */
static dkm_local put_choices(const dkm_onecut *cuts, dkm_bundle *state, double **rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx own = cuts->oracle->n, n = cuts->n;
    dkm_rowpart part = {.m = cuts->form->m, .n = n, .ld = n};

    DKM_STEP(dkm_alloc(state->ctx, own * n, rows));
    for (dkm_idx i = 0; i < own; i++)
        for (dkm_idx k = 0; k < n; k++)
            (*rows)[i * n + k] = cuts->choice[k][i];
    part.slab = *rows;
    DKM_STEP(dkm_kept_put_wholes(state, "idle", n, cuts->idle));
    DKM_STEP(dkm_bundle_put_reals(state, "b", n, cuts->b));
    DKM_STEP(dkm_bundle_put_reals(state, "a", n, cuts->a));
    DKM_STEP(dkm_bundle_put_rows(state, "rows", &part));
out:
    return local;
}

dkm_status dkm_onecut_put(const dkm_onecut *cuts, dkm_bundle *state, dkm_cuts_lent *lent)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(state->ctx, put_choices(cuts, state, &lent->rows));
    DKM_TRY(dkm_qp_put(&cuts->qp, NULL, cuts->n, state, &lent->program));
out:
    return status;
}

static dkm_local get_choices(dkm_onecut *cuts, const dkm_bundle *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = -1, own = cuts->oracle->n;
    const dkm_rowpart *part = NULL;
    double *rows = NULL;

    DKM_STEP(dkm_kept_get_wholes(state, "idle", &n, &cuts->idle));
    DKM_STEP(dkm_kept_get_reals(state, "b", &n, &cuts->b));
    DKM_STEP(dkm_kept_get_reals(state, "a", &n, &cuts->a));
    DKM_STEP(dkm_bundle_rows(state, "rows", &part));
    if (part->m != cuts->form->m)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "%s: choices of %lld examples, not %lld",
                          part->path, (long long)part->m, (long long)cuts->form->m));
    DKM_STEP(dkm_alloc(state->ctx, own * n, &rows));
    DKM_STEP(dkm_rowpart_read_slab(state->ctx, part, n, n, rows));
    DKM_STEP(dkm_calloc(state->ctx, n, &cuts->choice));
    DKM_STEP(dkm_calloc(state->ctx, n, &cuts->W));
    cuts->n = cuts->room = n;
    for (dkm_idx k = 0; k < n; k++) {
        DKM_STEP(dkm_alloc(state->ctx, own, &cuts->choice[k]));
        for (dkm_idx i = 0; i < own; i++)
            cuts->choice[k][i] = (int32_t)rows[i * n + k];
    }
out:
    DKM_FREE(rows);
    return local;
}

dkm_status dkm_onecut_get(dkm_onecut *cuts, const dkm_bundle *state)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(state->ctx, get_choices(cuts, state));
    for (dkm_idx k = 0; cuts->primal && k < cuts->n; k++)
        DKM_TRY(dkm_onecut_primal_make(cuts, k));
    DKM_TRY(dkm_qp_get(&cuts->qp, NULL, cuts->n, state));
    for (dkm_idx k = 0; dkm_ctx_rank(state->ctx) == 0 && k < cuts->n; k++) {
        cuts->qp.b[k] = cuts->b[k];
        cuts->qp.a[k] = cuts->a[k];
    }
out:
    return status;
}
