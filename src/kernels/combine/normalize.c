/* normalize(A): A(x, x') / sqrt(A(x, x) A(x', x')). An object with A(x, x) = 0 gets a unit axis of
 * its own, shared with its equals alone: left at the origin such objects would be near to all.
 *
 * Cost per value: one multiplication beside that of A; the m values A(x, x) are computed once,
 * each rank for its own objects. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "kernels/evaluation/object_hash.h"
#include "kernels/evaluation/param_derivatives.h"

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

/* With A for the kernel inside and n = sqrt(A(x, x) A(x', x')): dk = dA / n - k (dA(x, x) / A(x, x) +
 * dA(x', x') / A(x', x')) / 2. */
static dkm_local normalize_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                      const dkm_param_place *by, const dkm_tile *D)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *inner = node->inner[0];
    const double *a = dkm_panel_diag(task->A, inner) + task->a;
    const double *b = dkm_panel_diag(task->B, inner) + task->b;
    dkm_param_sides sides = {0};
    dkm_tile V = {0};
    double *d = D->c;

    DKM_STEP(dkm_param_values(inner, task, D, &V));
    DKM_STEP(dkm_param_sides_open(inner, task, by, D, &sides));
    DKM_STEP(dkm_node_param_tile(inner, task, by, D));
    for (dkm_idx j = 0; j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++) {
            double *at = &d[i + j * D->ld], norm = sqrt(a[i]) * sqrt(b[j]);
            double k = dkm_tile_get(&V, i, j) / norm;
            *at = norm > 0 ? *at / norm - 0.5 * k * (sides.a[i] / a[i] + sides.b[j] / b[j]) : 0.0;
        }
out:
    dkm_param_sides_close(&sides);
    DKM_FREE(V.c);
    return local;
}

const dkm_kernel_class dkm_kernel_class_normalize = {.name = "normalize",
                                                     .min_inner = 1,
                                                     .max_inner = 1,
                                                     .needs_diag = DKM_DIAG_ROOT,
                                                     .precompute = normalize_precompute,
                                                     .diag = normalize_diag,
                                                     .tile = normalize_tile,
                                                     .derivatives = normalize_derivatives,
                                                     .param_tile = normalize_param_tile};
