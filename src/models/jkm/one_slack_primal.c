/* Constraints of the 1-slack formulation as weight vectors W = X'U, one column per class.
 *
 * Cost per constraint: one addition per example and feature of the rank's share, and an inner
 * product of d r / ranks numbers with every other constraint. Held: d r / ranks numbers per
 * constraint. */
#include "models/jkm/one_slack_primal.h"

#include "core/alloc.h"
#include "models/jkm/joint_map/joint_map_primal.h"

/* One number of each example, from its rank to all. */
static dkm_status one_slack_primal_gather(const dkm_one_slack *s, const int32_t *mine, int32_t *all)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    int size = dkm_ctx_size(ctx), *counts = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * size, &counts));
    for (int r = 0; r < size; r++) {
        counts[r] = (int)dkm_slab_count(s->base.map->m, r, size);
        counts[size + r] = (int)dkm_slab_first(s->base.map->m, r, size);
    }
    MPI_Allgatherv(mine, counts[dkm_ctx_rank(ctx)], MPI_INT32_T, all, counts, counts + size,
                   MPI_INT32_T, dkm_ctx_comm(ctx));
out:
    DKM_FREE(counts);
    return status;
}

/* The classes of all examples, once. */
static dkm_status learn_truth(dkm_one_slack *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    const dkm_separation_oracle *o = s->base.oracle;
    int32_t *mine = NULL, *all = NULL;

    if (s->truth)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_alloc(ctx, o->n, &mine));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->base.map->m, &all));
    for (dkm_idx i = 0; i < o->n; i++)
        mine[i] = (int32_t)o->space->truth[i];
    DKM_TRY(one_slack_primal_gather(s, mine, all));
    s->truth = all;
    all = NULL;
out:
    DKM_FREE(all);
    DKM_FREE(mine);
    return status;
}

static dkm_idx one_slack_primal_numbers(const dkm_one_slack *s)
{
    dkm_idx first, mine;

    dkm_joint_map_share(s->base.map, &first, &mine);
    return mine * s->base.map->r;
}

dkm_status dkm_one_slack_primal_make(dkm_one_slack *s, dkm_idx k)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    int32_t *choice = NULL;

    DKM_TRY(learn_truth(s));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->base.map->m, &choice));
    DKM_AGREE(ctx, dkm_alloc(ctx, one_slack_primal_numbers(s), &s->W[k]));
    DKM_TRY(one_slack_primal_gather(s, s->choice[k], choice));
    DKM_AGREE(ctx, dkm_joint_map_primal_count(s->base.map, s->truth, choice,
                                              s->base.oracle->space->unit, s->W[k]));
out:
    DKM_FREE(choice);
    return status;
}

dkm_status dkm_one_slack_primal_inner(dkm_one_slack *s, dkm_twosum *products)
{
    dkm_status status = DKM_OK;
    dkm_idx r = s->base.map->r, count = one_slack_primal_numbers(s), last = s->base.n - 1;

    DKM_TRY(dkm_one_slack_primal_make(s, last));
    for (dkm_idx k = 0; k <= last; k++)
        for (dkm_idx f = 0; f < count; f += r) /* a feature at a time: those are a rank's or not */
            dkm_twosum_add(&products[k], dkm_qp_dot(r, s->W[k] + f, s->W[last] + f));
    DKM_TRY(dkm_twosum_allreduce(s->base.ctx, s->base.n, products));
out:
    return status;
}

dkm_status dkm_one_slack_primal_values(dkm_one_slack *s, double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx count = one_slack_primal_numbers(s);
    double *own = NULL;

    DKM_AGREE(s->base.ctx, dkm_calloc(s->base.ctx, count, &own));
    for (dkm_idx k = 0; k < s->base.n; k++)
        for (dkm_idx j = 0; s->base.a[k] > 0 && j < count; j++)
            own[j] += s->base.a[k] * s->W[k][j];
    DKM_TRY(dkm_joint_map_primal_values(s->base.map, own, G));
out:
    DKM_FREE(own);
    return status;
}
