/* f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - 1 b'); b is the mean of Y, or zero. */
#include "model/krr_dual.h"

#include "core/alloc.h"
#include "model/model_impl.h"
#include "scalapack/linalg.h"

typedef dkm_krr_dual krr;

static void destroy(void *state)
{
    krr *s = state;

    dkm_dmat_destroy(&s->B);
    dkm_krr_head_clear(&s->head);
    dkm_base_close(&s->base);
    dkm_free_block(s);
}

void dkm_krr_dual_destroy(dkm_krr_dual **s)
{
    if (*s)
        destroy(*s);
    *s = NULL;
}

dkm_status dkm_krr_dual_wrap(dkm_krr_dual *s, const dkm_method *method, dkm_model **model)
{
    return dkm_model_wrap(s->base.ctx, method, s, s->head.targets.type, dkm_krr_head_cols(&s->head),
                          model);
}

static dkm_status solve(krr *s, const dkm_krr_settings *settings, const dkm_dmat *T,
                        dkm_path_info *info)
{
    dkm_path_settings path = dkm_krr_head_path(&s->head, settings);
    dkm_ridge_settings ridge = settings->ridge;

    ridge.gamma = path.gammas[0];
    if (dkm_krr_needs_path(settings))
        return dkm_ridge_path(s->base.kernel, s->base.prepared, s->base.nb, &path, T, &s->B, info);
    *info = (dkm_path_info){.count = 1, .solver = "cholesky"};
    return dkm_ridge_kernel(s->base.kernel, s->base.prepared, s->base.nb, &ridge, T, &s->B,
                            &info->ridge);
}

dkm_status dkm_krr_dual_fit(dkm_ctx *ctx, dkm_data **X, const dkm_data *Y, const dkm_kernel *kernel,
                            const dkm_krr_settings *settings, dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_path_info path = {0};
    dkm_dmat *T = NULL;
    krr *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_base_open(&s->base, ctx, X, dkm_kernel_text(kernel), &settings->layout));
    DKM_TRY(dkm_krr_head_learn(&s->head, &s->base, Y, settings->center, &T));
    DKM_TRY(solve(s, settings, T, &path));
    s->head.gamma = dkm_krr_head_path(&s->head, settings).gammas[path.best];
    dkm_krr_head_tell(&s->head, &s->base, dkm_data_rows(Y), &path, info);
    if (info)
        info->form = "dual";
    status = dkm_krr_dual_wrap(s, &dkm_method_krr, model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_path_info_free(&path);
    dkm_dmat_destroy(&T);
    if (s)
        destroy(s);
    return status;
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    krr *s = state;
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *F = NULL;

    *Y = NULL;
    dkm_phase_begin(s->base.ctx, "predict");
    DKM_TRY(dkm_base_cross(&s->base, X, &K));
    DKM_TRY(dkm_dmat_create_beside(K, s->head.targets.cols, s->base.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, K, s->B, 0.0, F);
    DKM_TRY(dkm_krr_head_decode(&s->head, F, Y));
out:
    dkm_phase_end(s->base.ctx);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const krr *s = state;

    return dkm_base_stretch(&s->base, s->head.targets.cols);
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    krr *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->base.ctx, dkm_base_to_bundle(&s->base, dkm_input_names, bundle));
    DKM_AGREE(s->base.ctx, dkm_krr_head_to_bundle(&s->head, bundle));
    DKM_TRY(dkm_base_put_matrix(&s->base, bundle, "coefficients", s->B));
out:
    return status;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    krr *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_base_from_bundle(&s->base, NULL, dkm_input_names, bundle, layout));
    DKM_AGREE(ctx, dkm_krr_head_from_bundle(&s->head, bundle));
    DKM_TRY(dkm_base_take_matrix(&s->base, bundle, "coefficients", dkm_data_rows(s->base.X),
                                 s->head.targets.cols, &s->B));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

#define DUAL(word)                                                                                 \
    {                                                                                              \
        .name = word, .predict = predict, .stretch = stretch, .to_bundle = to_bundle,              \
        .from_bundle = from_bundle, .destroy = destroy                                             \
    }

const dkm_method dkm_method_krr = DUAL("krr"), dkm_method_svm = DUAL("svm");
