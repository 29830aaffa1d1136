#include "kernels/evaluation/param_derivatives.h"

#include "core/alloc.h"
#include "kernels/evaluation/row_transform.h"

/* Whether a node and all around it have derivatives. Nodes follow the one they are inside of. */
static int is_reached(const dkm_kernel *kernel, dkm_idx node)
{
    for (dkm_idx i = 0; i <= node; i++)
        if (node < i + kernel->node[i].size && !kernel->node[i].kind->param_tile)
            return 0;
    return 1;
}

static int is_continuous(const dkm_param *param)
{
    return !param->is_choice && param->range != DKM_COUNT && param->range != DKM_COUNT_OR_ZERO;
}

dkm_idx dkm_kernel_list_params(const dkm_kernel *kernel, dkm_idx capacity, dkm_param_place *places)
{
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < kernel->nodes; i++) {
        const dkm_node *node = &kernel->node[i];
        const dkm_param *params = node->kind->params;
        for (int k = 0; params && params[k].name && is_reached(kernel, i); k++)
            for (dkm_idx n = 0; is_continuous(&params[k]) && n < node->param[k].count; n++) {
                if (!(node->param[k].numbers[n] > 0))
                    continue;
                if (count < capacity)
                    places[count] = (dkm_param_place){i, k, n};
                count++;
            }
    }
    return count;
}

static dkm_local widen_node(dkm_ctx *ctx, dkm_param_value *value, dkm_idx d)
{
    dkm_local local = DKM_LOCAL_OK;
    double *numbers = NULL;

    DKM_STEP(dkm_alloc(ctx, d, &numbers));
    for (dkm_idx k = 0; k < d; k++)
        numbers[k] = value->numbers[0];
    DKM_FREE(value->numbers);
    value->numbers = numbers;
    value->count = d;
out:
    return local;
}

dkm_local dkm_kernel_widen(dkm_kernel *kernel, dkm_idx d)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < kernel->nodes; i++) {
        dkm_node *node = &kernel->node[i];
        dkm_row_transform seen = {0};
        if (!node->kind->divides_columns || node->param[0].count != 1)
            continue;
        local = dkm_row_transform_of(kernel, node, d, NULL, &seen);
        if (local.code == DKM_OK && seen.d > 1)
            local = widen_node(kernel->ctx, &node->param[0], seen.d);
        dkm_row_transform_clear(&seen);
        DKM_STEP(local);
    }
out:
    return local;
}

const dkm_node *dkm_param_inner(const dkm_node *node, const dkm_param_place *by)
{
    dkm_idx k = 0;

    while (by->node >= node->inner[k]->index + node->inner[k]->size)
        k++;
    return node->inner[k];
}

dkm_local dkm_node_param_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                              dkm_idx n, const dkm_param_place *by, double *diag)
{
    if (node->kind->param_diag)
        return node->kind->param_diag(node, panel, first, n, by, diag);
    for (dkm_idx i = 0; i < n; i++)
        diag[i] = 0.0;
    return DKM_LOCAL_OK;
}

/* Kernels inside are evaluated with scratch of their own. */
dkm_local dkm_param_values(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *like,
                           dkm_tile *V)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_tile_task apart = *task;
    double *values = NULL, *scratch = NULL;

    *V = (dkm_tile){DKM_F64, like->na, like->nb, like->na, NULL};
    DKM_STEP(dkm_alloc(task->A->of->ctx, like->na * like->nb, &values));
    V->c = values;
    DKM_STEP(dkm_alloc(task->A->of->ctx, like->na * like->nb * dkm_node_scratch(node), &scratch));
    apart.scratch = scratch;
    DKM_STEP(dkm_node_tile(node, &apart, V));
out:
    DKM_FREE(scratch);
    return local;
}

dkm_local dkm_param_sides_open(const dkm_node *node, const dkm_tile_task *task,
                               const dkm_param_place *by, const dkm_tile *like,
                               dkm_param_sides *sides)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = task->A->of->ctx;

    *sides = (dkm_param_sides){0};
    DKM_STEP(dkm_calloc(ctx, like->na, &sides->a));
    DKM_STEP(dkm_calloc(ctx, like->nb, &sides->b));
    if (!by)
        goto out;
    DKM_STEP(dkm_node_param_diag(node, task->A, task->a, like->na, by, sides->a));
    DKM_STEP(dkm_node_param_diag(node, task->B, task->b, like->nb, by, sides->b));
out:
    return local;
}

void dkm_param_sides_close(dkm_param_sides *sides)
{
    DKM_FREE(sides->b);
    DKM_FREE(sides->a);
}
