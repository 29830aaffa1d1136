/* Constraints of the 1-slack formulation as scores G_k = W_k x of the own examples.
 *
 * The scores of w = sum_k a_k W_k are sum_k a_k G_k: with the G_k kept, an iteration applies the joint
 * map once, to the new constraint, and adds up what is at hand. Where outputs are classes and inputs
 * enter by a kernel matrix alone, the rows of a constraint are told by one number per example,
 *
 *   u_i = z_i - c_i = unit (e of its class - e of the candidate),
 *
 * and those travel instead of the rows.
 *
 * Cost per iteration: a byte per example received and, in a ring, sent by each rank (two or four where
 * there are more than 254 or 65,534 candidates), m r words of 8 bytes otherwise; 2 m^2 r / ranks flops.
 * Held per rank: m r / ranks numbers per constraint, for as many as take no more than the kernel
 * matrix, and at least FEW; two words of 4 bytes per example of all ranks where they are classes. */
#include "models/jkm/one_slack_scores.h"

#include "core/alloc.h"
#include "core/minmax.h"

#define FEW 16 /* constraints whose scores are kept, however many coordinates outputs have */

/* Bytes that tell numbers from -1 to count - 1 apart. */
static int choice_bytes(dkm_idx count)
{
    return count < 1 ? 4 : count < UINT8_MAX ? 1 : count < UINT16_MAX ? 2 : 4;
}

static void pack_choices(dkm_idx n, const int32_t *from, int bytes, unsigned char *to)
{
    for (dkm_idx i = 0; i < n; i++)
        for (int k = 0; k < bytes; k++)
            to[i * bytes + k] = (unsigned char)(((uint32_t)from[i] + 1u) >> (8 * k));
}

static void unpack_choices(dkm_idx n, const unsigned char *from, int bytes, int32_t *to)
{
    for (dkm_idx i = 0; i < n; i++) {
        uint32_t choice = 0;
        for (int k = 0; k < bytes; k++)
            choice |= (uint32_t)from[i * bytes + k] << (8 * k);
        to[i] = (int32_t)(choice - 1u);
    }
}

dkm_status dkm_one_slack_gather(const dkm_one_slack *s, const int32_t *mine, int32_t *all)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx m = s->base.map->m, own = s->base.oracle->n;
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx), *counts = NULL,
        bytes = choice_bytes(s->base.oracle->space->count);
    unsigned char *packed = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * size, &counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, m * bytes, &packed));
    for (int r = 0; r < size; r++) {
        counts[r] = bytes * (int)dkm_slab_count(m, r, size);
        counts[size + r] = bytes * (int)dkm_slab_first(m, r, size);
    }
    pack_choices(own, mine, bytes, packed + counts[size + rank]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, packed, counts, counts + size, MPI_BYTE,
                   dkm_ctx_comm(ctx));
    unpack_choices(m, packed, bytes, all);
out:
    DKM_FREE(packed);
    DKM_FREE(counts);
    return status;
}

dkm_status dkm_one_slack_learn_truth(dkm_one_slack *s)
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
    DKM_TRY(dkm_one_slack_gather(s, mine, all));
    s->truth = all;
    all = NULL;
out:
    DKM_FREE(all);
    DKM_FREE(mine);
    return status;
}

int dkm_one_slack_scores_fit(const dkm_one_slack *s)
{
    dkm_idx kept = 0, r = s->base.map->r;

    for (dkm_idx k = 0; k < s->base.n; k++)
        kept += s->W[k] != NULL;
    return kept < dkm_idx_max(FEW, s->base.map->m / dkm_idx_max(r, 1));
}

static dkm_status scores_of_choices(dkm_one_slack *s, dkm_idx k, double *G)
{
    dkm_status status = DKM_OK;
    int32_t *choice = NULL;

    DKM_TRY(dkm_one_slack_learn_truth(s));
    DKM_AGREE(s->base.ctx, dkm_alloc(s->base.ctx, s->base.map->m, &choice));
    DKM_TRY(dkm_one_slack_gather(s, s->choice[k], choice));
    DKM_TRY(dkm_joint_map_apply_choices(
        s->base.map, &(dkm_joint_map_choices){s->truth, choice, s->base.oracle->space->unit}, G));
out:
    DKM_FREE(choice);
    return status;
}

dkm_status dkm_one_slack_scores_make(dkm_one_slack *s, dkm_idx k, const double *U, double *G)
{
    return s->named ? scores_of_choices(s, k, G) : dkm_joint_map_apply(s->base.map, NULL, U, G);
}

void dkm_one_slack_scores_add(const dkm_one_slack *s, double *G)
{
    dkm_idx count = s->base.oracle->n * s->base.map->r;

    for (dkm_idx k = 0; k < s->base.n; k++)
        for (dkm_idx j = 0; s->W[k] && s->base.a[k] > 0 && j < count; j++)
            G[j] += s->base.a[k] * s->W[k][j];
}
