/* poly: k(x, x') = (<x, x'> + c)^degree.
 *
 * Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows, and one pass of
 * powers. Local. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "kernels/vector/vectors.h"

enum { DEGREE, C0 };

static void poly_diag(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *diag = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        diag[i] = pow(squares[i] + dkm_node_param(node, C0), dkm_node_param(node, DEGREE));
}

static dkm_local poly_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_power(C, dkm_node_param(node, C0), (dkm_idx)dkm_node_param(node, DEGREE));
    return local;
}

/* (<x, x'> + c) / sqrt((||x||^2 + c) (||x'||^2 + c)) to the power of degree, which stays in range
 */
static dkm_local poly_normalized_tile(const dkm_node *node, const dkm_tile_task *task,
                                      const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    double *sides = NULL;

    DKM_STEP(dkm_alloc(task->A->of->ctx, C->na + C->nb, &sides));
    for (dkm_idx i = 0; i < C->na; i++)
        sides[i] = dkm_panel_objs(task->A, node)->extra[task->a + i] + dkm_node_param(node, C0);
    for (dkm_idx j = 0; j < C->nb; j++)
        sides[C->na + j] =
            dkm_panel_objs(task->B, node)->extra[task->b + j] + dkm_node_param(node, C0);
    DKM_STEP(dkm_vectors_dot(node, task, C));
    dkm_map_power(C, dkm_node_param(node, C0), 1);
    dkm_map_normalize(C, sides, sides + C->na);
    dkm_map_power(C, 0.0, (dkm_idx)dkm_node_param(node, DEGREE));
out:
    DKM_FREE(sides);
    return local;
}

static void poly_derivatives(const dkm_node *node, const dkm_dots *pairs,
                             const dkm_derivatives *out)
{
    double degree = dkm_node_param(node, DEGREE);

    for (dkm_idx i = 0; i < pairs->n; i++) {
        double base = pairs->s[i] + dkm_node_param(node, C0), below = pow(base, degree - 1);
        out->k[i] = base * below;
        out->dk_ds[i] = degree * below;
        out->dk_da[i] = 0.0;
    }
}

static double poly_inverse(const dkm_node *node, double k)
{
    return dkm_odd_root(k, dkm_node_param(node, DEGREE)) - dkm_node_param(node, C0);
}

/* dk / dc = degree (s + c)^(degree - 1) */
static double poly_param_slope(const dkm_node *node, double s)
{
    double degree = dkm_node_param(node, DEGREE);

    return degree * pow(s + dkm_node_param(node, C0), degree - 1);
}

const dkm_kernel_class dkm_kernel_class_poly = {
    .name = "poly",
    .types = DKM_VECTOR_TYPES,
    .params = DKM_PARAMS({.name = "degree", .range = DKM_COUNT, .default_value = 3},
                         {.name = "c", .range = DKM_NOT_NEGATIVE, .default_value = 1}),
    .precompute = dkm_vectors_precompute,
    .diag = poly_diag,
    .tile = poly_tile,
    .normalized_tile = poly_normalized_tile,
    .derivatives = poly_derivatives,
    .inverse = poly_inverse,
    .param_slope = poly_param_slope,
    .param_tile = dkm_vectors_slope_tile,
    .param_diag = dkm_vectors_slope_diag};
