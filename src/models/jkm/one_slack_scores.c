/* Constraints of the 1-slack formulation as scores G_k = W_k x of the own examples.
 *
 * The scores of w = sum_k a_k W_k are sum_k a_k G_k: with the G_k kept, an iteration applies the joint
 * map once, to the new constraint, and adds up what is at hand. Where outputs are classes and inputs
 * enter by a kernel matrix alone, the rows of a constraint are told by one number per example,
 *
 *   u_i = z_i - c_i = unit (e of its class - e of the candidate),
 *
 * and those travel instead of the rows: a byte each, two or four where there are more than 254 or
 * 65,534 candidates.
 *
 * Cost per iteration: one product with the kernel matrix, 2 m^2 r / ranks flops, and what its choices and
 * sums take on a grid of R x C ranks (joint_map_matrix.c). Held per rank: m r / ranks numbers per constraint,
 * for as many as take no more than the kernel matrix, and at least FEW; two words of 4 bytes for each of
 * m / C examples where they are classes. */
#include "models/jkm/one_slack_scores.h"

#include "core/alloc.h"
#include "core/minmax.h"

#define FEW 16 /* constraints whose scores are kept, however many coordinates outputs have */

int dkm_one_slack_scores_fit(const dkm_one_slack *s)
{
    dkm_idx kept = 0, r = s->base.map->r;

    for (dkm_idx k = 0; k < s->base.n; k++)
        kept += s->W[k] != NULL;
    return kept < dkm_idx_max(FEW, s->base.map->m / dkm_idx_max(r, 1));
}

int dkm_one_slack_is_named(const dkm_joint_map *map, const dkm_output_space *space,
                           const dkm_jkm_settings *settings)
{
    return dkm_joint_map_is_kernel(map) && space->classes.classes && !settings->weights;
}

double dkm_one_slack_row_bytes(const dkm_joint_map *map, const dkm_output_space *space,
                               const dkm_jkm_settings *settings)
{
    return dkm_one_slack_is_named(map, space, settings) ? dkm_joint_map_choice_bytes(space->count)
                                                        : 8.0 * (double)map->r;
}

dkm_status dkm_one_slack_scores_make(dkm_one_slack *s, dkm_idx k, const double *U, double *G)
{
    const dkm_output_space *space = s->base.oracle->space;

    if (!s->named)
        return dkm_joint_map_apply(s->base.map, NULL, U, G);
    return dkm_joint_map_matrix_multiply_choices(
        s->base.map->matrix,
        &(dkm_joint_map_choices){space->truth, s->choice[k], space->count, space->unit}, G);
}

void dkm_one_slack_scores_add(const dkm_one_slack *s, double *G)
{
    dkm_idx count = s->base.oracle->n * s->base.map->r;

    for (dkm_idx k = 0; k < s->base.n; k++)
        for (dkm_idx j = 0; s->W[k] && s->base.a[k] > 0 && j < count; j++)
            G[j] += s->base.a[k] * s->W[k][j];
}
