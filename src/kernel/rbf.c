/* rbf: k(x, x') = exp(-||x - x'||^2 / (2 sigma^2)), on vectors or in the space of another kernel,
 * where ||x - x'||^2 = k(x, x) + k(x', x') - 2 k(x, x'). */
#include <math.h>

#include "kernel/slopes.h"
#include "kernel/vectors.h"

static double rate(const dkm_node *node)
{
    return 0.5 / (node->param[0] * node->param[0]);
}

static dkm_local rbf_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, job, C);

    dkm_map_gauss(C, dkm_panel_objs(job->A, node)->extra + job->a,
                  dkm_panel_objs(job->B, node)->extra + job->b, rate(node));
    return local;
}

static dkm_local rbf_of_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], job, C);

    dkm_map_gauss(C, dkm_panel_self(job->A, node->inner[0]) + job->a,
                  dkm_panel_self(job->B, node->inner[0]) + job->b, rate(node));
    return local;
}

/* ||x||^2 + ||x'||^2 - 2 <x, x'> is off by eps max ||x||^2, about. */
static double loss_by(const dkm_node *node, dkm_idx n, const double *squares)
{
    double most = 0;

    for (dkm_idx i = 0; i < n; i++)
        most = fmax(most, squares[i]);
    return 2.0 * rate(node) * most;
}

static double rbf_loss(const dkm_node *node, const dkm_panel *panel)
{
    return loss_by(node, panel->n, dkm_panel_objs(panel, node)->extra);
}

static double rbf_of_loss(const dkm_node *node, const dkm_panel *panel)
{
    return loss_by(node, panel->n, dkm_panel_self(panel, node->inner[0]));
}

static void rbf_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    double r = rate(node);

    for (dkm_idx i = 0; i < pairs->n; i++)
        out->by_s[i] = -r * fmax(0.0, pairs->a[i] + pairs->b[i] - 2.0 * pairs->s[i]);
    dkm_exp_f64(pairs->n, out->by_s, out->k);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->by_s[i] = 2.0 * r * out->k[i];
        out->by_a[i] = -r * out->k[i];
    }
}

/* With A for the kernel inside: k = exp(-r (A(a) + A(b) - 2 A)), A(a) its value on x alone. */
static void rbf_of_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    double r = rate(node), k_a[DKM_PAIRS], slope_a[DKM_PAIRS], k_b[DKM_PAIRS], slope_b[DKM_PAIRS];

    dkm_node_slopes(node->inner[0], pairs, out);
    dkm_node_self_slopes(node->inner[0], pairs->n, pairs->a, k_a, slope_a);
    dkm_node_self_slopes(node->inner[0], pairs->n, pairs->b, k_b, slope_b);
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->k[i] = exp(-r * fmax(0.0, k_a[i] + k_b[i] - 2.0 * out->k[i]));
        out->by_s[i] *= 2.0 * r * out->k[i];
        out->by_a[i] = r * out->k[i] * (2.0 * out->by_a[i] - slope_a[i]);
    }
}

const dkm_kind dkm_kind_rbf = {.name = "rbf",
                               .origin = DKM_ORIGIN_FREE,
                               .types = DKM_VECTOR_TYPES,
                               .params = {{"sigma", DKM_POSITIVE, 1}},
                               .digest = dkm_vectors_digest,
                               .self = dkm_self_one,
                               .loss = rbf_loss,
                               .tile = rbf_tile,
                               .slopes = rbf_slopes};

const dkm_kind dkm_kind_rbf_of = {.name = "rbf",
                                  .origin = DKM_ORIGIN_FREE,
                                  .inner_least = 1,
                                  .inner_most = 1,
                                  .needs_self = DKM_ANY_SELF,
                                  .params = {{"sigma", DKM_POSITIVE, 1}},
                                  .self = dkm_self_one,
                                  .loss = rbf_of_loss,
                                  .tile = rbf_of_tile,
                                  .slopes = rbf_of_slopes};
