/* Kernels made from kernels, element by element:
 *   sum(A, B, ...)      A + B + ...
 *   product(A, B, ...)  A B ...
 *   scale(A, by)        by A
 *   power(A, degree)    A^degree
 *   exp(A)              exp(A) */
#include <math.h>

#include "kernel/panel.h"
#include "kernel/slopes.h"

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

/* Values and slopes of all inner kernels, joined by @p join one after the other. */
static void combine_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out,
                           void (*join)(dkm_idx n, const dkm_slopes *out, const dkm_slopes *next))
{
    double k[DKM_PAIRS], by_s[DKM_PAIRS], by_a[DKM_PAIRS];
    dkm_slopes next = {k, by_s, by_a};

    dkm_node_slopes(node->inner[0], pairs, out);
    for (dkm_idx j = 1; j < node->inner_count; j++) {
        dkm_node_slopes(node->inner[j], pairs, &next);
        join(pairs->n, out, &next);
    }
}

static void join_sum(dkm_idx n, const dkm_slopes *out, const dkm_slopes *next)
{
    for (dkm_idx i = 0; i < n; i++) {
        out->k[i] += next->k[i];
        out->by_s[i] += next->by_s[i];
        out->by_a[i] += next->by_a[i];
    }
}

static void sum_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    combine_slopes(node, pairs, out, join_sum);
}

static void join_product(dkm_idx n, const dkm_slopes *out, const dkm_slopes *next)
{
    for (dkm_idx i = 0; i < n; i++) {
        out->by_s[i] = out->by_s[i] * next->k[i] + out->k[i] * next->by_s[i];
        out->by_a[i] = out->by_a[i] * next->k[i] + out->k[i] * next->by_a[i];
        out->k[i] *= next->k[i];
    }
}

static void product_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    combine_slopes(node, pairs, out, join_product);
}

/* The chain rule: with @p slope the derivative of the outer function at the inner value. */
static void chain(const dkm_slopes *out, dkm_idx i, double value, double slope)
{
    out->k[i] = value;
    out->by_s[i] *= slope;
    out->by_a[i] *= slope;
}

static void scale_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    dkm_node_slopes(node->inner[0], pairs, out);
    for (dkm_idx i = 0; i < pairs->n; i++)
        chain(out, i, node->param[0] * out->k[i], node->param[0]);
}

static double scale_inverse(const dkm_node *node, double k)
{
    return k / node->param[0];
}

static void power_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    double degree = node->param[0];

    dkm_node_slopes(node->inner[0], pairs, out);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        double below = pow(out->k[i], degree - 1);
        chain(out, i, out->k[i] * below, degree * below);
    }
}

static double power_inverse(const dkm_node *node, double k)
{
    return dkm_odd_root(k, node->param[0]);
}

static void exp_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    dkm_node_slopes(node->inner[0], pairs, out);
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

const dkm_kind dkm_kind_sum = {.name = "sum",
                               .origin = DKM_ORIGIN_AS_OUTSIDE,
                               .inner_least = 1,
                               .inner_most = -1,
                               .self = sum_self,
                               .tile = sum_tile,
                               .slopes = sum_slopes};

const dkm_kind dkm_kind_product = {.name = "product",
                                   .inner_least = 1,
                                   .inner_most = -1,
                                   .self = product_self,
                                   .tile = product_tile,
                                   .slopes = product_slopes};

const dkm_kind dkm_kind_scale = {.name = "scale",
                                 .origin = DKM_ORIGIN_AS_OUTSIDE,
                                 .inner_least = 1,
                                 .inner_most = 1,
                                 .params = {{"by", DKM_POSITIVE, 2}},
                                 .self = scale_self,
                                 .tile = scale_tile,
                                 .slopes = scale_slopes,
                                 .inverse = scale_inverse};

const dkm_kind dkm_kind_power = {.name = "power",
                                 .inner_least = 1,
                                 .inner_most = 1,
                                 .params = {{"degree", DKM_COUNT, 2}},
                                 .self = power_self,
                                 .tile = power_tile,
                                 .slopes = power_slopes,
                                 .inverse = power_inverse};

const dkm_kind dkm_kind_exp = {.name = "exp",
                               .inner_least = 1,
                               .inner_most = 1,
                               .self = exp_self,
                               .tile = exp_tile,
                               .unit_tile = exp_unit_tile,
                               .slopes = exp_slopes,
                               .inverse = exp_inverse};
