#include <dkmap/kde.h>

#include <math.h>

#include "core/alloc.h"
#include "model/embedding.h"
#include "model/model_impl.h"
#include "model/preimage.h"
#include "scalapack/linalg.h"

typedef struct kde {
    dkm_base base;     /* inputs */
    dkm_embedding out; /* outputs, on the same grid */
    dkm_dmat *B;       /* m x p: (K + gamma I)^-1 Z */
    dkm_preimage pre;
} kde;

dkm_kde_settings dkm_kde_settings_default(void)
{
    return (dkm_kde_settings){.ridge = dkm_ridge_settings_default(),
                              .eigen = dkm_eigen_settings_default()};
}

static void destroy(void *state)
{
    kde *s = state;

    dkm_preimage_close(&s->pre);
    dkm_dmat_destroy(&s->B);
    dkm_embedding_close(&s->out);
    dkm_base_close(&s->base);
    dkm_free_block(s);
}

static dkm_local check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y)
{
    if (dkm_data_rows(X) != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    if (dkm_data_rows(X) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has no rows: there is nothing to learn from");
    return DKM_LOCAL_OK;
}

/* B = (K + gamma I)^-1 Z for all coordinates Z of the training outputs at once. */
static dkm_status regress(kde *s, const dkm_ridge_settings *settings, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_dmat *Z = NULL;

    DKM_TRY(dkm_embedding_training(&s->out, &Z));
    DKM_TRY(
        dkm_ridge_kernel(s->base.kernel, s->base.prepared, s->base.nb, settings, Z, &s->B, info));
out:
    dkm_dmat_destroy(&Z);
    return status;
}

static dkm_status configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                            dkm_idx *cols)
{
    kde *s = state;
    dkm_status status;

    dkm_preimage_close(&s->pre);
    status = dkm_preimage_open(&s->pre, &s->out, settings);
    *type = dkm_preimage_type(&s->pre);
    *cols = dkm_preimage_cols(&s->pre);
    return status;
}

/* Wrap the state, with the pre-image that suits the outputs. Takes the state over. */
static dkm_status wrap(dkm_ctx *ctx, kde *s, dkm_model **model)
{
    dkm_preimage_settings standard = {0};
    dkm_type type;
    dkm_idx cols;
    dkm_status status = configure(s, &standard, &type, &cols);

    if (status == DKM_OK)
        return dkm_model_wrap(ctx, &dkm_method_kde, s, type, cols, model);
    destroy(s);
    return status;
}

dkm_status dkm_kde_fit(dkm_ctx *ctx, dkm_data **X, dkm_data **Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_kde_settings *settings, dkm_model **model,
                       dkm_kde_info *info)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings eigen = settings->eigen;
    dkm_kde_info found = {0};
    kde *s = NULL;

    *model = NULL;
    eigen.center = 1;
    DKM_AGREE(ctx, check_fit(ctx, *X, *Y));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_base_open(&s->base, ctx, X, dkm_kernel_text(kx), &settings->layout));
    DKM_TRY(dkm_base_open_beside(&s->out.base, &s->base, Y, dkm_kernel_text(ky)));
    DKM_TRY(dkm_embedding_fit(&s->out, &eigen, &found.eigen));
    DKM_TRY(regress(s, &settings->ridge, &found.ridge));
    found.m = dkm_data_rows(s->base.X);
    found.P = dkm_grid_rows(s->base.grid);
    found.Q = dkm_grid_cols(s->base.grid);
    found.block = s->base.nb;
    if (info)
        *info = found;
    status = wrap(ctx, s, model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        destroy(s);
    return status;
}

/* Coordinates k(X, training) B, in slabs. */
static dkm_status coordinates(kde *s, const dkm_data *X, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *F = NULL;

    DKM_TRY(dkm_base_cross(&s->base, X, &K));
    DKM_TRY(dkm_dmat_create_beside(K, s->out.p, s->base.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, K, s->B, 0.0, F);
    DKM_TRY(dkm_data_create_dense(s->base.ctx, dkm_data_rows(X), s->out.p, Z));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(*Z)));
out:
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&F);
    return status;
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    kde *s = state;
    dkm_status status = DKM_OK;
    dkm_data *Z = NULL;

    *Y = NULL;
    dkm_phase_begin(s->base.ctx, "predict");
    DKM_TRY(coordinates(s, X, &Z));
    DKM_TRY(dkm_preimage_solve(&s->pre, &Z, Y));
out:
    dkm_phase_end(s->base.ctx);
    dkm_data_destroy(&Z);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const kde *s = state;

    return dkm_base_stretch(&s->base, s->out.p + dkm_preimage_cols(&s->pre));
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    kde *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->base.ctx, dkm_base_to_bundle(&s->base, dkm_input_names, bundle));
    DKM_TRY(dkm_embedding_to_bundle(&s->out, dkm_output_names, bundle));
    DKM_TRY(dkm_base_put_matrix(&s->base, bundle, "coefficients", s->B));
out:
    return status;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings standard = {0};
    dkm_type type;
    dkm_idx cols;
    kde *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_base_from_bundle(&s->base, NULL, dkm_input_names, bundle, layout));
    DKM_TRY(dkm_embedding_from_bundle(&s->out, &s->base, dkm_output_names, bundle, layout));
    DKM_TRY(dkm_base_take_matrix(&s->base, bundle, "coefficients", dkm_data_rows(s->base.X),
                                 s->out.p, &s->B));
    DKM_TRY(configure(s, &standard, &type, &cols));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_kde = {.name = "kde",
                                   .predict = predict,
                                   .stretch = stretch,
                                   .configure = configure,
                                   .to_bundle = to_bundle,
                                   .from_bundle = from_bundle,
                                   .destroy = destroy};
