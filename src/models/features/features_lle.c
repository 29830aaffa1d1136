/* What each point is made of: its weights on its nearest anchors, a number for each anchor, 1 in
 * sum (locally linear embedding). */
#include <math.h>

#include "core/alloc.h"
#include "models/features/features_impl.h"
#include "models/lle/barycentric_weights.h"
#include "models/lle/lle_impl.h"

typedef struct lle {
    dkm_ctx *ctx;
    dkm_data *X; /* the anchors */
    dkm_anchors anchors;
    dkm_idx k;
    double ridge;
} lle;

static void features_lle_destroy(void *state)
{
    lle *s = state;

    dkm_anchors_close(&s->anchors);
    dkm_data_destroy(&s->X);
    dkm_free_block(s);
}

static dkm_local features_lle_check_points(const lle *s, const dkm_data *Q)
{
    if (dkm_data_type(Q) == DKM_DENSE && dkm_data_cols(Q) == dkm_data_cols(s->X))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_ARG,
                    "points are dense rows of %lld columns, these are %s of "
                    "%lld",
                    (long long)dkm_data_cols(s->X), dkm_type_name(dkm_data_type(Q)),
                    (long long)dkm_data_cols(Q));
}

/* Rows of weights; the points are the anchors themselves (own) or others. */
static dkm_status features_lle_weigh(const lle *s, const dkm_data *Q, int own, dkm_data **F)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = dkm_data_local_rows(Q), m = dkm_data_rows(s->X), k = s->k;
    double *pairs = NULL;

    DKM_AGREE(s->ctx, features_lle_check_points(s, Q));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, mine * 2 * k, &pairs));
    DKM_TRY(dkm_barycentric_weights(&s->anchors, Q, own, k, s->ridge, pairs));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(Q), m, F));
    for (dkm_idx i = 0; i < mine; i++)
        for (dkm_idx a = 0; a < k; a++)
            dkm_data_values(*F)[i * m + (dkm_idx)pairs[i * 2 * k + a]] = pairs[(i * 2 + 1) * k + a];
out:
    DKM_FREE(pairs);
    return status;
}

static dkm_status features_lle_apply(void *state, const dkm_data *X, dkm_data **F)
{
    return features_lle_weigh(state, X, 0, F);
}

static dkm_local features_lle_name_entries(const lle *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_real(archive, "neighbours", (double)s->k));
    DKM_STEP(dkm_archive_put_real(archive, "ridge", s->ridge));
    DKM_STEP(dkm_archive_borrow_data(archive, "anchors", s->X));
out:
    return local;
}

static dkm_status features_lle_to_archive(void *state, dkm_archive *archive)
{
    lle *s = state;

    return dkm_agree(s->ctx, features_lle_name_entries(s, archive));
}

static dkm_status features_lle_open_state(dkm_ctx *ctx, const dkm_data *X, dkm_idx k, double ridge,
                                          lle **state)
{
    dkm_status status = DKM_OK;
    lle *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_lle_check(ctx, X, k, 1));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->k = k;
    s->ridge = ridge;
    s->X = dkm_data_share(X);
    DKM_TRY(dkm_anchors_open(&s->anchors, s->X));
    *state = s;
    s = NULL;
out:
    if (s)
        features_lle_destroy(s);
    return status;
}

static dkm_local features_lle_read_entries(dkm_archive *archive, dkm_idx *k, double *ridge,
                                           dkm_data **X)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_count(archive, "neighbours", 1, INT64_MAX, k));
    DKM_STEP(dkm_archive_number(archive, "ridge", 0, HUGE_VAL, ridge));
    DKM_STEP(dkm_archive_take_rows(archive, "anchors", X));
out:
    return local;
}

static dkm_status features_lle_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                            const dkm_layout *layout, dkm_idx n, void **state)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    double ridge = 0;
    dkm_idx k = 0;
    dkm_data *X = NULL;
    lle *s = NULL;

    (void)layout;
    DKM_AGREE(ctx, features_lle_read_entries(archive, &k, &ridge, &X));
    if (dkm_data_rows(X) != n)
        local = dkm_fail(ctx, DKM_ERR_FORMAT, "%lld features of %lld points", (long long)n,
                         (long long)dkm_data_rows(X));
    DKM_AGREE(ctx, local);
    DKM_TRY(features_lle_open_state(ctx, X, k, ridge, &s));
    *state = s;
out:
    dkm_data_destroy(&X);
    return status;
}

const dkm_features_kind dkm_features_kind_lle = {.name = "lle",
                                                 .apply = features_lle_apply,
                                                 .to_archive = features_lle_to_archive,
                                                 .from_archive = features_lle_from_archive,
                                                 .destroy = features_lle_destroy};

dkm_status dkm_features_lle(const dkm_data *X, dkm_idx neighbors, double ridge, dkm_features **map,
                            dkm_data **F)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_idx m = dkm_data_rows(X);
    lle *s = NULL;

    *map = NULL;
    *F = NULL;
    DKM_TRY(features_lle_open_state(ctx, X, neighbors, ridge, &s));
    DKM_TRY(features_lle_weigh(s, s->X, 1, F));
    status = dkm_features_wrap(ctx, &dkm_features_kind_lle, m, s, map);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        features_lle_destroy(s);
    if (status != DKM_OK)
        dkm_data_destroy(F);
    return status;
}
