/* Candidates are compared by their whole distance to Psi: ||phi(c) - mu||^2 - 2 z.z(c) + z.z, which
 * also counts what of phi(c) lies outside the span. */
#include "core/alloc.h"
#include "model/preimage.h"

static int suits(const dkm_embedding *e)
{
    (void)e;
    return 1;
}

/* Coordinates and norms of the objects given. */
static dkm_status use_given(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->base.ctx;
    const dkm_data *C = pre->settings.candidates;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(C), &pre->candidates.norms));
    DKM_TRY(dkm_embedding_encode(pre->e, C, &pre->candidates.Z, pre->candidates.norms));
out:
    return status;
}

static dkm_status prepare(dkm_preimage *pre)
{
    return pre->settings.candidates ? use_given(pre) : dkm_preimage_use_training(pre);
}

static dkm_status solve(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->base.ctx;
    const dkm_data *objects = pre->settings.candidates ? pre->settings.candidates : pre->e->base.X;
    dkm_idx top = pre->settings.top > 0 ? pre->settings.top : 1, n = dkm_data_local_rows(Z);
    dkm_idx *index = NULL;
    double *distance = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &distance));
    DKM_TRY(dkm_nearest(Z, &pre->candidates, top, index, distance));
    if (pre->settings.top > 0) {
        DKM_TRY(dkm_candidates_list(ctx, dkm_data_rows(Z), top, index, distance, Y));
    } else {
        DKM_TRY(dkm_data_fetch(objects, n, index, &got));
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(Z), &got, Y));
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

const dkm_preimage_kind dkm_preimage_candidates = {
    .method = DKM_PREIMAGE_CANDIDATES, .suits = suits, .prepare = prepare, .solve = solve};
