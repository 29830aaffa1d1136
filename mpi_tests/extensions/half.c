/* half: k(x, x') = <x, x'> / 2. An example of a kernel on vectors: see CONTRIBUTING.md. */
#include "kernels/vector/vectors.h"

static void half_diag(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;

    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = squares[i] / 2;
}

static dkm_local half_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_scale(C, 0.5);
    return local;
}

const dkm_kernel_class dkm_kernel_class_half = {.name = "half",
                                                .types = DKM_VECTOR_TYPES,
                                                .precompute = dkm_vectors_precompute,
                                                .diag = half_diag,
                                                .tile = half_tile};
