/** @file param_derivatives.h  Derivatives of kernels by their own parameters, through nested kernels
 *  by the chain rule.
 *
 *  A number can be differentiated by where its node and all nodes around it have `param_tile`;
 *  counts (degree, p) and numbers that are choices (nu) have no derivative.
 */
#ifndef DKMAP_KERNELS_EVALUATION_PARAM_DERIVATIVES_H
#define DKMAP_KERNELS_EVALUATION_PARAM_DERIVATIVES_H

#include "kernels/evaluation/panel.h"

/** The numbers > 0 of a kernel that it has derivatives by, in the order of its text. Local.
 *  @param[out] places  @p capacity of them at most
 *  @return how many there are */
dkm_idx dkm_kernel_list_params(const dkm_kernel *kernel, dkm_idx capacity, dkm_param_place *places);

/** One of them. Local. */
static inline double *dkm_param_number(const dkm_kernel *kernel, const dkm_param_place *place)
{
    return &kernel->node[place->node].param[place->param].numbers[place->number];
}

/** Give a node that takes a list of widths and has one of them as many as the rows have columns, all
 *  the same. Local; nothing is prepared for the kernel. dkm_kernel_update() comes after.
 *  @param[in] d  columns of the training objects, which are dense rows
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_kernel_widen(dkm_kernel *kernel, dkm_idx d);

/** Whether the number is one of the node itself. Local. */
static inline int dkm_param_is_own(const dkm_node *node, const dkm_param_place *by)
{
    return node->index == by->node;
}

/** The kernel inside a node that has the number. Local. */
const dkm_node *dkm_param_inner(const dkm_node *node, const dkm_param_place *by);

/** Derivatives of a node inside another. Local. */
static inline dkm_local dkm_node_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                            const dkm_param_place *by, const dkm_tile *D)
{
    return node->kind->param_tile(node, task, by, D);
}

/** The same of k(x, x). Local. */
DKM_NODISCARD dkm_local dkm_node_param_diag(const dkm_node *node, const dkm_panel *panel,
                                            dkm_idx first, dkm_idx n, const dkm_param_place *by,
                                            double *diag);

/** Values of a node, in a tile of its own as large as @p like. Local.
 *  @param[out] V  DKM_FREE() frees its elements, also after a failure */
DKM_NODISCARD dkm_local dkm_param_values(const dkm_node *node, const dkm_tile_task *task,
                                         const dkm_tile *like, dkm_tile *V);

/** Derivatives of k(x, x) of the rows and of the columns of a tile. */
typedef struct dkm_param_sides {
    double *a, *b;
} dkm_param_sides;

/** Local; dkm_param_sides_close() frees, also after a failure. Without @p by all are 0. */
DKM_NODISCARD dkm_local dkm_param_sides_open(const dkm_node *node, const dkm_tile_task *task,
                                             const dkm_param_place *by, const dkm_tile *like,
                                             dkm_param_sides *sides);
void dkm_param_sides_close(dkm_param_sides *sides);

#endif
