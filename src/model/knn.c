#include "model/knn_impl.h"

#include "core/alloc.h"
#include "core/same.h"
#include "model/model_impl.h"

static void destroy(void *state)
{
    dkm_knn *s = state;

    dkm_neighbours_close(&s->out);
    dkm_neighbours_close(&s->in);
    dkm_data_destroy(&s->Y);
    dkm_free_block(s);
}

static dkm_local check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, dkm_idx k,
                           int has_kernel)
{
    dkm_type type = dkm_data_type(Y);

    if (dkm_data_rows(X) != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    if (dkm_data_rows(X) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has no rows: there is nothing to learn from");
    if (k < 1 || k > dkm_data_rows(X))
        return dkm_fail(ctx, DKM_ERR_ARG, "k = %lld neighbours of %lld examples: take 1 to %lld",
                        (long long)k, (long long)dkm_data_rows(X), (long long)dkm_data_rows(X));
    if (k > 1 && !has_kernel && type != DKM_DENSE && type != DKM_LABELS)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "outputs that are %s are averaged in the space of a kernel: give one (ky), "
                        "or use one neighbour (k = 1)",
                        dkm_type_name(type));
    return DKM_LOCAL_OK;
}

dkm_status dkm_knn_fit(dkm_ctx *ctx, dkm_data **X, dkm_data **Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_knn_settings *settings, dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_knn *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, check_fit(ctx, *X, *Y, settings->k, ky != NULL));
    DKM_SAME(ctx, settings->k);
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->k = settings->k;
    DKM_TRY(dkm_blame(ctx, "x",
                      dkm_base_open(&s->in.base, ctx, X, dkm_kernel_text(kx), &settings->layout)));
    DKM_TRY(dkm_neighbours_ready(&s->in));
    if (ky) {
        DKM_TRY(dkm_blame(ctx, "y",
                          dkm_base_open_beside(&s->out.base, &s->in.base, Y, dkm_kernel_text(ky))));
        DKM_TRY(dkm_neighbours_ready(&s->out));
    } else {
        s->Y = *Y;
        *Y = NULL;
    }
    status = dkm_model_wrap(ctx, &dkm_method_knn, s, dkm_data_type(dkm_knn_outputs(s)),
                            dkm_data_cols(dkm_knn_outputs(s)), model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        destroy(s);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const dkm_knn *s = state;

    /* kernel values are held twice by rows beside those that lie block-cyclic */
    return dkm_base_stretch(&s->in.base, 2 * dkm_data_rows(dkm_knn_outputs(s)) +
                                             s->k * dkm_data_cols(dkm_knn_outputs(s)));
}

/* Whether outputs are to be found in another way than among those of the training. */
static int asks_for_more(const dkm_preimage_settings *settings)
{
    return (settings->method != DKM_PREIMAGE_AUTO && settings->method != DKM_PREIMAGE_CANDIDATES) ||
           settings->candidates || settings->stream || settings->kz || settings->neighbours ||
           settings->window;
}

static dkm_local check_preimage(const dkm_knn *s, const dkm_preimage_settings *settings)
{
    dkm_ctx *ctx = s->in.base.ctx;
    dkm_idx m = dkm_data_rows(dkm_knn_outputs(s));
    int more = asks_for_more(settings);

    if (s->Y && (settings->method == DKM_PREIMAGE_CANDIDATES || settings->top || more))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "a model of knn has pre-images where its outputs have a kernel: fit it "
                        "with one (ky)");
    if (more)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "a model of knn predicts the nearest of its training outputs: it can list "
                        "the best of them (top), and has no other pre-images");
    if (settings->top > m)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the best %lld of %lld candidates cannot be listed: ask for at most %lld",
                        (long long)settings->top, (long long)m, (long long)m);
    return DKM_LOCAL_OK;
}

static dkm_status configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                            dkm_idx *cols)
{
    dkm_knn *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->in.base.ctx, check_preimage(s, settings));
    s->top = settings->top;
    *type = s->top > 0 ? DKM_DENSE : dkm_data_type(dkm_knn_outputs(s));
    *cols = s->top > 0 ? 2 * s->top : dkm_data_cols(dkm_knn_outputs(s));
out:
    return status;
}

static dkm_local name_parts(dkm_knn *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_base_to_bundle(&s->in.base, dkm_input_names, bundle));
    if (s->Y)
        DKM_STEP(dkm_bundle_lend_data(bundle, dkm_output_names.objects, s->Y));
    else
        DKM_STEP(dkm_base_to_bundle(&s->out.base, dkm_output_names, bundle));
    DKM_STEP(dkm_bundle_put_real(bundle, "k", (double)s->k));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    dkm_knn *s = state;

    return dkm_agree(s->in.base.ctx, name_parts(s, bundle));
}

static dkm_status take_outputs(dkm_knn *s, dkm_bundle *bundle, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    if (dkm_bundle_find(bundle, dkm_output_names.kernel)) {
        DKM_TRY(dkm_base_from_bundle(&s->out.base, &s->in.base, dkm_output_names, bundle, layout));
        DKM_TRY(dkm_neighbours_ready(&s->out));
    } else {
        DKM_AGREE(bundle->ctx, dkm_bundle_take_data(bundle, dkm_output_names.objects, &s->Y));
    }
out:
    return status;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_knn *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_AGREE(ctx, dkm_bundle_count(bundle, "k", 1, INT64_MAX, &s->k));
    DKM_TRY(dkm_base_from_bundle(&s->in.base, NULL, dkm_input_names, bundle, layout));
    DKM_TRY(dkm_neighbours_ready(&s->in));
    DKM_TRY(take_outputs(s, bundle, layout));
    DKM_AGREE(ctx, check_fit(ctx, s->in.base.X, dkm_knn_outputs(s), s->k, s->Y == NULL));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_knn = {.name = "knn",
                                   .predict = dkm_knn_predict,
                                   .stretch = stretch,
                                   .configure = configure,
                                   .to_bundle = to_bundle,
                                   .from_bundle = from_bundle,
                                   .destroy = destroy};
