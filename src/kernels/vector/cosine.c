/* cosine: k(x, x') = <x, x'> / (||x|| ||x'||). Zero vectors have an axis of their own: 1 among
 * themselves, 0 to all others, as `normalize` has it for every kernel.
 *
 * Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows. Local. */
#include <math.h>

#include "kernels/vector/vectors.h"

static dkm_local cosine_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const double *a = dkm_panel_objs(task->A, node)->extra + task->a;
    const double *b = dkm_panel_objs(task->B, node)->extra + task->b;
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_normalize(C, a, b);
    dkm_map_zero_pairs(C, a, b, NULL, NULL);
    return local;
}

static void cosine_derivatives(const dkm_node *node, const dkm_dots *pairs,
                               const dkm_derivatives *out)
{
    (void)node;
    for (dkm_idx i = 0; i < pairs->n; i++) {
        double a = pairs->a[i], b = pairs->b[i], norms = sqrt(a) * sqrt(b);
        out->k[i] = norms > 0 ? pairs->s[i] / norms : a == b;
        out->dk_ds[i] = norms > 0 ? 1.0 / norms : 0.0;
        out->dk_da[i] = norms > 0 ? -0.5 * out->k[i] / a : 0.0;
    }
}

const dkm_kernel_class dkm_kernel_class_cosine = {.name = "cosine",
                                                  .types = DKM_VECTOR_TYPES,
                                                  .precompute = dkm_vectors_precompute,
                                                  .diag = dkm_diag_one,
                                                  .tile = cosine_tile,
                                                  .derivatives = cosine_derivatives};
