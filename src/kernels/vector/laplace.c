/* laplace: k(x, x') = exp(-||x - x'||_1 / sigma), or exp(-sum_k |x_k - x'_k| / sigma_k) with a width
 * per column: columns are divided by their widths beforehand.
 *
 * Cost of a tile of na x nb values: 3 na nb d flops (l1_distance.c) and na nb exponentials.
 * Local. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/row_transform.h"
#include "kernels/evaluation/sparse_dot.h"
#include "kernels/vector/l1_distance.h"
#include "kernels/vector/vectors.h"

static double laplace_rate(const dkm_node *node)
{
    return dkm_node_widths(node) ? 1.0 : 1.0 / dkm_node_param(node, 0);
}

static double size(const double *x, dkm_idx n)
{
    double sum = 0;

    for (dkm_idx k = 0; k < n; k++)
        sum += fabs(x[k]);
    return sum;
}

/* The rows as they are, with ||x||_1 as extra. */
static dkm_local laplace_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    (void)node;
    return dkm_vectors_add_norms(X, size, out);
}

static dkm_local dense_distances(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = dkm_panel_objs(task->A, node)->d;
    const void *A = dkm_panel_values(task->A, node, task->a);
    const void *B = dkm_panel_values(task->B, node, task->b);
    double *turned = NULL;

    DKM_STEP(dkm_alloc(task->A->of->ctx, d * DKM_L1_LANES, &turned));
    dkm_l1_distances(d, A, B, turned, C);
    dkm_phase_flops(task->A->of->ctx, 3.0 * (double)C->na * (double)C->nb * (double)d);
out:
    DKM_FREE(turned);
    return local;
}

static dkm_local sparse_distances(const dkm_node *node, const dkm_tile_task *task,
                                  const dkm_tile *C)
{
    const dkm_objs *A = dkm_panel_objs(task->A, node), *B = dkm_panel_objs(task->B, node);
    dkm_local local = dkm_sparse_dot_tile(DKM_SPARSE_L1_GAP, A, task->a, B, task->b, C);

    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++) {
            double norms = A->extra[task->a + i] + B->extra[task->b + j];
            double gap = norms + dkm_tile_get(C, i, j);
            dkm_tile_put(C, i, j, gap > 0 ? gap : 0.0);
        }
    return local;
}

static dkm_local laplace_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_panel_objs(task->A, node)->type == DKM_DENSE
                          ? dense_distances(node, task, C)
                          : sparse_distances(node, task, C);

    dkm_map_exp(C, -laplace_rate(node));
    return local;
}

/* k = exp(-l), l = ||x - x'||_1 / sigma: dk / d sigma = k l / sigma; of one width among several
 * k |y_k - y'_k| / sigma_k, where y are the rows divided by their widths. */
static dkm_local laplace_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                    const dkm_param_place *by, const dkm_tile *D)
{
    dkm_local local = DKM_LOCAL_OK;
    double sigma = node->param[0].numbers[by->number], rate = laplace_rate(node), *d = D->c;
    const double *x = NULL, *y = NULL;
    dkm_idx x_step = 0, y_step = 0;
    int widths = dkm_node_widths(node) != NULL;

    if (widths) {
        DKM_STEP(dkm_vectors_column(node, task, task->A, task->a, by->number, &x, &x_step));
        DKM_STEP(dkm_vectors_column(node, task, task->B, task->b, by->number, &y, &y_step));
    }
    DKM_STEP(dkm_panel_objs(task->A, node)->type == DKM_DENSE ? dense_distances(node, task, D)
                                                              : sparse_distances(node, task, D));
    for (dkm_idx j = 0; j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++) {
            double *at = &d[i + j * D->ld], l = rate * *at;
            *at = exp(-l) / sigma * (widths ? fabs(x[i * x_step] - y[j * y_step]) : l);
        }
out:
    return local;
}

static double laplace_loss(const dkm_node *node, const dkm_panel *panel)
{
    double most = 0;

    for (dkm_idx i = 0; i < panel->n; i++)
        most = fmax(most, dkm_panel_objs(panel, node)->extra[i]);
    return most * laplace_rate(node);
}

const dkm_kernel_class dkm_kernel_class_laplace = {
    .name = "laplace",
    .origin = DKM_ORIGIN_FREE,
    .types = DKM_VECTOR_TYPES,
    .params =
        DKM_PARAMS({.name = "sigma", .range = DKM_POSITIVE, .default_value = 1, .is_list = 1}),
    .divides_columns = 1,
    .precompute = laplace_precompute,
    .diag = dkm_diag_one,
    .loss = laplace_loss,
    .tile = laplace_tile,
    .param_tile = laplace_param_tile};
