/* Joint kernels of models that stand on the same features. */
#include <math.h>

#include "core/alloc.h"
#include "models/extend/extend_impl.h"
#include "models/registry/model_impl.h"

#define SAME 1e-12 /* of the largest feature */

/* Both must stand on the same features of the same objects. */
static dkm_local extend_combine_check_pair(const dkm_extend *a, const dkm_extend *b)
{
    dkm_idx count = dkm_data_local_rows(a->F) * a->n;
    const double *f = dkm_data_values_const(a->F), *g = dkm_data_values_const(b->F);
    double most = 0, gap = 0;

    if (a->n != b->n || a->m != b->m || a->map->kind != b->map->kind)
        return dkm_fail(a->fitted.ctx, DKM_ERR_ARG,
                        "%lld features of %lld objects by a %s map and %lld of %lld by a %s map: "
                        "kernels that are combined stand on the same features",
                        (long long)a->n, (long long)a->m, a->map->kind->name, (long long)b->n,
                        (long long)b->m, b->map->kind->name);
    for (dkm_idx k = 0; k < count; k++) {
        most = fmax(most, fabs(f[k]));
        gap = fmax(gap, fabs(f[k] - g[k]));
    }
    if (gap > SAME * most)
        return dkm_fail(a->fitted.ctx, DKM_ERR_ARG,
                        "the two have different features, by %.2g: kernels that are combined stand "
                        "on the same",
                        gap);
    return DKM_LOCAL_OK;
}

static dkm_local check_weights(dkm_idx count, dkm_model *const *models, const double *weights)
{
    dkm_local local = DKM_LOCAL_OK;
    double sum = 0;

    for (dkm_idx k = 0; k < count; k++) {
        DKM_STEP(dkm_extend_check(models[k]));
        sum += weights[k];
        if (!(weights[k] >= 0 && weights[k] <= 1))
            return dkm_fail(models[0]->ctx, DKM_ERR_ARG, "a weight is from 0 to 1, not %g",
                            weights[k]);
    }
    if (fabs(sum - 1.0) > 1e-9)
        local = dkm_fail(models[0]->ctx, DKM_ERR_ARG, "weights add up to 1, not %g", sum);
out:
    return local;
}

dkm_status dkm_extend_combine(dkm_idx count, dkm_model *const *models, const double *weights)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = models[0]->ctx;
    dkm_weighted_root *roots = NULL;
    double *root = NULL;
    dkm_idx t = 0;
    dkm_extend *s;

    DKM_AGREE(ctx, check_weights(count, models, weights));
    s = models[0]->state;
    DKM_AGREE(ctx, dkm_alloc(ctx, count, &roots));
    for (dkm_idx k = 0; k < count; k++) {
        const dkm_extend *other = models[k]->state;
        DKM_AGREE(ctx, extend_combine_check_pair(s, other));
        roots[k] = (dkm_weighted_root){other->t, other->root, weights[k]};
    }
    DKM_TRY(dkm_parallel_sum(ctx, s->n, count, roots, &root, &t));
    DKM_FREE(s->root);
    dkm_dmat_destroy(&s->Z);
    s->root = root;
    s->t = t;
out:
    DKM_FREE(roots);
    return status;
}
