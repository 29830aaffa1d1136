/* k nearest neighbors in feature space (Cover and Hart 1967, IEEE Trans. Inf. Theory
 * 13(1):21-27, doi:10.1109/TIT.1967.1053964): fit and model file. Nothing is learned but the
 * norms k(x_i, x_i); with a kernel on the outputs their Gram matrix averages them in its
 * feature space. */
#include "models/knn/knn_impl.h"

#include "core/alloc.h"
#include "core/uniform.h"
#include "models/common/method_parts.h"
#include "models/registry/model_impl.h"

static void knn_destroy(void *state)
{
    dkm_knn *s = state;

    dkm_target_encoder_clear(&s->votes);
    dkm_neighbors_close(&s->out);
    dkm_neighbors_close(&s->in);
    dkm_data_destroy(&s->Y);
    dkm_free_block(s);
}

static dkm_local knn_check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, dkm_idx k,
                               int has_kernel)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_type type = dkm_data_type(Y);

    DKM_STEP(dkm_check_examples(ctx, dkm_data_rows(X), Y));
    if (k < 1 || k > dkm_data_rows(X))
        return dkm_fail(ctx, DKM_ERR_ARG, "k = %lld neighbors of %lld examples: take 1 to %lld",
                        (long long)k, (long long)dkm_data_rows(X), (long long)dkm_data_rows(X));
    if (k > 1 && !has_kernel && type != DKM_DENSE && type != DKM_LABELS)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "outputs that are %s are averaged in the space of a kernel: give one (ky), "
                        "or use one neighbor (k = 1)",
                        dkm_type_name(type));
out:
    return local;
}

dkm_status dkm_knn_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_knn_settings *settings, dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_knn *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, knn_check_fit(ctx, X, Y, settings->k, ky != NULL));
    DKM_CHECK_UNIFORM(ctx, settings->k);
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->k = settings->k;
    DKM_TRY(dkm_error_context(
        ctx, "x", dkm_fitted_kernel_open(&s->in.fitted, ctx, X, kx, &settings->layout)));
    DKM_TRY(dkm_neighbors_ready(&s->in));
    if (ky) {
        DKM_TRY(dkm_error_context(
            ctx, "y", dkm_fitted_kernel_open_sharing_grid(&s->out.fitted, &s->in.fitted, Y, ky)));
        DKM_TRY(dkm_neighbors_ready(&s->out));
    } else {
        s->Y = dkm_data_share(Y);
    }
    status = dkm_model_wrap(ctx, &dkm_class_knn, s, dkm_data_type(dkm_knn_outputs(s)),
                            dkm_data_cols(dkm_knn_outputs(s)), model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        knn_destroy(s);
    return status;
}

static dkm_idx knn_batch_rows(const void *state)
{
    const dkm_knn *s = state;

    /* kernel values are held twice by rows beside those that lie block-cyclic */
    return dkm_fitted_kernel_batch_rows(&s->in.fitted,
                                        2 * dkm_data_rows(dkm_knn_outputs(s)) +
                                            s->k * dkm_data_cols(dkm_knn_outputs(s)));
}

/* Whether outputs are to be found in another way than among those of the training. */
static int asks_for_more(const dkm_preimage_settings *settings)
{
    return (settings->method != DKM_PREIMAGE_AUTO && settings->method != DKM_PREIMAGE_CANDIDATES) ||
           settings->candidates || settings->stream || settings->kz || settings->neighbors ||
           settings->window || settings->approximate != 0;
}

static dkm_local check_preimage(const dkm_knn *s, const dkm_preimage_settings *settings)
{
    dkm_ctx *ctx = s->in.fitted.ctx;
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

static dkm_status knn_configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                                dkm_idx *cols)
{
    dkm_knn *s = state;
    dkm_status status = DKM_OK;

    if (settings->top == DKM_PREIMAGE_TOP_ALL)
        settings->top = dkm_data_rows(dkm_knn_outputs(s));
    DKM_AGREE(s->in.fitted.ctx, check_preimage(s, settings));
    s->top = settings->top;
    *type = s->top > 0 ? DKM_DENSE : dkm_data_type(dkm_knn_outputs(s));
    *cols = s->top > 0 ? 2 * s->top : dkm_data_cols(dkm_knn_outputs(s));
out:
    return status;
}

static dkm_local knn_name_entries(dkm_knn *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_fitted_kernel_to_archive(&s->in.fitted, dkm_input_names, archive));
    if (s->Y)
        DKM_STEP(dkm_archive_borrow_data(archive, dkm_output_names.objects, s->Y));
    else
        DKM_STEP(dkm_fitted_kernel_to_archive(&s->out.fitted, dkm_output_names, archive));
    DKM_STEP(dkm_archive_put_real(archive, "k", (double)s->k));
out:
    return local;
}

static dkm_status knn_to_archive(void *state, dkm_archive *archive)
{
    dkm_knn *s = state;

    return dkm_agree(s->in.fitted.ctx, knn_name_entries(s, archive));
}

static dkm_status take_outputs(dkm_knn *s, dkm_archive *archive, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    if (dkm_archive_find(archive, dkm_output_names.kernel)) {
        DKM_TRY(dkm_fitted_kernel_from_archive(&s->out.fitted, &s->in.fitted, dkm_output_names,
                                               archive, layout));
        DKM_TRY(dkm_neighbors_ready(&s->out));
    } else {
        DKM_AGREE(archive->ctx, dkm_archive_take_data(archive, dkm_output_names.objects, &s->Y));
    }
out:
    return status;
}

static dkm_status knn_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                   void **state)
{
    dkm_status status = DKM_OK;
    dkm_knn *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_AGREE(ctx, dkm_archive_count(archive, "k", 1, INT64_MAX, &s->k));
    DKM_TRY(dkm_fitted_kernel_from_archive(&s->in.fitted, NULL, dkm_input_names, archive, layout));
    DKM_TRY(dkm_neighbors_ready(&s->in));
    DKM_TRY(take_outputs(s, archive, layout));
    DKM_AGREE(ctx, knn_check_fit(ctx, s->in.fitted.X, dkm_knn_outputs(s), s->k, s->Y == NULL));
    *state = s;
    s = NULL;
out:
    if (s)
        knn_destroy(s);
    return status;
}

const dkm_model_class dkm_class_knn = {.name = "knn",
                                       .predict = dkm_knn_predict,
                                       .batch_rows = knn_batch_rows,
                                       .configure = knn_configure,
                                       .residuals = dkm_knn_residuals,
                                       .open_sets = dkm_knn_open_sets,
                                       .prediction_sets = dkm_knn_prediction_sets,
                                       .to_archive = knn_to_archive,
                                       .from_archive = knn_from_archive,
                                       .destroy = knn_destroy};
