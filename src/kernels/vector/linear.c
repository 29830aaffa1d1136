/* linear: k(x, x') = <x, x'>.
 *
 * Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows. Local. */
#include "kernels/vector/vectors.h"

static void linear_diag(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *diag = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        diag[i] = squares[i];
}

static void linear_derivatives(const dkm_node *node, const dkm_dots *pairs,
                               const dkm_derivatives *out)
{
    (void)node;
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->k[i] = pairs->s[i];
        out->dk_ds[i] = 1.0;
        out->dk_da[i] = 0.0;
    }
}

static double linear_inverse(const dkm_node *node, double k)
{
    (void)node;
    return k;
}

const dkm_kernel_class dkm_kernel_class_linear = {.name = "linear",
                                                  .origin = DKM_ORIGIN_AS_OUTSIDE,
                                                  .types = DKM_VECTOR_TYPES,
                                                  .precompute = dkm_vectors_precompute,
                                                  .diag = linear_diag,
                                                  .tile = dkm_vectors_dot,
                                                  .derivatives = linear_derivatives,
                                                  .inverse = linear_inverse};
