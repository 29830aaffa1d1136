/* on(COLUMNS, K): the kernel K of some columns of rows. Leaves inside it see no others
 * (row_transform.h). */
#include <string.h>

#include "kernels/evaluation/param_derivatives.h"
#include "kernels/vector/vectors.h"

static dkm_local on_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    return dkm_node_tile(node->inner[0], task, C);
}

static void on_diag(const dkm_node *node, dkm_panel *panel)
{
    memcpy(dkm_panel_diag(panel, node), dkm_panel_diag(panel, node->inner[0]),
           (size_t)panel->n * sizeof(double));
}

static dkm_local on_param_tile(const dkm_node *node, const dkm_tile_task *task,
                               const dkm_param_place *by, const dkm_tile *D)
{
    return dkm_node_param_tile(node->inner[0], task, by, D);
}

static dkm_local on_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                               dkm_idx n, const dkm_param_place *by, double *diag)
{
    return dkm_node_param_diag(node->inner[0], panel, first, n, by, diag);
}

const dkm_kernel_class dkm_kernel_class_on = {.name = "on",
                                              .argument = DKM_ARGUMENT_COLUMNS,
                                              .origin = DKM_ORIGIN_AS_OUTSIDE,
                                              .types = DKM_VECTOR_TYPES,
                                              .min_inner = 1,
                                              .max_inner = 1,
                                              .diag = on_diag,
                                              .tile = on_tile,
                                              .param_tile = on_param_tile,
                                              .param_diag = on_param_diag};
