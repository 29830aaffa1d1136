#include <dkmap/kpca.h>

#include "core/alloc.h"
#include "model/embedding.h"
#include "model/model_impl.h"

dkm_kpca_settings dkm_kpca_settings_default(void)
{
    return (dkm_kpca_settings){.eigen = dkm_eigen_settings_default()};
}

static void destroy(void *state)
{
    dkm_embedding_close(state);
    dkm_free_block(state);
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

dkm_status dkm_kpca_fit(dkm_ctx *ctx, dkm_data **X, const dkm_kernel *kernel,
                        const dkm_kpca_settings *settings, dkm_model **model, dkm_kpca_info *info)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings eigen = settings->eigen;
    dkm_eigen_info found;
    dkm_embedding *e = NULL;

    *model = NULL;
    eigen.center = 1;
    DKM_AGREE(ctx, check_inputs(ctx, *X));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &e));
    DKM_TRY(dkm_base_open(&e->base, ctx, X, dkm_kernel_text(kernel), &settings->layout));
    DKM_TRY(dkm_embedding_fit(e, &eigen, &found));
    describe(&e->base, &found, info);
    status = dkm_model_wrap(ctx, &dkm_method_kpca, e, DKM_DENSE, e->p, model);
    e = NULL; /* taken over, whatever came of it */
out:
    if (e)
        destroy(e);
    return status;
}

static dkm_status encode(void *state, const dkm_data *X, dkm_data **Z)
{
    dkm_embedding *e = state;
    dkm_status status;

    dkm_phase_begin(e->base.ctx, "encode");
    status = dkm_embedding_encode(e, X, Z, NULL);
    dkm_phase_end(e->base.ctx);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const dkm_embedding *e = state;

    return dkm_base_stretch(&e->base, e->p);
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    return dkm_embedding_to_bundle(state, dkm_input_names, bundle);
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_embedding *e = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &e));
    DKM_TRY(dkm_embedding_from_bundle(e, NULL, dkm_input_names, bundle, layout));
    *state = e;
    e = NULL;
out:
    if (e)
        destroy(e);
    return status;
}

const dkm_method dkm_method_kpca = {.name = "kpca",
                                    .predict = encode,
                                    .stretch = stretch,
                                    .to_bundle = to_bundle,
                                    .from_bundle = from_bundle,
                                    .destroy = destroy};
