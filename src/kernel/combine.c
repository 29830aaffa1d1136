/* Kernels made from kernels, element by element:
 *   sum(A, B, ...)      A + B + ...
 *   product(A, B, ...)  A B ...
 *   scale(A, by)        by A
 *   power(A, degree)    A^degree
 *   exp(A)              exp(A) */
#include <math.h>

#include "kernel/panel.h"

/* Combine the tiles of all inner kernels; those after the first are evaluated beside C. */
static dkm_local combine(const dkm_node *node, const dkm_job *job, const dkm_tile *C,
                         void (*map)(const dkm_tile *C, const dkm_tile *D))
{
    dkm_local local = dkm_node_tile(node->inner[0], job, C);
    dkm_tile D = {C->precision, C->na, C->nb, C->na, job->scratch};
    dkm_job beside = *job;

    beside.scratch = dkm_tile_at(&D, 0, D.nb);
    for (dkm_idx k = 1; local.code == DKM_OK && k < node->inner_count; k++) {
        local = dkm_node_tile(node->inner[k], &beside, &D);
        map(C, &D);
    }
    return local;
}

static dkm_local sum_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    return combine(node, job, C, dkm_map_add);
}

static void sum_self(const dkm_node *node, dkm_panel *panel)
{
    double *self = dkm_panel_self(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++) {
        self[i] = 0;
        for (dkm_idx k = 0; k < node->inner_count; k++)
            self[i] += dkm_panel_self(panel, node->inner[k])[i];
    }
}

static dkm_local product_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    return combine(node, job, C, dkm_map_multiply);
}

static void product_self(const dkm_node *node, dkm_panel *panel)
{
    double *self = dkm_panel_self(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++) {
        self[i] = 1;
        for (dkm_idx k = 0; k < node->inner_count; k++)
            self[i] *= dkm_panel_self(panel, node->inner[k])[i];
    }
}

static dkm_local scale_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], job, C);

    dkm_map_scale(C, node->param[0]);
    return local;
}

static void scale_self(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_self(panel, node)[i] = node->param[0] * dkm_panel_self(panel, node->inner[0])[i];
}

static dkm_local power_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], job, C);

    dkm_map_power(C, 0.0, (dkm_idx)node->param[0]);
    return local;
}

static void power_self(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_self(panel, node)[i] =
            pow(dkm_panel_self(panel, node->inner[0])[i], node->param[0]);
}

static dkm_local exp_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], job, C);

    dkm_map_exp(C, 1.0);
    return local;
}

/* exp(A) / sqrt(exp(A_aa) exp(A_bb)) = exp(-(A_aa + A_bb - 2 A) / 2) */
static dkm_local exp_unit_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], job, C);

    dkm_map_gauss(C, dkm_panel_self(job->A, node->inner[0]) + job->a,
                  dkm_panel_self(job->B, node->inner[0]) + job->b, 0.5);
    return local;
}

static void exp_self(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_self(panel, node)[i] = exp(dkm_panel_self(panel, node->inner[0])[i]);
}

const dkm_kind dkm_kind_sum = {
    .name = "sum", .inner_least = 1, .inner_most = -1, .self = sum_self, .tile = sum_tile};

const dkm_kind dkm_kind_product = {.name = "product",
                                   .inner_least = 1,
                                   .inner_most = -1,
                                   .self = product_self,
                                   .tile = product_tile};

const dkm_kind dkm_kind_scale = {.name = "scale",
                                 .inner_least = 1,
                                 .inner_most = 1,
                                 .params = {{"by", DKM_POSITIVE, 2}},
                                 .self = scale_self,
                                 .tile = scale_tile};

const dkm_kind dkm_kind_power = {.name = "power",
                                 .inner_least = 1,
                                 .inner_most = 1,
                                 .params = {{"degree", DKM_COUNT, 2}},
                                 .self = power_self,
                                 .tile = power_tile};

const dkm_kind dkm_kind_exp = {.name = "exp",
                               .inner_least = 1,
                               .inner_most = 1,
                               .self = exp_self,
                               .tile = exp_tile,
                               .unit_tile = exp_unit_tile};
