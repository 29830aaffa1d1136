/* on(COLUMNS, K): the kernel K of some columns of rows. Leaves inside it see no others
 * (row_transform.h). */
#include <string.h>

#include "kernels/evaluation/panel.h"
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

const dkm_kernel_class dkm_kernel_class_on = {.name = "on",
                                              .argument = DKM_ARGUMENT_COLUMNS,
                                              .origin = DKM_ORIGIN_AS_OUTSIDE,
                                              .types = DKM_VECTOR_TYPES,
                                              .min_inner = 1,
                                              .max_inner = 1,
                                              .diag = on_diag,
                                              .tile = on_tile};
