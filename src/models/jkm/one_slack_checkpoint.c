/* Constraints of a single slack as parts of a state. */
#include "core/alloc.h"
#include "models/jkm/checkpoint_lists.h"
#include "models/jkm/constraint_checkpoint.h"
#include "models/jkm/one_slack_primal.h"
#include "solvers/qp/qp_checkpoint.h"

/* One row an example: the candidates that the constraints name. */
static dkm_local put_choices(const dkm_one_slack *cuts, dkm_archive *state, double **rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx own = cuts->oracle->n, n = cuts->n;
    dkm_matrix_entry part = {.m = cuts->map->m, .n = n, .ld = n};

    DKM_STEP(dkm_alloc(state->ctx, own * n, rows));
    for (dkm_idx i = 0; i < own; i++)
        for (dkm_idx k = 0; k < n; k++)
            (*rows)[i * n + k] = cuts->choice[k][i];
    part.slab = *rows;
    DKM_STEP(dkm_checkpoint_list_put_ints(state, "idle", n, cuts->age));
    DKM_STEP(dkm_archive_put_reals(state, "b", n, cuts->b));
    DKM_STEP(dkm_archive_put_reals(state, "a", n, cuts->a));
    DKM_STEP(dkm_archive_put_rows(state, "rows", &part));
out:
    return local;
}

dkm_status dkm_one_slack_save(const dkm_one_slack *cuts, dkm_archive *state,
                              dkm_constraints_borrowed *lent)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(state->ctx, put_choices(cuts, state, &lent->rows));
    DKM_TRY(dkm_qp_save(&cuts->qp, NULL, cuts->n, state, &lent->program));
out:
    return status;
}

static dkm_local get_choices(dkm_one_slack *cuts, const dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = -1, own = cuts->oracle->n;
    const dkm_matrix_entry *part = NULL;
    double *rows = NULL;

    DKM_STEP(dkm_checkpoint_list_get_ints(state, "idle", &n, &cuts->age));
    DKM_STEP(dkm_checkpoint_list_get_reals(state, "b", &n, &cuts->b));
    DKM_STEP(dkm_checkpoint_list_get_reals(state, "a", &n, &cuts->a));
    DKM_STEP(dkm_archive_rows(state, "rows", &part));
    if (part->m != cuts->map->m)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "%s: choices of %lld examples, not %lld",
                          part->path, (long long)part->m, (long long)cuts->map->m));
    DKM_STEP(dkm_alloc(state->ctx, own * n, &rows));
    DKM_STEP(dkm_matrix_entry_read_slab(state->ctx, part, n, n, rows));
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

dkm_status dkm_one_slack_restore(dkm_one_slack *cuts, const dkm_archive *state)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(state->ctx, get_choices(cuts, state));
    for (dkm_idx k = 0; cuts->primal && k < cuts->n; k++)
        DKM_TRY(dkm_one_slack_primal_make(cuts, k));
    DKM_TRY(dkm_qp_restore(&cuts->qp, NULL, cuts->n, state));
    for (dkm_idx k = 0; dkm_ctx_rank(state->ctx) == 0 && k < cuts->n; k++) {
        cuts->qp.b[k] = cuts->b[k];
        cuts->qp.a[k] = cuts->a[k];
    }
out:
    return status;
}
