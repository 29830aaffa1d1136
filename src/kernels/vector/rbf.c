/* rbf: k(x, x') = exp(-||x - x'||^2 / (2 sigma^2)), on vectors or in the space of another kernel,
 * where ||x - x'||^2 = k(x, x) + k(x', x') - 2 k(x, x'). With a width per column it is
 * exp(-sum_k (x_k - x'_k)^2 / (2 sigma_k^2)): columns are divided by their widths beforehand.
 *
 * The Gaussian or squared exponential kernel (Schoelkopf and Smola 2002, Learning with Kernels,
 * MIT Press, ch. 2). Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows,
 * and na nb exponentials in one vectorized pass (evaluation/tile_maps.h). Local. */
#include <math.h>

#include "kernels/evaluation/derivatives.h"
#include "kernels/evaluation/median_distance.h"
#include "kernels/evaluation/row_transform.h"
#include "kernels/vector/vectors.h"

static double rbf_rate(const dkm_node *node)
{
    double sigma = dkm_node_widths(node) ? 1.0 : dkm_node_param(node, 0);

    return 0.5 / (sigma * sigma);
}

static dkm_local rbf_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_gauss(C, dkm_panel_objs(task->A, node)->extra + task->a,
                  dkm_panel_objs(task->B, node)->extra + task->b, rbf_rate(node));
    return local;
}

static dkm_local rbf_of_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);

    dkm_map_gauss(C, dkm_panel_diag(task->A, node->inner[0]) + task->a,
                  dkm_panel_diag(task->B, node->inner[0]) + task->b, rbf_rate(node));
    return local;
}

/* ||x||^2 + ||x'||^2 - 2 <x, x'> is off by eps max ||x||^2, about. */
static double loss_by(const dkm_node *node, dkm_idx n, const double *squares)
{
    double most = 0;

    for (dkm_idx i = 0; i < n; i++)
        most = fmax(most, squares[i]);
    return 2.0 * rbf_rate(node) * most;
}

static double rbf_loss(const dkm_node *node, const dkm_panel *panel)
{
    return loss_by(node, panel->n, dkm_panel_objs(panel, node)->extra);
}

static double rbf_of_loss(const dkm_node *node, const dkm_panel *panel)
{
    return loss_by(node, panel->n, dkm_panel_diag(panel, node->inner[0]));
}

static void rbf_derivatives(const dkm_node *node, const dkm_dots *pairs, const dkm_derivatives *out)
{
    double r = rbf_rate(node);

    for (dkm_idx i = 0; i < pairs->n; i++)
        out->dk_ds[i] = -r * fmax(0.0, pairs->a[i] + pairs->b[i] - 2.0 * pairs->s[i]);
    dkm_exp_f64(pairs->n, out->dk_ds, out->k);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->dk_ds[i] = 2.0 * r * out->k[i];
        out->dk_da[i] = -r * out->k[i];
    }
}

/* With A for the kernel inside: k = exp(-r (A(a) + A(b) - 2 A)), A(a) its value on x alone. */
static void rbf_of_derivatives(const dkm_node *node, const dkm_dots *pairs,
                               const dkm_derivatives *out)
{
    double r = rbf_rate(node), k_a[DKM_PAIRS], slope_a[DKM_PAIRS], k_b[DKM_PAIRS],
           slope_b[DKM_PAIRS];

    dkm_node_derivatives(node->inner[0], pairs, out);
    dkm_node_diag_derivatives(node->inner[0], pairs->n, pairs->a, k_a, slope_a);
    dkm_node_diag_derivatives(node->inner[0], pairs->n, pairs->b, k_b, slope_b);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->k[i] = exp(-r * fmax(0.0, k_a[i] + k_b[i] - 2.0 * out->k[i]));
        out->dk_ds[i] *= 2.0 * r * out->k[i];
        out->dk_da[i] = r * out->k[i] * (2.0 * out->dk_da[i] - slope_a[i]);
    }
}

static const char *const words[] = {"median", NULL};

static dkm_status rbf_resolve(const dkm_kernel *kernel, const dkm_node *node, int k,
                              const dkm_data *X, double *number)
{
    (void)k;
    return dkm_median_distance(kernel, node, X, number);
}

const dkm_kernel_class dkm_kernel_class_rbf = {
    .name = "rbf",
    .origin = DKM_ORIGIN_FREE,
    .types = DKM_VECTOR_TYPES,
    .params = DKM_PARAMS(
        {.name = "sigma", .range = DKM_POSITIVE, .default_value = 1, .is_list = 1, .words = words}),
    .divides_columns = 1,
    .resolve = rbf_resolve,
    .precompute = dkm_vectors_precompute,
    .diag = dkm_diag_one,
    .loss = rbf_loss,
    .tile = rbf_tile,
    .derivatives = rbf_derivatives};

const dkm_kernel_class dkm_kernel_class_rbf_of = {
    .name = "rbf",
    .origin = DKM_ORIGIN_FREE,
    .min_inner = 1,
    .max_inner = 1,
    .needs_diag = DKM_ANY_DIAG,
    .params =
        DKM_PARAMS({.name = "sigma", .range = DKM_POSITIVE, .default_value = 1, .words = words}),
    .resolve = rbf_resolve,
    .diag = dkm_diag_one,
    .loss = rbf_of_loss,
    .tile = rbf_of_tile,
    .derivatives = rbf_of_derivatives};
