/* Kernel ridge regression in dual form (Saunders, Gammerman and Vovk 1998, ICML, pp. 515-521):
 * f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - 1 b'); b is the mean of Y, or zero.
 *
 * Cost: the Gram matrix and the system (solvers/ridge, solvers/ridge_path): m^3 / 3 flops by
 * Cholesky; predicting n objects takes n m kernel values and 2 n m p flops. Per rank m^2 / ranks
 * numbers of K and m p / ranks of B. Replicated: p intercepts. */
#include "models/krr/krr_dual.h"

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "models/registry/model_impl.h"

typedef dkm_krr_dual krr;

static void krr_dual_destroy(void *state)
{
    krr *s = state;

    dkm_dmat_destroy(&s->B);
    dkm_krr_outputs_clear(&s->outputs);
    dkm_fitted_kernel_close(&s->fitted);
    dkm_free_block(s);
}

void dkm_krr_dual_destroy(dkm_krr_dual **s)
{
    if (*s)
        krr_dual_destroy(*s);
    *s = NULL;
}

dkm_status dkm_krr_dual_wrap(dkm_krr_dual *s, const dkm_model_class *method, dkm_model **model)
{
    return dkm_model_wrap(s->fitted.ctx, method, s, s->outputs.encoder.type,
                          dkm_krr_outputs_cols(&s->outputs), model);
}

static dkm_status krr_dual_solve(krr *s, const dkm_krr_settings *settings, const dkm_dmat *T,
                                 dkm_path_info *info)
{
    dkm_path_settings path = dkm_krr_outputs_path(&s->outputs, settings);
    dkm_ridge_settings ridge = settings->ridge;

    ridge.gamma = path.gammas[0];
    if (dkm_krr_needs_path(settings))
        return dkm_ridge_path(s->fitted.kernel, s->fitted.prepared, s->fitted.nb, &path, T, &s->B,
                              info);
    *info = (dkm_path_info){.count = 1, .solver = "cholesky"};
    return dkm_ridge_kernel(s->fitted.kernel, s->fitted.prepared, s->fitted.nb, &ridge, T, &s->B,
                            &info->ridge);
}

dkm_status dkm_krr_dual_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                            const dkm_kernel *kernel, const dkm_krr_settings *settings,
                            dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_path_info path = {0};
    dkm_dmat *T = NULL;
    krr *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_fitted_kernel_open(&s->fitted, ctx, X, kernel, &settings->layout));
    DKM_TRY(dkm_krr_outputs_learn(&s->outputs, &s->fitted, Y, settings->center, &T));
    DKM_TRY(krr_dual_solve(s, settings, T, &path));
    dkm_krr_outputs_take(&s->outputs, settings, &path);
    dkm_krr_outputs_report(&s->outputs, &s->fitted, dkm_data_rows(Y), &path, info);
    if (info)
        info->form = "dual";
    status = dkm_krr_dual_wrap(s, &dkm_class_krr, model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_path_info_free(&path);
    dkm_dmat_destroy(&T);
    if (s)
        krr_dual_destroy(s);
    return status;
}

static dkm_status krr_dual_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    krr *s = state;
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *F = NULL;

    *Y = NULL;
    dkm_phase_begin(s->fitted.ctx, "predict");
    DKM_TRY(dkm_fitted_kernel_cross(&s->fitted, X, &K));
    DKM_TRY(dkm_dmat_create_like(K, s->outputs.encoder.cols, s->fitted.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, K, s->B, 0.0, F);
    DKM_TRY(dkm_krr_outputs_decode(&s->outputs, F, Y));
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_local krr_dual_choose(void *state, dkm_prediction prediction, double threshold,
                                 dkm_type *type, dkm_idx *cols)
{
    dkm_target_encoder *encoder = &((krr *)state)->outputs.encoder;
    dkm_local local = dkm_target_encoder_choose(encoder, prediction, threshold);

    *type = dkm_target_encoder_type(encoder);
    *cols = dkm_target_encoder_output_cols(encoder);
    return local;
}

static dkm_idx krr_dual_batch_rows(const void *state)
{
    const krr *s = state;

    return dkm_fitted_kernel_batch_rows(&s->fitted, s->outputs.encoder.cols);
}

static dkm_status krr_dual_to_archive(void *state, dkm_archive *archive)
{
    krr *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->fitted.ctx, dkm_fitted_kernel_to_archive(&s->fitted, dkm_input_names, archive));
    DKM_AGREE(s->fitted.ctx, dkm_krr_outputs_to_archive(&s->outputs, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(&s->fitted, archive, "coefficients", s->B));
out:
    return status;
}

static dkm_status krr_dual_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                        const dkm_layout *layout, void **state)
{
    dkm_status status = DKM_OK;
    krr *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_fitted_kernel_from_archive(&s->fitted, NULL, dkm_input_names, archive, layout));
    DKM_AGREE(ctx, dkm_krr_outputs_from_archive(&s->outputs, archive));
    DKM_TRY(dkm_fitted_kernel_take_matrix(&s->fitted, archive, "coefficients",
                                          dkm_data_rows(s->fitted.X), s->outputs.encoder.cols,
                                          &s->B));
    *state = s;
    s = NULL;
out:
    if (s)
        krr_dual_destroy(s);
    return status;
}

#define DUAL(word)                                                                                 \
    {                                                                                              \
        .name = word, .predict = krr_dual_predict, .choose = krr_dual_choose,                      \
        .batch_rows = krr_dual_batch_rows, .to_archive = krr_dual_to_archive,                      \
        .from_archive = krr_dual_from_archive, .destroy = krr_dual_destroy                         \
    }

const dkm_model_class dkm_class_krr = DUAL("krr"), dkm_class_svm = DUAL("svm");
