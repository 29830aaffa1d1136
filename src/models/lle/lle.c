/* Placing new points, and the parts of a model. */
#include "models/lle/lle_impl.h"

#include <math.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "models/registry/model_impl.h"

void dkm_lle_close(void *state)
{
    dkm_lle *s = state;

    dkm_data_destroy(&s->U);
    dkm_anchors_close(&s->anchors);
    dkm_fitted_kernel_close(&s->fitted);
    dkm_free_block(s);
}

dkm_local dkm_lle_check(dkm_ctx *ctx, const dkm_data *X, dkm_idx k, dkm_idx p)
{
    long long m = (long long)dkm_data_rows(X);

    if (dkm_data_type(X) != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_ARG, "points are dense rows, and these are %s",
                        dkm_type_name(dkm_data_type(X)));
    if (k < 1 || k >= m)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld neighbors of each of %lld points cannot be",
                        (long long)k, m);
    if (p < 1 || p >= m)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld components of %lld points cannot be", (long long)p,
                        m);
    return DKM_LOCAL_OK;
}

dkm_status dkm_lle_open(dkm_ctx *ctx, const dkm_data *X, const dkm_layout *layout, dkm_lle **state)
{
    dkm_status status = DKM_OK;
    dkm_lle *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->fitted.ctx = ctx;
    s->fitted.X = dkm_data_share(X);
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &s->fitted.grid));
    s->fitted.nb =
        layout->block ? layout->block : dkm_grid_block(s->fitted.grid, dkm_data_rows(s->fitted.X));
    DKM_TRY(dkm_anchors_open(&s->anchors, s->fitted.X));
    *state = s;
    s = NULL;
out:
    if (s)
        dkm_lle_close(s);
    return status;
}

static dkm_local lle_check_points(const dkm_lle *s, const dkm_data *X)
{
    if (dkm_data_type(X) == DKM_DENSE && dkm_data_cols(X) == dkm_data_cols(s->fitted.X))
        return DKM_LOCAL_OK;
    return dkm_fail(s->fitted.ctx, DKM_ERR_ARG,
                    "the embedding is of dense rows of %lld columns, these are %s of %lld",
                    (long long)dkm_data_cols(s->fitted.X), dkm_type_name(dkm_data_type(X)),
                    (long long)dkm_data_cols(X));
}

/* Z(i) = a'U for the weights a of each new point. */
static dkm_status lle_place(void *state, const dkm_data *X, dkm_data **Z)
{
    dkm_lle *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx n = dkm_data_local_rows(X), k = s->k, p = s->p, *indices = NULL;
    double *pairs = NULL;
    dkm_objs near = {0};

    *Z = NULL;
    dkm_phase_begin(ctx, "encode");
    DKM_AGREE(ctx, lle_check_points(s, X));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * 2 * k, &pairs));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * k, &indices));
    DKM_TRY(dkm_barycentric_weights(&s->anchors, X, 0, k, s->ridge, pairs));
    for (dkm_idx c = 0; c < n * k; c++)
        indices[c] = (dkm_idx)pairs[c / k * 2 * k + c % k];
    DKM_TRY(dkm_data_fetch(s->U, n * k, indices, &near));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), p, Z));
    for (dkm_idx c = 0; c < n * k; c++)
        for (dkm_idx j = 0; j < p; j++)
            dkm_data_values(*Z)[c / k * p + j] +=
                pairs[c / k * 2 * k + k + c % k] * near.values[c * p + j];
out:
    dkm_phase_end(ctx);
    dkm_objs_clear(&near);
    DKM_FREE(indices);
    DKM_FREE(pairs);
    return status;
}

static dkm_idx rows_at_a_time(const void *state)
{
    (void)state;
    return 65536;
}

static dkm_local lle_name_entries(const dkm_lle *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_real(archive, "neighbours", (double)s->k));
    DKM_STEP(dkm_archive_put_real(archive, "ridge", s->ridge));
    DKM_STEP(dkm_archive_borrow_data(archive, "inputs", s->fitted.X));
    DKM_STEP(dkm_archive_borrow_data(archive, "components", s->U));
out:
    return local;
}

static dkm_status lle_to_archive(void *state, dkm_archive *archive)
{
    dkm_lle *s = state;

    return dkm_agree(s->fitted.ctx, lle_name_entries(s, archive));
}

static dkm_local lle_read_entries(dkm_lle *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_count(archive, "neighbours", 1, INT64_MAX, &s->k));
    DKM_STEP(dkm_archive_number(archive, "ridge", 0, HUGE_VAL, &s->ridge));
    DKM_STEP(dkm_archive_take_rows(archive, "components", &s->U));
    s->p = dkm_data_cols(s->U);
    DKM_STEP(dkm_lle_check(archive->ctx, s->fitted.X, s->k, s->p));
    if (dkm_data_rows(s->U) != dkm_data_rows(s->fitted.X))
        local = dkm_fail(archive->ctx, DKM_ERR_FORMAT, "%lld points and %lld coordinates",
                         (long long)dkm_data_rows(s->fitted.X), (long long)dkm_data_rows(s->U));
out:
    return local;
}

static dkm_status lle_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                   void **state)
{
    dkm_status status = DKM_OK;
    dkm_data *X = NULL;
    dkm_lle *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_archive_take_rows(archive, "inputs", &X));
    DKM_TRY(dkm_lle_open(ctx, X, layout, &s));
    DKM_AGREE(ctx, lle_read_entries(s, archive));
    *state = s;
    s = NULL;
out:
    dkm_data_destroy(&X);
    if (s)
        dkm_lle_close(s);
    return status;
}

const dkm_model_class dkm_class_lle = {.name = "lle",
                                       .predict = lle_place,
                                       .batch_rows = rows_at_a_time,
                                       .to_archive = lle_to_archive,
                                       .from_archive = lle_from_archive,
                                       .destroy = dkm_lle_close};
