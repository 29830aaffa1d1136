/* Kernel ridge regression in dual form (Saunders, Gammerman and Vovk 1998, ICML, pp. 515-521):
 * f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - 1 b'); b is the mean of Y, or zero.
 *
 * Cost: the Gram matrix and the system (solvers/ridge, solvers/ridge_path): m^3 / 3 flops by
 * Cholesky; predicting n objects takes n m kernel values and 2 n m p flops. Per rank m^2 / ranks
 * numbers of K and m p / ranks of B. Replicated: p intercepts. */
#include "models/krr/krr_dual.h"

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "models/krr/krr_sets.h"
#include "models/krr/krr_update.h"
#include "models/registry/model_impl.h"

#define PENALTY  "coefficient_penalty"
#define WEIGHTED "weighted"

typedef dkm_krr_dual krr;

static void krr_dual_destroy(void *state)
{
    krr *s = state;

    dkm_krr_std_clear(&s->std);
    dkm_krr_factor_clear(&s->factor);
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

/* The gamma is chosen as without a factor that is retained; the solution comes from it. */
static dkm_status krr_dual_keep_factor(krr *s, const dkm_path_settings *path,
                                       dkm_ridge_settings ridge, int choose, const dkm_dmat *T,
                                       const dkm_data *Y, dkm_path_info *info)
{
    dkm_status status = DKM_OK;

    if (choose)
        DKM_TRY(dkm_ridge_path(s->fitted.kernel, s->fitted.prepared, s->fitted.nb, path, T, &s->B,
                               info));
    else
        *info = (dkm_path_info){.count = 1, .solver = "cholesky"};
    dkm_dmat_destroy(&s->B);
    ridge.gamma = path->gammas[info->best];
    DKM_TRY(dkm_krr_factor_solve(&s->factor, &s->fitted, &ridge, T, Y, &s->B, &info->ridge));
out:
    return status;
}

static dkm_status krr_dual_solve(krr *s, const dkm_krr_settings *settings, const dkm_dmat *T,
                                 const dkm_data *Y, dkm_path_info *info)
{
    dkm_path_settings path = dkm_krr_outputs_path(&s->outputs, settings);
    dkm_ridge_settings ridge = settings->ridge;

    s->penalizes_coefficients = settings->penalty == DKM_PENALTY_COEFFICIENTS;
    s->factor.center = settings->center;
    if (settings->keep_factor)
        return krr_dual_keep_factor(s, &path, ridge, dkm_krr_needs_path(settings), T, Y, info);
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
    DKM_TRY(dkm_krr_outputs_learn(&s->outputs, &s->fitted, Y, settings, &T));
    s->weighted = settings->weights != NULL;
    DKM_TRY(dkm_krr_factor_set_weights(&s->factor, settings->weights));
    dkm_example_weights_apply(&s->outputs.weights, &s->fitted);
    status = krr_dual_solve(s, settings, T, Y, &path);
    dkm_example_weights_apply(NULL, &s->fitted);
    DKM_TRY(status);
    dkm_example_weights_scale(&s->outputs.weights, s->B);
    dkm_example_weights_close(&s->outputs.weights);
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

/* Deviations beside the means; K is overwritten. */
static dkm_status krr_dual_add_std(krr *s, const dkm_data *X, dkm_dmat *K, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_data *means = *Y;
    double *var = NULL;

    *Y = NULL;
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &var));
    DKM_TRY(dkm_krr_std_variances(&s->std.base, &s->factor, X, K, var));
    DKM_TRY(dkm_krr_std_join(&s->std, means, var, Y));
out:
    DKM_FREE(var);
    dkm_data_destroy(&means);
    return status;
}

/* Whether F = K B can be made tile by tile: of few outputs. */
static int krr_dual_fits_tiles(const krr *s)
{
    return s->outputs.encoder.cols > 0 && s->outputs.encoder.cols <= DKM_NRHS_MAX;
}

/* Whether predictions are: deviations ask for K. */
static int krr_dual_by_tiles(const krr *s)
{
    return !s->std.scale && krr_dual_fits_tiles(s);
}

/* k(x, X) B + b as what @p outputs says, without K. */
static dkm_status krr_dual_predict_by_tiles(krr *s, const dkm_krr_outputs *outputs,
                                            const dkm_data *X, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx p = s->outputs.encoder.cols, m = dkm_data_rows(s->fitted.X), n = dkm_data_rows(X);
    dkm_multivec B = {0}, F;
    dkm_data *rows = NULL;

    DKM_AGREE(ctx, dkm_multivec_init(&B, ctx, m, p));
    B.cols = p;
    DKM_TRY(dkm_dmat_to_rows(s->B, B.a));
    DKM_TRY(dkm_data_create_dense(ctx, n, p, &rows));
    F = dkm_multivec_view(ctx, n, p, dkm_data_values(rows));
    DKM_TRY(dkm_fitted_kernel_multiply(&s->fitted, X, &B, &F));
    DKM_TRY(dkm_krr_outputs_decode_rows(outputs, &rows, Y));
out:
    dkm_data_destroy(&rows);
    dkm_multivec_free(&B);
    return status;
}

/* The same with K, which stays. */
static dkm_status krr_dual_predict_stored(krr *s, const dkm_krr_outputs *outputs, const dkm_data *X,
                                          dkm_dmat **K, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;

    DKM_TRY(dkm_fitted_kernel_cross(&s->fitted, X, K));
    DKM_TRY(dkm_dmat_create_like(*K, s->outputs.encoder.cols, s->fitted.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, *K, s->B, 0.0, F);
    DKM_TRY(dkm_krr_outputs_decode(outputs, F, Y));
out:
    dkm_dmat_destroy(&F);
    return status;
}

dkm_status dkm_krr_dual_scores(dkm_krr_dual *s, const dkm_data *X, dkm_data **F)
{
    dkm_status status;
    dkm_krr_outputs numbers = s->outputs;
    dkm_dmat *K = NULL;

    *F = NULL;
    numbers.encoder.prediction = DKM_PREDICT_SCORES;
    status = krr_dual_fits_tiles(s) ? krr_dual_predict_by_tiles(s, &numbers, X, F)
                                    : krr_dual_predict_stored(s, &numbers, X, &K, F);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_status krr_dual_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    krr *s = state;
    dkm_status status;
    dkm_dmat *K = NULL;

    *Y = NULL;
    dkm_phase_begin(s->fitted.ctx, "predict");
    status = krr_dual_by_tiles(s) ? krr_dual_predict_by_tiles(s, &s->outputs, X, Y)
                                  : krr_dual_predict_stored(s, &s->outputs, X, &K, Y);
    if (status == DKM_OK && s->std.scale)
        status = krr_dual_add_std(s, X, K, Y);
    dkm_phase_end(s->fitted.ctx);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_local krr_dual_check_std(const krr *s)
{
    dkm_ctx *ctx = s->fitted.ctx;

    if (s->outputs.encoder.type != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "standard deviations are of numbers, and this model predicts %s",
                        dkm_type_name(s->outputs.encoder.type));
    if (s->fitted.indices || s->penalizes_coefficients)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "standard deviations are those of the exact fit with the penalty on the "
                        "weights: fit without landmarks, and by --regularizer weights");
    if (s->weighted && !s->factor.weights)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "the model was fitted with weights, by a version that did not save them: "
                        "standard deviations need them");
    if (dkm_data_type(s->fitted.X) == DKM_GRAM)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "rows of a Gram matrix do not tell k(x, x) of new inputs, which standard "
                        "deviations need");
    return DKM_LOCAL_OK;
}

/* s_j for the noise that is asked for. */
static dkm_status krr_dual_scale(krr *s, dkm_noise noise, double variance)
{
    dkm_status status = DKM_OK;
    double gamma = s->outputs.gamma;

    DKM_AGREE(s->fitted.ctx, dkm_calloc(s->fitted.ctx, s->outputs.encoder.cols, &s->std.scale));
    s->std.noise = noise == DKM_NOISE_NONE ? 0.0 : gamma;
    if (noise == DKM_NOISE_ESTIMATED) {
        DKM_TRY(dkm_krr_std_estimate(&s->fitted, &s->factor.roots, gamma, s->B, s->std.scale));
    } else {
        for (dkm_idx j = 0; j < s->outputs.encoder.cols; j++)
            s->std.scale[j] = noise == DKM_NOISE_GIVEN ? variance / gamma : 1.0;
    }
out:
    return status;
}

static dkm_status krr_dual_choose_std(void *state, dkm_noise noise, double variance,
                                      dkm_std_info *info, dkm_idx *cols)
{
    krr *s = state;
    dkm_status status = DKM_OK;
    dkm_idx p = s->outputs.encoder.cols;
    double sum = 0;

    DKM_AGREE(s->fitted.ctx, krr_dual_check_std(s));
    DKM_TRY(dkm_krr_factor_open(&s->factor, &s->fitted, s->outputs.gamma));
    dkm_krr_std_clear(&s->std);
    DKM_TRY(
        dkm_krr_base_open(&s->std.base, &s->factor, &s->fitted, dkm_krr_factor_order(&s->factor)));
    DKM_TRY(krr_dual_scale(s, noise, variance));
    for (dkm_idx j = 0; j < p; j++)
        sum += s->std.scale[j];
    *info = (dkm_std_info){.recomputed = s->factor.recomputed,
                           .scale = sum / (double)p,
                           .noise = s->outputs.gamma * sum / (double)p};
    *cols = 2 * p;
out:
    if (status != DKM_OK)
        dkm_krr_std_clear(&s->std);
    return status;
}

static dkm_local krr_dual_choose(void *state, dkm_prediction prediction, double threshold,
                                 dkm_type *type, dkm_idx *cols)
{
    krr *s = state;

    dkm_krr_std_clear(&s->std);
    return dkm_target_encoder_choose(&s->outputs.encoder, prediction, threshold, type, cols);
}

static dkm_idx krr_dual_batch_rows(const void *state)
{
    const krr *s = state;

    if (krr_dual_by_tiles(s))
        return dkm_fitted_kernel_product_rows(&s->fitted, s->outputs.encoder.cols);
    return dkm_fitted_kernel_batch_rows(&s->fitted, s->outputs.encoder.cols);
}

static dkm_status krr_dual_to_archive(void *state, dkm_archive *archive)
{
    krr *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->fitted.ctx, dkm_fitted_kernel_to_archive(&s->fitted, dkm_input_names, archive));
    DKM_AGREE(s->fitted.ctx, dkm_krr_outputs_to_archive(&s->outputs, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(&s->fitted, archive, "coefficients", s->B));
    if (s->penalizes_coefficients)
        DKM_AGREE(s->fitted.ctx, dkm_archive_put_real(archive, PENALTY, 1.0));
    if (s->weighted)
        DKM_AGREE(s->fitted.ctx, dkm_archive_put_real(archive, WEIGHTED, 1.0));
    DKM_TRY(dkm_krr_factor_to_archive(&s->factor, &s->fitted, s->outputs.gamma, archive));
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
    s->penalizes_coefficients = dkm_archive_find(archive, PENALTY) != NULL;
    s->weighted = dkm_archive_find(archive, WEIGHTED) != NULL;
    DKM_TRY(dkm_krr_factor_from_archive(&s->factor, &s->fitted, archive));
    *state = s;
    s = NULL;
out:
    if (s)
        krr_dual_destroy(s);
    return status;
}

static dkm_status krr_dual_append(void *state, const dkm_data *X, const dkm_data *Y,
                                  const dkm_data *weights, dkm_report *report, dkm_idx *cols)
{
    krr *s = state;
    dkm_status status = dkm_krr_append(s, X, Y, weights, report);

    *cols = dkm_krr_outputs_cols(&s->outputs);
    return status;
}

static dkm_status krr_dual_forget(void *state, dkm_idx count, const dkm_idx *rows,
                                  dkm_report *report, dkm_idx *cols)
{
    krr *s = state;
    dkm_status status = dkm_krr_forget(s, count, rows, report);

    *cols = dkm_krr_outputs_cols(&s->outputs);
    return status;
}

static dkm_local krr_dual_store_factor(void *state, dkm_factor_storage storage, const char *path)
{
    krr *s = state;

    return dkm_krr_factor_store(&s->factor, s->fitted.ctx, storage, path);
}

static dkm_status krr_dual_residuals(void *state, const dkm_data *X, const dkm_data *Y,
                                     dkm_data **R)
{
    return dkm_krr_residuals(state, X, Y, R);
}

static dkm_status krr_dual_open_sets(void *state, dkm_type *type, dkm_idx *cols)
{
    return dkm_krr_open_sets(state, type, cols);
}

static dkm_status krr_dual_sets(void *state, const dkm_data *X, const double *radius, dkm_data **S)
{
    return dkm_krr_prediction_sets(state, X, radius, S);
}

#define DUAL                                                                                       \
    .predict = krr_dual_predict, .choose = krr_dual_choose, .batch_rows = krr_dual_batch_rows,     \
    .to_archive = krr_dual_to_archive, .from_archive = krr_dual_from_archive,                      \
    .destroy = krr_dual_destroy

const dkm_model_class dkm_class_krr = {.name = "krr",
                                       DUAL,
                                       .choose_std = krr_dual_choose_std,
                                       .append = krr_dual_append,
                                       .forget = krr_dual_forget,
                                       .store_factor = krr_dual_store_factor,
                                       .residuals = krr_dual_residuals,
                                       .open_sets = krr_dual_open_sets,
                                       .prediction_sets = krr_dual_sets};
const dkm_model_class dkm_class_svm = {.name = "svm", DUAL};
