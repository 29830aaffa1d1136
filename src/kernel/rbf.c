/* rbf: k(x, x') = exp(-||x - x'||^2 / (2 sigma^2)), on vectors or in the space of another kernel,
 * where ||x - x'||^2 = k(x, x) + k(x', x') - 2 k(x, x'). */
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

const dkm_kind dkm_kind_rbf = {.name = "rbf",
                               .types = DKM_VECTOR_TYPES,
                               .params = {{"sigma", DKM_POSITIVE, 1}},
                               .digest = dkm_vectors_digest,
                               .self = dkm_self_one,
                               .tile = rbf_tile};

const dkm_kind dkm_kind_rbf_of = {.name = "rbf",
                                  .inner_least = 1,
                                  .inner_most = 1,
                                  .needs_self = DKM_ANY_SELF,
                                  .params = {{"sigma", DKM_POSITIVE, 1}},
                                  .self = dkm_self_one,
                                  .tile = rbf_of_tile};
