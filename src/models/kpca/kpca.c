/* Kernel principal component analysis (Schoelkopf, Smola and Mueller 1998, Neural Computation
 * 10(5):1299-1319, doi:10.1162/089976698300017467) as a model: fit, encode, decode by
 * pre-images, and its parts in a file. The embedding and its cost are in
 * models/common/embedding.c; with landmarks in models/common/embedding_nystroem.c. */
#include <dkmap/kpca.h>

#include "core/alloc.h"
#include "models/common/embedding.h"
#include "models/common/method_parts.h"
#include "models/registry/model_impl.h"
#include "preimage/preimage.h"

typedef struct kpca {
    dkm_embedding e;
    dkm_preimage pre;
} kpca;

#define LEVERAGE_RIDGE 1e-3 /* of the choice of landmarks by leverage, where no ridge is given */

dkm_kpca_settings dkm_kpca_settings_default(void)
{
    return (dkm_kpca_settings){.eigen = dkm_eigen_settings_default()};
}

static void kpca_destroy(void *state)
{
    kpca *s = state;

    dkm_preimage_close(&s->pre);
    dkm_embedding_close(&s->e);
    dkm_free_block(s);
}

static void kpca_describe(const dkm_fitted_kernel *fitted, const dkm_eigen_info *eigen,
                          dkm_kpca_info *info)
{
    if (info)
        *info = (dkm_kpca_info){.m = dkm_data_rows(fitted->X),
                                .P = dkm_grid_rows(fitted->grid),
                                .Q = dkm_grid_cols(fitted->grid),
                                .block = fitted->nb,
                                .eigen = *eigen};
}

/* The fitted kernel on landmarks of X, and components over all of X. */
static dkm_status kpca_fit_landmarks(dkm_embedding *e, const dkm_data *X, const dkm_kernel *kernel,
                                     const dkm_kpca_settings *settings, dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_input_stream feed = dkm_input_stream_open(X, NULL, ctx);
    dkm_idx n = dkm_nystroem_count(&settings->nystroem, feed.m), *indices = NULL;
    dkm_data *C = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &indices));
    DKM_TRY(dkm_input_stream_landmarks(&feed, kernel, settings->nystroem.choice, LEVERAGE_RIDGE, &n,
                                       indices));
    DKM_TRY(dkm_input_stream_select(&feed, n, indices, &C));
    DKM_TRY(dkm_fitted_kernel_open(&e->fitted, ctx, C, kernel, &settings->layout));
    DKM_TRY(dkm_fitted_kernel_set_indices(&e->fitted, indices));
    DKM_TRY(
        dkm_embedding_fit_landmarks(e, &feed, &settings->nystroem, &settings->eigen, NULL, info));
out:
    dkm_input_stream_close(&feed);
    dkm_data_destroy(&C);
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_kpca_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_kernel *kernel,
                        const dkm_kpca_settings *settings, dkm_model **model, dkm_kpca_info *info)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings eigen = settings->eigen;
    dkm_eigen_info found;
    dkm_example_weights weights = {0};
    kpca *s = NULL;
    dkm_idx m = dkm_data_rows(X);

    *model = NULL;
    eigen.center = 1;
    DKM_REQUIRE(ctx, !settings->weights || settings->nystroem.landmarks == 0, DKM_ERR_UNSUPPORTED,
                "--weights are not for --landmarks: leave one of them out");
    DKM_AGREE(ctx, dkm_check_examples(ctx, m, NULL));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    if (settings->nystroem.landmarks > 0) {
        DKM_TRY(kpca_fit_landmarks(&s->e, X, kernel, settings, &found));
    } else {
        DKM_TRY(dkm_fitted_kernel_open(&s->e.fitted, ctx, X, kernel, &settings->layout));
        DKM_TRY(dkm_example_weights_open(&weights, ctx, settings->weights));
        DKM_TRY(settings->weights ? dkm_embedding_fit_weighted(&s->e, &weights, &eigen, &found)
                                  : dkm_embedding_fit(&s->e, &eigen, &found));
    }
    kpca_describe(&s->e.fitted, &found, info);
    if (info && settings->nystroem.landmarks > 0) {
        info->m = m;
        info->landmarks = dkm_data_rows(s->e.fitted.X);
    }
    status = dkm_model_wrap(ctx, &dkm_class_kpca, s, DKM_DENSE, s->e.p, model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_example_weights_close(&weights);
    if (s)
        kpca_destroy(s);
    return status;
}

static dkm_status kpca_configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
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

static dkm_status kpca_encode(void *state, const dkm_data *X, dkm_data **Z)
{
    kpca *s = state;
    dkm_status status;

    dkm_phase_begin(s->e.fitted.ctx, "encode");
    status = dkm_embedding_encode(&s->e, X, Z, NULL);
    dkm_phase_end(s->e.fitted.ctx);
    return status;
}

static dkm_status kpca_decode(void *state, const dkm_data *Z, dkm_data **X)
{
    kpca *s = state;

    return dkm_preimage_solve(&s->pre, NULL, Z, X);
}

static const dkm_preimage *kpca_preimage(const void *state)
{
    return &((const kpca *)state)->pre;
}

static dkm_idx kpca_batch_rows(const void *state)
{
    const kpca *s = state;

    return dkm_fitted_kernel_batch_rows(&s->e.fitted, dkm_preimage_width(&s->pre));
}

static dkm_status kpca_to_archive(void *state, dkm_archive *archive)
{
    kpca *s = state;

    return dkm_embedding_to_archive(&s->e, dkm_input_names, archive);
}

static dkm_status kpca_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                    void **state)
{
    dkm_status status = DKM_OK;
    kpca *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_embedding_from_archive(&s->e, NULL, dkm_input_names, archive, layout));
    *state = s;
    s = NULL;
out:
    if (s)
        kpca_destroy(s);
    return status;
}

const dkm_model_class dkm_class_kpca = {.name = "kpca",
                                        .predict = kpca_encode,
                                        .batch_rows = kpca_batch_rows,
                                        .configure = kpca_configure,
                                        .decode = kpca_decode,
                                        .preimage = kpca_preimage,
                                        .predicts_coordinates = 1,
                                        .to_archive = kpca_to_archive,
                                        .from_archive = kpca_from_archive,
                                        .destroy = kpca_destroy};
