/* linear: k(x, x') = <x, x'>. */
#include "kernel/vectors.h"

static void linear_self(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *self = dkm_panel_self(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        self[i] = squares[i];
}

static void linear_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    (void)node;
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->k[i] = pairs->s[i];
        out->by_s[i] = 1.0;
        out->by_a[i] = 0.0;
    }
}

static double linear_inverse(const dkm_node *node, double k)
{
    (void)node;
    return k;
}

const dkm_kind dkm_kind_linear = {.name = "linear",
                                  .origin = DKM_ORIGIN_AS_OUTSIDE,
                                  .types = DKM_VECTOR_TYPES,
                                  .digest = dkm_vectors_digest,
                                  .self = linear_self,
                                  .tile = dkm_vectors_dot,
                                  .slopes = linear_slopes,
                                  .inverse = linear_inverse};
