/* rbf: k(x, x') = exp(-||x - x'||^2 / (2 sigma^2)), on vectors or in the space of another kernel,
 * where ||x - x'||^2 = k(x, x) + k(x', x') - 2 k(x, x'). With a width per column it is
 * exp(-sum_k (x_k - x'_k)^2 / (2 sigma_k^2)): columns are divided by their widths beforehand.
 *
 * The Gaussian or squared exponential kernel (Schoelkopf and Smola 2002, Learning with Kernels,
 * MIT Press, ch. 2). Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows,
 * and na nb exponentials in one vectorized pass (evaluation/tile_maps.h). Local. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "kernels/evaluation/median_distance.h"
#include "kernels/evaluation/param_derivatives.h"
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

/* f(q) = exp(-q / 2). */
static double rbf_slope(const dkm_node *node, double q)
{
    (void)node;
    return -0.5 * exp(-0.5 * q);
}

static dkm_local rbf_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                const dkm_param_place *by, const dkm_tile *D)
{
    return dkm_vectors_width_tile(node, task, by->number, rbf_slope, D);
}

/* With A for the kernel inside, D = A(x, x) + A(x', x') - 2 A(x, x') and k = exp(-r D):
 * dk / d sigma = k D / sigma^3, and -r k dD for what is inside. */
static dkm_local rbf_of_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                   const dkm_param_place *by, const dkm_tile *D)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *inner = node->inner[0];
    const double *a = dkm_panel_diag(task->A, inner) + task->a;
    const double *b = dkm_panel_diag(task->B, inner) + task->b;
    double sigma = dkm_node_param(node, 0), r = rbf_rate(node), *d = D->c;
    int own = dkm_param_is_own(node, by);
    dkm_param_sides sides = {0};
    dkm_tile V = {0};

    DKM_STEP(dkm_param_values(inner, task, D, &V));
    DKM_STEP(dkm_param_sides_open(inner, task, own ? NULL : by, D, &sides));
    if (!own)
        DKM_STEP(dkm_node_param_tile(inner, task, by, D));
    for (dkm_idx j = 0; j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++) {
            double *at = &d[i + j * D->ld];
            double gap = fmax(0.0, a[i] + b[j] - 2.0 * dkm_tile_get(&V, i, j));
            double k = exp(-r * gap);
            *at = own ? k * gap / (sigma * sigma * sigma)
                      : -r * k * (sides.a[i] + sides.b[j] - 2.0 * *at);
        }
out:
    dkm_param_sides_close(&sides);
    DKM_FREE(V.c);
    return local;
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
    .derivatives = rbf_derivatives,
    .param_tile = rbf_param_tile};

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
    .derivatives = rbf_of_derivatives,
    .param_tile = rbf_of_param_tile};
