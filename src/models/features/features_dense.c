/* Features that are the objects themselves: dense rows. */
#include <string.h>

#include "core/alloc.h"
#include "models/features/features_impl.h"

typedef struct dense {
    dkm_ctx *ctx;
    dkm_idx n;
} dense;

static dkm_local features_dense_check(const dense *s, const dkm_data *X)
{
    if (dkm_data_type(X) != DKM_DENSE)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "features are dense rows, and these are %s",
                        dkm_type_name(dkm_data_type(X)));
    if (dkm_data_cols(X) != s->n)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "%lld features an object are wanted, not %lld",
                        (long long)s->n, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

static dkm_status features_dense_apply(void *state, const dkm_data *X, dkm_data **F)
{
    dense *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->ctx, features_dense_check(s, X));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), s->n, F));
    memcpy(dkm_data_values(*F), dkm_data_values_const(X),
           (size_t)(dkm_data_local_rows(X) * s->n) * sizeof(double));
out:
    return status;
}

static dkm_status features_dense_to_archive(void *state, dkm_archive *archive)
{
    (void)state;
    (void)archive;
    return DKM_OK;
}

static dkm_status features_dense_create(dkm_ctx *ctx, dkm_idx n, void **state)
{
    dkm_status status = DKM_OK;
    dense *s = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    *s = (dense){ctx, n};
    *state = s;
    s = NULL;
out:
    DKM_FREE(s);
    return status;
}

static dkm_status features_dense_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                              const dkm_layout *layout, dkm_idx n, void **state)
{
    (void)archive;
    (void)layout;
    return features_dense_create(ctx, n, state);
}

const dkm_features_kind dkm_features_kind_dense = {.name = "dense",
                                                   .apply = features_dense_apply,
                                                   .to_archive = features_dense_to_archive,
                                                   .from_archive = features_dense_from_archive,
                                                   .destroy = dkm_free_block};

dkm_status dkm_features_dense(dkm_ctx *ctx, dkm_idx n, dkm_features **map)
{
    dkm_status status = DKM_OK;
    void *state = NULL;

    *map = NULL;
    DKM_TRY(features_dense_create(ctx, n, &state));
    DKM_TRY(dkm_features_wrap(ctx, &dkm_features_kind_dense, n, state, map));
out:
    return status;
}
