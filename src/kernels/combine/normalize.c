/* normalize(A): A(x, x') / sqrt(A(x, x) A(x', x')). An object with A(x, x) = 0 gets a unit axis of
 * its own, shared with its equals alone: left at the origin such objects would be near to all.
 *
 * Cost per value: one multiplication beside that of A; the m values A(x, x) are computed once,
 * each rank for its own objects. */
#include <math.h>

#include "kernels/evaluation/derivatives.h"
#include "kernels/evaluation/object_hash.h"
#include "kernels/evaluation/panel.h"

static dkm_local normalize_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    (void)node;
    DKM_STEP(dkm_objs_init(out, X->ctx, DKM_DENSE, X->n, 0, 0));
    DKM_STEP(dkm_objs_add_extra(out, 1));
    for (dkm_idx i = 0; i < X->n; i++)
        out->extra[i] = dkm_object_hash(X, i);
out:
    return local;
}

static dkm_local normalize_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const dkm_node *inner = node->inner[0];
    const double *a = dkm_panel_diag(task->A, inner) + task->a;
    const double *b = dkm_panel_diag(task->B, inner) + task->b;
    dkm_local local;

    if (inner->kind->normalized_tile) {
        local = inner->kind->normalized_tile(inner, task, C);
    } else {
        local = dkm_node_tile(inner, task, C);
        dkm_map_normalize(C, a, b);
    }
    dkm_map_zero_pairs(C, a, b, dkm_panel_objs(task->A, node)->extra + task->a,
                       dkm_panel_objs(task->B, node)->extra + task->b);
    return local;
}

static void normalize_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] =
            isnan(dkm_panel_diag(panel, node->inner[0])[i]) ? NAN : 1.0;
}

static void normalize_derivatives(const dkm_node *node, const dkm_dots *pairs,
                                  const dkm_derivatives *out)
{
    double k_a[DKM_PAIRS], slope_a[DKM_PAIRS], k_b[DKM_PAIRS], slope_b[DKM_PAIRS];

    dkm_node_derivatives(node->inner[0], pairs, out);
    dkm_node_diag_derivatives(node->inner[0], pairs->n, pairs->a, k_a, slope_a);
    dkm_node_diag_derivatives(node->inner[0], pairs->n, pairs->b, k_b, slope_b);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        double norms = sqrt(k_a[i]) * sqrt(k_b[i]);
        int zero = !(norms > 0);
        out->k[i] = zero ? k_a[i] == k_b[i] && pairs->a[i] == pairs->b[i] : out->k[i] / norms;
        out->dk_ds[i] = zero ? 0.0 : out->dk_ds[i] / norms;
        out->dk_da[i] = zero ? 0.0 : out->dk_da[i] / norms - 0.5 * out->k[i] * slope_a[i] / k_a[i];
    }
}

const dkm_kernel_class dkm_kernel_class_normalize = {.name = "normalize",
                                                     .min_inner = 1,
                                                     .max_inner = 1,
                                                     .needs_diag = DKM_DIAG_ROOT,
                                                     .precompute = normalize_precompute,
                                                     .diag = normalize_diag,
                                                     .tile = normalize_tile,
                                                     .derivatives = normalize_derivatives};
