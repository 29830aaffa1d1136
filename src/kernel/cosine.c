/* cosine: k(x, x') = <x, x'> / (||x|| ||x'||). Zero vectors have an axis of their own: 1 among
 * themselves, 0 to all others, as `normalize` has it for every kernel. */
#include "kernel/vectors.h"

static dkm_local cosine_tile(const dkm_node *node, const dkm_job *job, const dkm_tile *C)
{
    const double *a = dkm_panel_objs(job->A, node)->extra + job->a;
    const double *b = dkm_panel_objs(job->B, node)->extra + job->b;
    dkm_local local = dkm_vectors_dot(node, job, C);

    dkm_map_normalize(C, a, b);
    dkm_map_zero_pairs(C, a, b, NULL, NULL);
    return local;
}

const dkm_kind dkm_kind_cosine = {.name = "cosine",
                                  .types = DKM_VECTOR_TYPES,
                                  .digest = dkm_vectors_digest,
                                  .self = dkm_self_one,
                                  .tile = cosine_tile};
