/* Kernels on labels:
 *   class   1/2 where two labels are the same, else 0: different classes are at distance 1
 *   labels  how many labels two sets share, the inner product of their indicator vectors
 *
 * Cost per value: |A| + |B| comparisons of sorted lists. Local. */
#include "kernels/discrete/set_lists.h"

static dkm_local class_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    (void)node;
    *out = *X;
    out->extra = NULL;
    out->extras = 0;
    return DKM_LOCAL_OK;
}

static void class_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = 0.5;
}

static dkm_local class_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const double *a = dkm_panel_objs(task->A, node)->values + task->a;
    const double *b = dkm_panel_objs(task->B, node)->values + task->b;

    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++)
            dkm_tile_put(C, i, j, a[i] == b[j] ? 0.5 : 0.0);
    return DKM_LOCAL_OK;
}

static void labels_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = dkm_panel_objs(panel, node)->extra[i];
}

const dkm_kernel_class dkm_kernel_class_class = {.name = "class",
                                                 .types = DKM_TYPE_BIT(DKM_LABELS),
                                                 .precompute = class_precompute,
                                                 .diag = class_diag,
                                                 .tile = class_tile};

const dkm_kernel_class dkm_kernel_class_labels = {.name = "labels",
                                                  .types = DKM_TYPE_BIT(DKM_LABELS) |
                                                           DKM_TYPE_BIT(DKM_LABEL_SETS),
                                                  .precompute = dkm_sets_precompute,
                                                  .diag = labels_diag,
                                                  .tile = dkm_sets_intersect};
