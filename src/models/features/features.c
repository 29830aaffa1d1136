#include "models/features/features_impl.h"

#include <string.h>

#include "core/alloc.h"

static const dkm_features_kind *const kinds[] = {&dkm_features_kind_dense,
                                                 &dkm_features_kind_landmarks,
                                                 &dkm_features_kind_fisher, &dkm_features_kind_lle};

dkm_status dkm_features_wrap(dkm_ctx *ctx, const dkm_features_kind *kind, dkm_idx n, void *state,
                             dkm_features **map)
{
    dkm_status status = DKM_OK;
    dkm_features *M = NULL;

    *map = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &M));
    *M = (dkm_features){.ctx = ctx, .kind = kind, .n = n, .state = state};
    *map = M;
    M = NULL;
    state = NULL;
out:
    DKM_FREE(M);
    if (state)
        kind->destroy(state);
    return status;
}

dkm_idx dkm_features_count(const dkm_features *map)
{
    return map->n;
}

dkm_status dkm_features_apply(dkm_features *map, const dkm_data *X, dkm_data **F)
{
    dkm_status status;

    *F = NULL;
    dkm_phase_begin(map->ctx, "features");
    status = map->kind->apply(map->state, X, F);
    dkm_phase_end(map->ctx);
    return status;
}

dkm_features *dkm_features_share(dkm_features *map)
{
    map->shares++;
    return map;
}

void dkm_features_destroy(dkm_features **map)
{
    dkm_features *M = *map;

    *map = NULL;
    if (!M || M->shares-- > 0)
        return;
    M->kind->destroy(M->state);
    dkm_free_block(M);
}

dkm_status dkm_features_to_archive(dkm_features *map, dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(map->ctx, dkm_archive_put_text(archive, "map", map->kind->name));
    DKM_AGREE(map->ctx, dkm_archive_put_real(archive, "features_count", (double)map->n));
    DKM_TRY(map->kind->to_archive(map->state, archive));
out:
    return status;
}

static dkm_local features_find_kind(const dkm_archive *archive, const dkm_features_kind **kind,
                                    dkm_idx *n)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *name = NULL;

    DKM_STEP(dkm_archive_text(archive, "map", &name));
    DKM_STEP(dkm_archive_count(archive, "features_count", 1, INT64_MAX, n));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k]->name, name) == 0)
            *kind = kinds[k];
    if (!*kind)
        local = dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                         "features by a map '%s', which this program has not", name);
out:
    return local;
}

dkm_status dkm_features_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                     dkm_features **map)
{
    dkm_status status = DKM_OK;
    const dkm_features_kind *kind = NULL;
    dkm_idx n = 0;
    void *state = NULL;

    *map = NULL;
    DKM_AGREE(ctx, features_find_kind(archive, &kind, &n));
    DKM_TRY(kind->from_archive(ctx, archive, layout, n, &state));
    DKM_TRY(dkm_features_wrap(ctx, kind, n, state, map));
out:
    return status;
}
