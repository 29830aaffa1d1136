/* set: 2^|A and B|, the number of subsets that A and B share. Sets of more than 1023 members leave
 * the range of numbers unless the kernel is normalized: 2^(|A and B| - (|A| + |B|) / 2).
 *
 * The derived subsets kernel (Shawe-Taylor and Cristianini 2004, Kernel Methods for Pattern
 * Analysis, ch. 9, doi:10.1017/CBO9780511809682). Cost per value: |A| + |B| comparisons of
 * sorted lists. Local. */
#include <math.h>

#include "kernels/discrete/set_lists.h"

static void set_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = exp2(dkm_panel_objs(panel, node)->extra[i]);
}

/* 2^(twice / 2) */
static double half_power(double twice)
{
    return ldexp(fmod(twice, 2) == 0 ? 1.0 : 1.41421356237309504880, (int)floor(twice / 2));
}

static dkm_local set_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_sets_intersect(node, task, C);

    for (dkm_idx j = 0; local.code == DKM_OK && j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++)
            dkm_tile_put(C, i, j, half_power(2 * dkm_tile_get(C, i, j)));
    return local;
}

static dkm_local set_normalized_tile(const dkm_node *node, const dkm_tile_task *task,
                                     const dkm_tile *C)
{
    const double *a = dkm_panel_objs(task->A, node)->extra + task->a;
    const double *b = dkm_panel_objs(task->B, node)->extra + task->b;
    dkm_local local = dkm_sets_intersect(node, task, C);

    for (dkm_idx j = 0; local.code == DKM_OK && j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++)
            dkm_tile_put(C, i, j, half_power(2 * dkm_tile_get(C, i, j) - a[i] - b[j]));
    return local;
}

const dkm_kernel_class dkm_kernel_class_set = {
    .name = "set",
    .types = DKM_TYPE_BIT(DKM_SETS) | DKM_TYPE_BIT(DKM_LABEL_SETS) | DKM_TYPE_BIT(DKM_LABELS),
    .precompute = dkm_sets_precompute,
    .diag = set_diag,
    .tile = set_tile,
    .normalized_tile = set_normalized_tile};
