/* expdot: k(x, x') = exp(<x, x'> / sigma^2). Normalised, it is exp(-||x - x'||^2 / (2 sigma^2)). */
#include <math.h>

#include "kernel/vectors.h"

static double rate(const dkm_node *node)
{
    return 1.0 / (node->param[0] * node->param[0]);
}

static void expdot_self(const dkm_node *node, dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double *self = dkm_panel_self(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        self[i] = exp(squares[i] * rate(node));
}

static dkm_local expdot_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, job, C);

    dkm_map_exp(C, rate(node));
    return local;
}

static dkm_local expdot_unit_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    dkm_local local = dkm_vectors_dot(node, job, C);

    dkm_map_gauss(C, dkm_panel_objs(job->A, node)->extra + job->a,
                  dkm_panel_objs(job->B, node)->extra + job->b, rate(node) / 2);
    return local;
}

static void expdot_slopes(const dkm_node *node, const dkm_dots *pairs, const dkm_slopes *out)
{
    for (dkm_idx i = 0; i < pairs->n; i++) {
        out->k[i] = exp(pairs->s[i] * rate(node));
        out->by_s[i] = rate(node) * out->k[i];
        out->by_a[i] = 0.0;
    }
}

static double expdot_inverse(const dkm_node *node, double k)
{
    return k > 0 ? log(k) / rate(node) : NAN;
}

const dkm_kind dkm_kind_expdot = {.name = "expdot",
                                  .types = DKM_VECTOR_TYPES,
                                  .params = {{"sigma", DKM_POSITIVE, 1}},
                                  .digest = dkm_vectors_digest,
                                  .self = expdot_self,
                                  .tile = expdot_tile,
                                  .unit_tile = expdot_unit_tile,
                                  .slopes = expdot_slopes,
                                  .inverse = expdot_inverse};
