/* Placing new points, and the parts of a model. */
#include "model/lle_impl.h"

#include <math.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "model/model_impl.h"

void dkm_lle_close(void *state)
{
    dkm_lle *s = state;

    dkm_data_destroy(&s->U);
    dkm_anchors_close(&s->anchors);
    dkm_base_close(&s->base);
    dkm_free_block(s);
}

dkm_local dkm_lle_check(dkm_ctx *ctx, const dkm_data *X, dkm_idx k, dkm_idx p)
{
    long long m = (long long)dkm_data_rows(X);

    if (dkm_data_type(X) != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_ARG, "points are dense rows, and these are %s",
                        dkm_type_name(dkm_data_type(X)));
    if (k < 1 || k >= m)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld neighbours of each of %lld points cannot be",
                        (long long)k, m);
    if (p < 1 || p >= m)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld components of %lld points cannot be", (long long)p,
                        m);
    return DKM_LOCAL_OK;
}

dkm_status dkm_lle_open(dkm_ctx *ctx, dkm_data **X, const dkm_layout *layout, dkm_lle **state)
{
    dkm_status status = DKM_OK;
    dkm_lle *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->base.ctx = ctx;
    s->base.X = *X;
    *X = NULL;
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &s->base.grid));
    s->base.nb =
        layout->block ? layout->block : dkm_grid_block(s->base.grid, dkm_data_rows(s->base.X));
    DKM_TRY(dkm_anchors_open(&s->anchors, s->base.X));
    *state = s;
    s = NULL;
out:
    if (s)
        dkm_lle_close(s);
    return status;
}

static dkm_local check_points(const dkm_lle *s, const dkm_data *X)
{
    if (dkm_data_type(X) == DKM_DENSE && dkm_data_cols(X) == dkm_data_cols(s->base.X))
        return DKM_LOCAL_OK;
    return dkm_fail(s->base.ctx, DKM_ERR_ARG,
                    "the embedding is of dense rows of %lld columns, these are %s of %lld",
                    (long long)dkm_data_cols(s->base.X), dkm_type_name(dkm_data_type(X)),
                    (long long)dkm_data_cols(X));
}

/* Z(i) = a'U for the weights a of each new point. */
static dkm_status place(void *state, const dkm_data *X, dkm_data **Z)
{
    dkm_lle *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx n = dkm_data_local_rows(X), k = s->k, p = s->p, *places = NULL;
    double *pairs = NULL;
    dkm_objs near = {0};

    *Z = NULL;
    dkm_phase_begin(ctx, "encode");
    DKM_AGREE(ctx, check_points(s, X));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * 2 * k, &pairs));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * k, &places));
    DKM_TRY(dkm_weights_find(&s->anchors, X, 0, k, s->ridge, pairs));
    for (dkm_idx c = 0; c < n * k; c++)
        places[c] = (dkm_idx)pairs[c / k * 2 * k + c % k];
    DKM_TRY(dkm_data_fetch(s->U, n * k, places, &near));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), p, Z));
    for (dkm_idx c = 0; c < n * k; c++)
        for (dkm_idx j = 0; j < p; j++)
            dkm_data_values(*Z)[c / k * p + j] +=
                pairs[c / k * 2 * k + k + c % k] * near.values[c * p + j];
out:
    dkm_phase_end(ctx);
    dkm_objs_clear(&near);
    DKM_FREE(places);
    DKM_FREE(pairs);
    return status;
}

static dkm_idx rows_at_a_time(const void *state)
{
    (void)state;
    return 65536;
}

static dkm_local name_parts(const dkm_lle *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_real(bundle, "neighbours", (double)s->k));
    DKM_STEP(dkm_bundle_put_real(bundle, "ridge", s->ridge));
    DKM_STEP(dkm_bundle_lend_data(bundle, "inputs", s->base.X));
    DKM_STEP(dkm_bundle_lend_data(bundle, "components", s->U));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    dkm_lle *s = state;

    return dkm_agree(s->base.ctx, name_parts(s, bundle));
}

static dkm_local read_parts(dkm_lle *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_count(bundle, "neighbours", 1, INT64_MAX, &s->k));
    DKM_STEP(dkm_bundle_number(bundle, "ridge", 0, HUGE_VAL, &s->ridge));
    DKM_STEP(dkm_bundle_take_rows(bundle, "components", &s->U));
    s->p = dkm_data_cols(s->U);
    DKM_STEP(dkm_lle_check(bundle->ctx, s->base.X, s->k, s->p));
    if (dkm_data_rows(s->U) != dkm_data_rows(s->base.X))
        local = dkm_fail(bundle->ctx, DKM_ERR_FORMAT, "%lld points and %lld coordinates",
                         (long long)dkm_data_rows(s->base.X), (long long)dkm_data_rows(s->U));
out:
    return local;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_data *X = NULL;
    dkm_lle *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_bundle_take_rows(bundle, "inputs", &X));
    DKM_TRY(dkm_lle_open(ctx, &X, layout, &s));
    DKM_AGREE(ctx, read_parts(s, bundle));
    *state = s;
    s = NULL;
out:
    dkm_data_destroy(&X);
    if (s)
        dkm_lle_close(s);
    return status;
}

const dkm_method dkm_method_lle = {.name = "lle",
                                   .predict = place,
                                   .stretch = rows_at_a_time,
                                   .to_bundle = to_bundle,
                                   .from_bundle = from_bundle,
                                   .destroy = dkm_lle_close};
