/* expdot: k(x, x') = exp(<x, x'> / sigma^2). Normalized, it is exp(-||x - x'||^2 / (2 sigma^2)).
 *
 * Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows, and na nb
 * exponentials. Local. */
#include <math.h>

#include "kernels/vector/vectors.h"

static double exponential_rate(const dkm_node *node)
{
    return 1.0 / (dkm_node_param(node, 0) * dkm_node_param(node, 0));
}

static void expdot_diag(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *diag = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        diag[i] = exp(squares[i] * exponential_rate(node));
}

static dkm_local expdot_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_exp(C, exponential_rate(node));
    return local;
}

static dkm_local expdot_normalized_tile(const dkm_node *node, const dkm_tile_task *task,
                                        const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_gauss(C, dkm_panel_objs(task->A, node)->extra + task->a,
                  dkm_panel_objs(task->B, node)->extra + task->b, exponential_rate(node) / 2);
    return local;
}

static void expdot_derivatives(const dkm_node *node, const dkm_dots *pairs,
                               const dkm_derivatives *out)
{
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->k[i] = exp(pairs->s[i] * exponential_rate(node));
        out->dk_ds[i] = exponential_rate(node) * out->k[i];
        out->dk_da[i] = 0.0;
    }
}

static double expdot_inverse(const dkm_node *node, double k)
{
    return k > 0 ? log(k) / exponential_rate(node) : NAN;
}

/* dk / d sigma = -2 s k / sigma^3 */
static double expdot_param_slope(const dkm_node *node, double s)
{
    double rate = exponential_rate(node);

    return -2.0 * s * rate * exp(s * rate) / dkm_node_param(node, 0);
}

const dkm_kernel_class dkm_kernel_class_expdot = {
    .name = "expdot",
    .types = DKM_VECTOR_TYPES,
    .params = DKM_PARAMS({.name = "sigma", .range = DKM_POSITIVE, .default_value = 1}),
    .precompute = dkm_vectors_precompute,
    .diag = expdot_diag,
    .tile = expdot_tile,
    .normalized_tile = expdot_normalized_tile,
    .derivatives = expdot_derivatives,
    .inverse = expdot_inverse,
    .param_slope = expdot_param_slope,
    .param_tile = dkm_vectors_slope_tile,
    .param_diag = dkm_vectors_slope_diag};
