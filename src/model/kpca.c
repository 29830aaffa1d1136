#include <dkmap/kpca.h>

#include "core/alloc.h"
#include "model/embedding.h"
#include "model/model_impl.h"
#include "model/preimage.h"

typedef struct kpca {
    dkm_embedding e;
    dkm_preimage pre;
} kpca;

#define LEVERAGE_RIDGE 1e-3 /* of the choice of landmarks by leverage, where no ridge is given */

dkm_kpca_settings dkm_kpca_settings_default(void)
{
    return (dkm_kpca_settings){.eigen = dkm_eigen_settings_default()};
}

static void destroy(void *state)
{
    kpca *s = state;

    dkm_preimage_close(&s->pre);
    dkm_embedding_close(&s->e);
    dkm_free_block(s);
}

static dkm_local check_inputs(dkm_ctx *ctx, const dkm_data *X)
{
    if (dkm_data_rows(X) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has no rows: there is nothing to learn from");
    return DKM_LOCAL_OK;
}

static void describe(const dkm_base *base, const dkm_eigen_info *eigen, dkm_kpca_info *info)
{
    if (info)
        *info = (dkm_kpca_info){.m = dkm_data_rows(base->X),
                                .P = dkm_grid_rows(base->grid),
                                .Q = dkm_grid_cols(base->grid),
                                .block = base->nb,
                                .eigen = *eigen};
}

/* The base on landmarks of X, and components over all of X. */
static dkm_status fit_landmarks(dkm_embedding *e, const dkm_data *X, const dkm_kernel *kernel,
                                const dkm_kpca_settings *settings, dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_feed feed = dkm_feed_of(X, NULL, ctx);
    dkm_idx n = dkm_nystroem_count(&settings->nystroem, feed.m), *places = NULL;
    dkm_data *C = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &places));
    DKM_TRY(
        dkm_feed_landmarks(&feed, kernel, settings->nystroem.choice, LEVERAGE_RIDGE, &n, places));
    DKM_TRY(dkm_feed_select(&feed, n, places, &C));
    DKM_TRY(dkm_base_open(&e->base, ctx, &C, dkm_kernel_text(kernel), &settings->layout));
    DKM_TRY(
        dkm_embedding_fit_landmarks(e, &feed, &settings->nystroem, &settings->eigen, NULL, info));
out:
    dkm_feed_close(&feed);
    dkm_data_destroy(&C);
    DKM_FREE(places);
    return status;
}

dkm_status dkm_kpca_fit(dkm_ctx *ctx, dkm_data **X, const dkm_kernel *kernel,
                        const dkm_kpca_settings *settings, dkm_model **model, dkm_kpca_info *info)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings eigen = settings->eigen;
    dkm_eigen_info found;
    kpca *s = NULL;
    dkm_idx m = dkm_data_rows(*X);

    *model = NULL;
    eigen.center = 1;
    DKM_AGREE(ctx, check_inputs(ctx, *X));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    if (settings->nystroem.landmarks > 0) {
        DKM_TRY(fit_landmarks(&s->e, *X, kernel, settings, &found));
    } else {
        DKM_TRY(dkm_base_open(&s->e.base, ctx, X, dkm_kernel_text(kernel), &settings->layout));
        DKM_TRY(dkm_embedding_fit(&s->e, &eigen, &found));
    }
    describe(&s->e.base, &found, info);
    if (info && s->e.center) {
        info->m = m;
        info->landmarks = dkm_data_rows(s->e.base.X);
    }
    status = dkm_model_wrap(ctx, &dkm_method_kpca, s, DKM_DENSE, s->e.p, model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        destroy(s);
    dkm_data_destroy(X);
    return status;
}

static dkm_status configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                            dkm_idx *cols)
{
    kpca *s = state;
    dkm_status status;

    dkm_preimage_close(&s->pre);
    status = dkm_preimage_open(&s->pre, &s->e, settings, 1);
    *type = dkm_preimage_type(&s->pre);
    *cols = dkm_preimage_cols(&s->pre);
    return status;
}

static dkm_status encode(void *state, const dkm_data *X, dkm_data **Z)
{
    kpca *s = state;
    dkm_status status;

    dkm_phase_begin(s->e.base.ctx, "encode");
    status = dkm_embedding_encode(&s->e, X, Z, NULL);
    dkm_phase_end(s->e.base.ctx);
    return status;
}

static dkm_status decode(void *state, const dkm_data *Z, dkm_data **X)
{
    kpca *s = state;

    return dkm_preimage_solve(&s->pre, NULL, Z, X);
}

static dkm_idx stretch(const void *state)
{
    const kpca *s = state;

    return dkm_base_stretch(&s->e.base, dkm_preimage_width(&s->pre));
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    kpca *s = state;

    return dkm_embedding_to_bundle(&s->e, dkm_input_names, bundle);
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    kpca *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_embedding_from_bundle(&s->e, NULL, dkm_input_names, bundle, layout));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_kpca = {.name = "kpca",
                                    .predict = encode,
                                    .stretch = stretch,
                                    .configure = configure,
                                    .decode = decode,
                                    .predicts_coordinates = 1,
                                    .to_bundle = to_bundle,
                                    .from_bundle = from_bundle,
                                    .destroy = destroy};
