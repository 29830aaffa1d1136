/* The 1-slack formulation in a state: one row per example, the candidates that the constraints
 * name.
 */
#include "core/alloc.h"
#include "io/checkpoint/state_table.h"
#include "models/jkm/one_slack.h"
#include "models/jkm/one_slack_primal.h"
#include "models/jkm/one_slack_scores.h"

dkm_status dkm_one_slack_save(dkm_constraint_set *set, dkm_archive *state, double **lent)
{
    dkm_status status = DKM_OK;
    dkm_one_slack *s = (dkm_one_slack *)set;
    dkm_idx own = set->oracle->n, n = set->n;

    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, own * n, lent));
    for (dkm_idx i = 0; i < own; i++)
        for (dkm_idx k = 0; k < n; k++)
            (*lent)[i * n + k] = s->choice[k][i];
    dkm_state_field fields[] = {DKM_STATE_SLAB("choices", *lent, set->map->m, n)};
    DKM_AGREE(set->ctx, dkm_state_put(state, DKM_STATE_TABLE(fields)));
out:
    return status;
}

static dkm_local take_choices(dkm_one_slack *s, const double *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx own = s->base.oracle->n, n = s->base.n, candidates = s->base.oracle->space->count;

    DKM_STEP(dkm_calloc(s->base.ctx, n, &s->choice));
    DKM_STEP(dkm_calloc(s->base.ctx, n, &s->W));
    s->capacity = n;
    for (dkm_idx k = 0; k < n; k++) {
        DKM_STEP(dkm_alloc(s->base.ctx, own, &s->choice[k]));
        for (dkm_idx i = 0; i < own; i++) {
            double choice = rows[i * n + k];
            if (!(choice >= -1 && choice < (double)candidates))
                DKM_STEP(dkm_fail(s->base.ctx, DKM_ERR_FORMAT,
                                  "a checkpoint with a constraint of candidate %g of %lld", choice,
                                  (long long)candidates));
            s->choice[k][i] = (int32_t)choice;
        }
    }
out:
    return local;
}

/* Scores of constraints of classes again, as they were; others go by their rows from here on. */
static dkm_status load_scores(dkm_one_slack *s, dkm_idx k)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    double *G = NULL;

    if (!s->named || !dkm_one_slack_scores_fit(s))
        return DKM_OK;
    DKM_AGREE(ctx, dkm_alloc(ctx, s->base.oracle->n * s->base.map->r, &G));
    DKM_TRY(dkm_one_slack_scores_make(s, k, NULL, G));
    s->W[k] = G;
    G = NULL;
out:
    DKM_FREE(G);
    return status;
}

dkm_status dkm_one_slack_load(dkm_constraint_set *set, const dkm_archive *state)
{
    dkm_status status = DKM_OK;
    dkm_one_slack *s = (dkm_one_slack *)set;
    double *rows = NULL;

    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, set->oracle->n * set->n, &rows));
    dkm_state_field fields[] = {DKM_STATE_SLAB("choices", rows, set->map->m, set->n)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(fields)));
    DKM_AGREE(set->ctx, take_choices(s, rows));
    for (dkm_idx k = 0; k < set->n; k++)
        DKM_TRY(s->primal ? dkm_one_slack_primal_make(s, k) : load_scores(s, k));
out:
    DKM_FREE(rows);
    return status;
}
