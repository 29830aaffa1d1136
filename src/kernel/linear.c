/* linear: k(x, x') = <x, x'>. */
#include "kernel/vectors.h"

static void linear_self(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *self = dkm_panel_self(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        self[i] = squares[i];
}

const dkm_kind dkm_kind_linear = {.name = "linear",
                                  .types = DKM_VECTOR_TYPES,
                                  .digest = dkm_vectors_digest,
                                  .self = linear_self,
                                  .tile = dkm_vectors_dot};
