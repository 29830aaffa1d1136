/* poly: k(x, x') = (<x, x'> + c)^degree. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "kernels/vector/vectors.h"

enum { DEGREE, C0 };

static void poly_self(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *self = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        self[i] = pow(squares[i] + node->param[C0], node->param[DEGREE]);
}

static dkm_local poly_tile(const dkm_node *node, const dkm_tile_task *job, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, job, C);

    dkm_map_power(C, node->param[C0], (dkm_idx)node->param[DEGREE]);
    return local;
}

/* (<x, x'> + c) / sqrt((||x||^2 + c) (||x'||^2 + c)) to the power of degree, which stays in range
 */
static dkm_local poly_unit_tile(const dkm_node *node, const dkm_tile_task *job, const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    double *sides = NULL;

    DKM_STEP(dkm_alloc(job->A->of->ctx, C->na + C->nb, &sides));
    for (dkm_idx i = 0; i < C->na; i++)
        sides[i] = dkm_panel_objs(job->A, node)->extra[job->a + i] + node->param[C0];
    for (dkm_idx j = 0; j < C->nb; j++)
        sides[C->na + j] = dkm_panel_objs(job->B, node)->extra[job->b + j] + node->param[C0];
    DKM_STEP(dkm_vectors_dot(node, job, C));
    dkm_map_power(C, node->param[C0], 1);
    dkm_map_normalize(C, sides, sides + C->na);
    dkm_map_power(C, 0.0, (dkm_idx)node->param[DEGREE]);
out:
    DKM_FREE(sides);
    return local;
}

static void poly_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_derivatives *out)
{
    double degree = node->param[DEGREE];

    for (dkm_idx i = 0; i < pairs->n; i++) {
        double base = pairs->s[i] + node->param[C0], below = pow(base, degree - 1);
        out->k[i] = base * below;
        out->dk_ds[i] = degree * below;
        out->dk_da[i] = 0.0;
    }
}

static double poly_inverse(const dkm_node *node, double k)
{
    return dkm_odd_root(k, node->param[DEGREE]) - node->param[C0];
}

const dkm_kernel_class dkm_kernel_class_poly = {
    .name = "poly",
    .types = DKM_VECTOR_TYPES,
    .params = {{"degree", DKM_COUNT, 3}, {"c", DKM_NOT_NEGATIVE, 1}},
    .precompute = dkm_vectors_precompute,
    .self = poly_self,
    .tile = poly_tile,
    .normalized_tile = poly_unit_tile,
    .slopes = poly_slopes,
    .inverse = poly_inverse};
