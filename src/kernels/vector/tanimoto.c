/* tanimoto: k(x, x') = <x, x'> / (||x||^2 + ||x'||^2 - <x, x'>), of rows of 0 and 1 the share of
 * common entries (Jaccard), much used for molecular fingerprints (Ralaivola, Swamidass, Saigo, Baldi
 * 2005, doi:10.1016/j.neunet.2005.07.009). Zero rows: 1 among themselves, else 0.
 *
 * Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows. Local. */
#include <math.h>

#include "kernels/vector/vectors.h"

static dkm_local tanimoto_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const double *a = dkm_panel_objs(task->A, node)->extra + task->a;
    const double *b = dkm_panel_objs(task->B, node)->extra + task->b;
    dkm_local local = dkm_vectors_dot(node, task, C);

    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++) {
            double s = dkm_tile_get(C, i, j), both = a[i] + b[j] - s;
            dkm_tile_put(C, i, j, both > 0 ? s / both : 1.0);
        }
    return local;
}

static void tanimoto_derivatives(const dkm_node *node, const dkm_dots *pairs,
                                 const dkm_derivatives *out)
{
    (void)node;
    for (dkm_idx i = 0; i < pairs->n; i++) {
        double s = pairs->s[i], norms = pairs->a[i] + pairs->b[i], both = norms - s;
        out->k[i] = both > 0 ? s / both : 1.0;
        out->dk_ds[i] = both > 0 ? norms / (both * both) : 0.0;
        out->dk_da[i] = both > 0 ? -s / (both * both) : 0.0;
    }
}

const dkm_kernel_class dkm_kernel_class_tanimoto = {.name = "tanimoto",
                                                    .types = DKM_VECTOR_TYPES,
                                                    .precompute = dkm_vectors_precompute,
                                                    .diag = dkm_diag_one,
                                                    .tile = tanimoto_tile,
                                                    .derivatives = tanimoto_derivatives};
