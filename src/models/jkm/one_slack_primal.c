/* Constraints of the 1-slack formulation as weight vectors W = X'U, one column per class.
 *
 * Cost per constraint: two additions per feature of the rank's examples, sums of d r words reduced to the
 * shares of the features, and an inner product of d r / ranks numbers with every other constraint. Held:
 * d r / ranks numbers per constraint. */
#include "models/jkm/one_slack_primal.h"

#include "core/alloc.h"
#include "models/jkm/joint_map/joint_map_primal.h"

static dkm_idx one_slack_primal_numbers(const dkm_one_slack *s)
{
    dkm_idx first, mine;

    dkm_joint_map_share(s->base.map, &first, &mine);
    return mine * s->base.map->r;
}

dkm_status dkm_one_slack_primal_make(dkm_one_slack *s, dkm_idx k)
{
    dkm_status status = DKM_OK;
    const dkm_output_space *space = s->base.oracle->space;

    DKM_AGREE(s->base.ctx, dkm_alloc(s->base.ctx, one_slack_primal_numbers(s), &s->W[k]));
    DKM_TRY(
        dkm_joint_map_primal_sum(s->base.map, space->truth, s->choice[k], space->unit, s->W[k]));
out:
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
