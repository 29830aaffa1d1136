/* Kernels made from kernels, element by element:
 *   sum(A, B, ...)      A + B + ...
 *   product(A, B, ...)  A B ...
 *   scale(A, by)        by A
 *   power(A, degree)    A^degree
 *   exp(A)              exp(A)
 *
 * Sums, products, positive multiples, powers and exponentials of kernels are kernels
 * (Shawe-Taylor and Cristianini 2004, Kernel Methods for Pattern Analysis, ch. 3,
 * doi:10.1017/CBO9780511809682). Cost per value: one operation per argument beside those of the
 * arguments; a tile of scratch. Local. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "kernels/evaluation/param_derivatives.h"

/* Combine the tiles of all inner kernels; those after the first are evaluated beside C. */
static dkm_local combine_combine(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C,
                                 void (*map)(const dkm_tile *C, const dkm_tile *D))
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);
    dkm_tile D = {C->precision, C->na, C->nb, C->na, task->scratch};
    dkm_tile_task beside = *task;

    beside.scratch = dkm_tile_at(&D, 0, D.nb);
    for (dkm_idx k = 1; local.code == DKM_OK && k < node->inner_count; k++) {
        local = dkm_node_tile(node->inner[k], &beside, &D);
        map(C, &D);
    }
    return local;
}

static dkm_local sum_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    return combine_combine(node, task, C, dkm_map_add);
}

static void sum_diag(const dkm_node *node, dkm_panel *panel)
{
    double *diag = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++) {
        diag[i] = 0;
        for (dkm_idx k = 0; k < node->inner_count; k++)
            diag[i] += dkm_panel_diag(panel, node->inner[k])[i];
    }
}

static dkm_local product_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    return combine_combine(node, task, C, dkm_map_multiply);
}

static void product_diag(const dkm_node *node, dkm_panel *panel)
{
    double *diag = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++) {
        diag[i] = 1;
        for (dkm_idx k = 0; k < node->inner_count; k++)
            diag[i] *= dkm_panel_diag(panel, node->inner[k])[i];
    }
}

static dkm_local scale_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);

    dkm_map_scale(C, dkm_node_param(node, 0));
    return local;
}

static void scale_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] =
            dkm_node_param(node, 0) * dkm_panel_diag(panel, node->inner[0])[i];
}

static dkm_local power_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);

    dkm_map_power(C, 0.0, (dkm_idx)dkm_node_param(node, 0));
    return local;
}

static void power_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] =
            pow(dkm_panel_diag(panel, node->inner[0])[i], dkm_node_param(node, 0));
}

static dkm_local exp_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);

    dkm_map_exp(C, 1.0);
    return local;
}

/* exp(A) / sqrt(exp(A_aa) exp(A_bb)) = exp(-(A_aa + A_bb - 2 A) / 2) */
static dkm_local exp_normalized_tile(const dkm_node *node, const dkm_tile_task *task,
                                     const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);

    dkm_map_gauss(C, dkm_panel_diag(task->A, node->inner[0]) + task->a,
                  dkm_panel_diag(task->B, node->inner[0]) + task->b, 0.5);
    return local;
}

static void exp_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = exp(dkm_panel_diag(panel, node->inner[0])[i]);
}

/* Values and derivatives of all inner kernels, joined by @p join one after the other. */
static void combine_derivatives(const dkm_node *node, const dkm_dots *pairs,
                                const dkm_derivatives *out,
                                void (*join)(dkm_idx n, const dkm_derivatives *out,
                                             const dkm_derivatives *next))
{
    double k[DKM_PAIRS], dk_ds[DKM_PAIRS], dk_da[DKM_PAIRS];
    dkm_derivatives next = {k, dk_ds, dk_da};

    dkm_node_derivatives(node->inner[0], pairs, out);
    for (dkm_idx j = 1; j < node->inner_count; j++) {
        dkm_node_derivatives(node->inner[j], pairs, &next);
        join(pairs->n, out, &next);
    }
}

static void join_sum(dkm_idx n, const dkm_derivatives *out, const dkm_derivatives *next)
{
    for (dkm_idx i = 0; i < n; i++) {
        out->k[i] += next->k[i];
        out->dk_ds[i] += next->dk_ds[i];
        out->dk_da[i] += next->dk_da[i];
    }
}

static void sum_derivatives(const dkm_node *node, const dkm_dots *pairs, const dkm_derivatives *out)
{
    combine_derivatives(node, pairs, out, join_sum);
}

static void join_product(dkm_idx n, const dkm_derivatives *out, const dkm_derivatives *next)
{
    for (dkm_idx i = 0; i < n; i++) {
        out->dk_ds[i] = out->dk_ds[i] * next->k[i] + out->k[i] * next->dk_ds[i];
        out->dk_da[i] = out->dk_da[i] * next->k[i] + out->k[i] * next->dk_da[i];
        out->k[i] *= next->k[i];
    }
}

static void product_derivatives(const dkm_node *node, const dkm_dots *pairs,
                                const dkm_derivatives *out)
{
    combine_derivatives(node, pairs, out, join_product);
}

/* The chain rule: with @p slope the derivative of the outer function at the inner value. */
static void chain(const dkm_derivatives *out, dkm_idx i, double value, double slope)
{
    out->k[i] = value;
    out->dk_ds[i] *= slope;
    out->dk_da[i] *= slope;
}

static void scale_derivatives(const dkm_node *node, const dkm_dots *pairs,
                              const dkm_derivatives *out)
{
    dkm_node_derivatives(node->inner[0], pairs, out);
    for (dkm_idx i = 0; i < pairs->n; i++)
        chain(out, i, dkm_node_param(node, 0) * out->k[i], dkm_node_param(node, 0));
}

static double scale_inverse(const dkm_node *node, double k)
{
    return k / dkm_node_param(node, 0);
}

static void power_derivatives(const dkm_node *node, const dkm_dots *pairs,
                              const dkm_derivatives *out)
{
    double degree = dkm_node_param(node, 0);

    dkm_node_derivatives(node->inner[0], pairs, out);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        double below = pow(out->k[i], degree - 1);
        chain(out, i, out->k[i] * below, degree * below);
    }
}

static double power_inverse(const dkm_node *node, double k)
{
    return dkm_odd_root(k, dkm_node_param(node, 0));
}

static void exp_derivatives(const dkm_node *node, const dkm_dots *pairs, const dkm_derivatives *out)
{
    dkm_node_derivatives(node->inner[0], pairs, out);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        double value = exp(out->k[i]);
        chain(out, i, value, value);
    }
}

static double exp_inverse(const dkm_node *node, double k)
{
    (void)node;
    return k > 0 ? log(k) : NAN;
}

/* Derivatives by a parameter: of a sum those of the kernel that has it. */
static dkm_local sum_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                const dkm_param_place *by, const dkm_tile *D)
{
    return dkm_node_param_tile(dkm_param_inner(node, by), task, by, D);
}

static dkm_local sum_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                                dkm_idx n, const dkm_param_place *by, double *diag)
{
    return dkm_node_param_diag(dkm_param_inner(node, by), panel, first, n, by, diag);
}

/* Of a product, times the values of the others. */
static dkm_local product_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                    const dkm_param_place *by, const dkm_tile *D)
{
    const dkm_node *at = dkm_param_inner(node, by);
    dkm_local local = dkm_node_param_tile(at, task, by, D);
    dkm_tile V = {0};

    for (dkm_idx k = 0; local.code == DKM_OK && k < node->inner_count; k++) {
        if (node->inner[k] == at)
            continue;
        local = dkm_param_values(node->inner[k], task, D, &V);
        if (local.code == DKM_OK)
            dkm_map_multiply(D, &V);
        DKM_FREE(V.c);
    }
    return local;
}

static dkm_local product_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                                    dkm_idx n, const dkm_param_place *by, double *diag)
{
    const dkm_node *at = dkm_param_inner(node, by);
    dkm_local local = dkm_node_param_diag(at, panel, first, n, by, diag);

    for (dkm_idx k = 0; k < node->inner_count; k++)
        for (dkm_idx i = 0; node->inner[k] != at && i < n; i++)
            diag[i] *= dkm_panel_diag(panel, node->inner[k])[first + i];
    return local;
}

static dkm_local scale_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                  const dkm_param_place *by, const dkm_tile *D)
{
    dkm_local local;

    if (dkm_param_is_own(node, by))
        return dkm_node_tile(node->inner[0], task, D);
    local = dkm_node_param_tile(node->inner[0], task, by, D);
    dkm_map_scale(D, dkm_node_param(node, 0));
    return local;
}

static dkm_local scale_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                                  dkm_idx n, const dkm_param_place *by, double *diag)
{
    const double *inside = dkm_panel_diag(panel, node->inner[0]) + first;
    dkm_local local = DKM_LOCAL_OK;

    if (!dkm_param_is_own(node, by))
        local = dkm_node_param_diag(node->inner[0], panel, first, n, by, diag);
    for (dkm_idx i = 0; i < n; i++)
        diag[i] = dkm_param_is_own(node, by) ? inside[i] : dkm_node_param(node, 0) * diag[i];
    return local;
}

/* The derivative of the outer function at the value inside. */
typedef double (*outer_slope)(const dkm_node *node, double value);

static double power_slope(const dkm_node *node, double value)
{
    double degree = dkm_node_param(node, 0);

    return degree * pow(value, degree - 1);
}

static double exp_slope(const dkm_node *node, double value)
{
    (void)node;
    return exp(value);
}

static dkm_local chain_tile(outer_slope slope, const dkm_node *node, const dkm_tile_task *task,
                            const dkm_param_place *by, const dkm_tile *D)
{
    dkm_local local = dkm_node_param_tile(node->inner[0], task, by, D);
    dkm_tile V = {0};

    if (local.code == DKM_OK)
        local = dkm_param_values(node->inner[0], task, D, &V);
    for (dkm_idx j = 0; local.code == DKM_OK && j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++)
            dkm_tile_put(D, i, j, dkm_tile_get(D, i, j) * slope(node, dkm_tile_get(&V, i, j)));
    DKM_FREE(V.c);
    return local;
}

static dkm_local chain_diag(outer_slope slope, const dkm_node *node, const dkm_panel *panel,
                            dkm_idx first, dkm_idx n, const dkm_param_place *by, double *diag)
{
    dkm_local local = dkm_node_param_diag(node->inner[0], panel, first, n, by, diag);

    for (dkm_idx i = 0; i < n; i++)
        diag[i] *= slope(node, dkm_panel_diag(panel, node->inner[0])[first + i]);
    return local;
}

static dkm_local power_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                  const dkm_param_place *by, const dkm_tile *D)
{
    return chain_tile(power_slope, node, task, by, D);
}

static dkm_local power_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                                  dkm_idx n, const dkm_param_place *by, double *diag)
{
    return chain_diag(power_slope, node, panel, first, n, by, diag);
}

static dkm_local exp_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                const dkm_param_place *by, const dkm_tile *D)
{
    return chain_tile(exp_slope, node, task, by, D);
}

static dkm_local exp_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                                dkm_idx n, const dkm_param_place *by, double *diag)
{
    return chain_diag(exp_slope, node, panel, first, n, by, diag);
}

const dkm_kernel_class dkm_kernel_class_sum = {.name = "sum",
                                               .origin = DKM_ORIGIN_AS_OUTSIDE,
                                               .min_inner = 1,
                                               .max_inner = -1,
                                               .diag = sum_diag,
                                               .tile = sum_tile,
                                               .derivatives = sum_derivatives,
                                               .param_tile = sum_param_tile,
                                               .param_diag = sum_param_diag};

const dkm_kernel_class dkm_kernel_class_product = {.name = "product",
                                                   .min_inner = 1,
                                                   .max_inner = -1,
                                                   .diag = product_diag,
                                                   .tile = product_tile,
                                                   .derivatives = product_derivatives,
                                                   .param_tile = product_param_tile,
                                                   .param_diag = product_param_diag};

const dkm_kernel_class dkm_kernel_class_scale = {
    .name = "scale",
    .origin = DKM_ORIGIN_AS_OUTSIDE,
    .min_inner = 1,
    .max_inner = 1,
    .params = DKM_PARAMS({.name = "by", .range = DKM_POSITIVE, .default_value = 2}),
    .diag = scale_diag,
    .tile = scale_tile,
    .derivatives = scale_derivatives,
    .inverse = scale_inverse,
    .param_tile = scale_param_tile,
    .param_diag = scale_param_diag};

const dkm_kernel_class dkm_kernel_class_power = {
    .name = "power",
    .min_inner = 1,
    .max_inner = 1,
    .params = DKM_PARAMS({.name = "degree", .range = DKM_COUNT, .default_value = 2}),
    .diag = power_diag,
    .tile = power_tile,
    .derivatives = power_derivatives,
    .inverse = power_inverse,
    .param_tile = power_param_tile,
    .param_diag = power_param_diag};

const dkm_kernel_class dkm_kernel_class_exp = {.name = "exp",
                                               .min_inner = 1,
                                               .max_inner = 1,
                                               .diag = exp_diag,
                                               .tile = exp_tile,
                                               .normalized_tile = exp_normalized_tile,
                                               .derivatives = exp_derivatives,
                                               .inverse = exp_inverse,
                                               .param_tile = exp_param_tile,
                                               .param_diag = exp_param_diag};
