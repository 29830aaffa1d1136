/* Kernel dependency estimation (Weston, Chapelle, Elisseeff, Schoelkopf and Vapnik 2003, NIPS 15):
 * outputs are embedded by kernel PCA of their own kernel, coordinates are regressed on the inputs,
 * and a pre-image of predicted coordinates is the predicted output.
 *
 * Cost: embedding (m^2 / ranks numbers per rank, leading t eigenpairs) and one ridge system with t
 * right-hand sides. Replicated: t eigenvalues and the row means of the output kernel. */
#include "models/kde/kde_impl.h"

#include <float.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/linalg.h"
#include "models/common/method_parts.h"
#include "models/registry/model_impl.h"

dkm_kde_settings dkm_kde_settings_default(void)
{
    return (dkm_kde_settings){.ridge = dkm_ridge_settings_default(),
                              .margin = dkm_svm_dual_settings_default(),
                              .eigen = dkm_eigen_settings_default()};
}

static void kde_destroy(void *state)
{
    dkm_kde *s = state;

    dkm_kde_sets_close(&s->sets);
    dkm_preimage_close(&s->pre);
    DKM_FREE(s->b);
    dkm_dmat_destroy(&s->B);
    dkm_embedding_close(&s->out);
    dkm_fitted_kernel_close(&s->fitted);
    dkm_free_block(s);
}

static int kde_rough(const dkm_ridge_settings *s)
{
    return s->precision == DKM_RIDGE_MIXED || s->precision == DKM_RIDGE_SINGLE;
}

static dkm_local kde_check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                               const dkm_kde_settings *settings)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_check_examples(ctx, dkm_data_rows(X), Y));
    if (!(settings->shrink >= 0 && settings->shrink <= DBL_MAX))
        return dkm_fail(ctx, DKM_ERR_ARG, "shrink is %g: it must be a number >= 0",
                        settings->shrink);
    if (settings->penalty == DKM_PENALTY_COEFFICIENTS &&
        (settings->learner != DKM_LEARN_RIDGE || settings->landmarks ||
         kde_rough(&settings->ridge)))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the penalty on coefficients is for ridge regression on all examples in "
                        "double precision: leave out the other learner, solver or precision");
    if (settings->extra && dkm_data_rows(settings->extra) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "there are no extra outputs: leave them out");
    if (settings->weights && (settings->learner != DKM_LEARN_RIDGE || settings->landmarks ||
                              settings->extra || settings->penalty == DKM_PENALTY_COEFFICIENTS))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "--weights are for ridge regression on all examples: leave out --regressor "
                        "svr, --solver pcg, --unpaired-y and --regularizer l2-coef");
out:
    return local;
}

static const dkm_preimage *kde_preimage(const void *state)
{
    return &((const dkm_kde *)state)->pre;
}

static dkm_status kde_configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                                dkm_idx *cols)
{
    dkm_kde *s = state;
    dkm_status status;

    dkm_preimage_close(&s->pre);
    s->out.inputs = s->fitted.X;
    status = dkm_preimage_open(&s->pre, &s->out, settings, 0);
    *type = dkm_preimage_type(&s->pre);
    *cols = dkm_preimage_cols(&s->pre);
    return status;
}

/* Landmarks are drawn among the inputs, and their outputs are the landmarks of the outputs. */
static dkm_status open_landmarks(dkm_kde *s, dkm_input_stream *X, dkm_input_stream *Y,
                                 const dkm_kernel *kx, const dkm_kernel *ky,
                                 const dkm_kde_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_nystroem_count(&settings->nystroem, X->m), *indices = NULL;
    dkm_data *C = NULL, *D = NULL;

    DKM_AGREE(X->ctx, dkm_alloc(X->ctx, n, &indices));
    DKM_TRY(dkm_input_stream_landmarks(X, kx, settings->nystroem.choice, settings->ridge.gamma, &n,
                                       indices));
    DKM_TRY(dkm_input_stream_select(X, n, indices, &C));
    DKM_TRY(dkm_input_stream_select(Y, n, indices, &D));
    DKM_TRY(dkm_fitted_kernel_open(&s->fitted, X->ctx, C, kx, &settings->layout));
    DKM_TRY(dkm_fitted_kernel_open_sharing_grid(&s->out.fitted, &s->fitted, D, ky));
    DKM_TRY(dkm_fitted_kernel_set_indices(&s->fitted, indices));
    DKM_TRY(dkm_fitted_kernel_set_indices(&s->out.fitted, indices));
    DKM_TRY(dkm_input_stream_bind(X, s->fitted.prepared));
out:
    dkm_data_destroy(&D);
    dkm_data_destroy(&C);
    DKM_FREE(indices);
    return status;
}

static dkm_local kde_check_landmarks(dkm_ctx *ctx, const dkm_data *Y, const dkm_kernel *ky,
                                     const dkm_kde_settings *settings)
{
    if (settings->learner != DKM_LEARN_RIDGE || settings->nystroem.all_centers)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "kde on landmarks is for ridge regression with landmarks as centers");
    if (settings->extra)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "landmarks are drawn among the examples: extra outputs are for the exact "
                        "fit");
    if (dkm_data_type(Y) == DKM_DENSE && dkm_kernel_is_linear(ky))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "with the kernel linear on dense outputs, landmarks are for krr, which "
                        "predicts the same");
    return DKM_LOCAL_OK;
}

/* Coordinates of all outputs along components of their landmarks, learned from all inputs. */
static dkm_status kde_fit_landmarks(dkm_kde *s, const dkm_data *X, const dkm_data *Y,
                                    const dkm_kernel *kx, const dkm_kernel *ky,
                                    const dkm_kde_settings *settings, dkm_kde_info *found)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_input_stream x = dkm_input_stream_open(X, NULL, ctx),
                     y = dkm_input_stream_open(Y, NULL, ctx);
    dkm_nystroem_problem parts = {.feed = &x};
    dkm_nystroem N = {0};
    double *Z = NULL;

    DKM_AGREE(ctx, kde_check_landmarks(ctx, Y, ky, settings));
    DKM_TRY(open_landmarks(s, &x, &y, kx, ky, settings));
    DKM_TRY(dkm_embedding_fit_landmarks(&s->out, &y, &settings->nystroem, &settings->eigen, &Z,
                                        &found->eigen));
    parts.grid = s->fitted.grid;
    parts.kernel = s->fitted.kernel;
    parts.C = s->fitted.prepared;
    parts.nb = s->fitted.nb;
    DKM_TRY(dkm_nystroem_open(&N, &parts, &settings->nystroem));
    DKM_TRY(dkm_nystroem_ridge(&N, &settings->nystroem, settings->ridge.gamma, s->out.p, Z, &s->B,
                               &found->nystroem));
out:
    dkm_nystroem_close(&N);
    DKM_FREE(Z);
    dkm_input_stream_close(&y);
    dkm_input_stream_close(&x);
    return status;
}

/* Outputs without inputs follow those that have them. */
static dkm_status kde_add_extra(const dkm_data *Y, const dkm_data *extra, dkm_idx *count,
                                dkm_data **all)
{
    *count = extra ? dkm_data_rows(extra) : 0;
    if (extra)
        return dkm_data_join(Y, extra, all);
    *all = dkm_data_share(Y);
    return DKM_OK;
}

/* All examples: the exact fit. */
static dkm_status kde_fit_exactly(dkm_kde *s, const dkm_data *X, const dkm_data *Y,
                                  const dkm_kernel *kx, const dkm_kernel *ky,
                                  const dkm_kde_settings *settings, dkm_kde_info *found)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings eigen = settings->eigen;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_example_weights weights = {0};
    dkm_data *all = NULL;

    eigen.center = 1;
    DKM_TRY(dkm_error_context(ctx, "y", kde_add_extra(Y, settings->extra, &found->extra, &all)));
    DKM_TRY(dkm_error_context(ctx, "x",
                              dkm_fitted_kernel_open(&s->fitted, ctx, X, kx, &settings->layout)));
    DKM_TRY(dkm_error_context(
        ctx, "y", dkm_fitted_kernel_open_sharing_grid(&s->out.fitted, &s->fitted, all, ky)));
    DKM_TRY(dkm_example_weights_open(&weights, ctx, settings->weights));
    DKM_TRY(dkm_error_context(
        ctx, "y",
        settings->weights ? dkm_embedding_fit_weighted(&s->out, &weights, &eigen, &found->eigen)
                          : dkm_embedding_fit(&s->out, &eigen, &found->eigen)));
    DKM_TRY(dkm_kde_regress(s, settings, &weights, found));
out:
    dkm_example_weights_close(&weights);
    dkm_data_destroy(&all);
    return status;
}

dkm_status dkm_kde_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_kde_settings *settings, dkm_model **model,
                       dkm_kde_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kde_info found = {.m = dkm_data_rows(X)};
    dkm_kde *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, kde_check_fit(ctx, X, Y, settings));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(settings->landmarks ? kde_fit_landmarks(s, X, Y, kx, ky, settings, &found)
                                : kde_fit_exactly(s, X, Y, kx, ky, settings, &found));
    dkm_kde_shrink(s, settings->shrink);
    found.P = dkm_grid_rows(s->fitted.grid);
    found.Q = dkm_grid_cols(s->fitted.grid);
    found.block = s->fitted.nb;
    if (info)
        *info = found;
    status = dkm_model_wrap(ctx, &dkm_class_kde, s, DKM_DENSE, s->out.p, model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        kde_destroy(s);
    return status;
}

dkm_status dkm_kde_coordinates(dkm_kde *s, const dkm_data *X, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *F = NULL;

    DKM_TRY(dkm_fitted_kernel_cross(&s->fitted, X, &K));
    DKM_TRY(dkm_dmat_create_like(K, s->out.p, s->fitted.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, K, s->B, 0.0, F);
    if (s->b)
        dkm_dmat_add_row(F, 1.0, s->b);
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(X), s->out.p, Z));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(*Z)));
out:
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&F);
    return status;
}

static dkm_status kde_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    dkm_kde *s = state;
    dkm_status status = DKM_OK;
    dkm_data *Z = NULL;

    *Y = NULL;
    dkm_phase_begin(s->fitted.ctx, "predict");
    DKM_TRY(dkm_kde_coordinates(s, X, &Z));
    DKM_TRY(dkm_preimage_solve(&s->pre, X, Z, Y));
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_data_destroy(&Z);
    return status;
}

static dkm_status kde_decode(void *state, const dkm_data *Z, dkm_data **Y)
{
    dkm_kde *s = state;

    return dkm_preimage_solve(&s->pre, NULL, Z, Y);
}

static dkm_idx kde_batch_rows(const void *state)
{
    const dkm_kde *s = state;

    return dkm_fitted_kernel_batch_rows(&s->fitted,
                                        s->out.p + dkm_preimage_width(&s->pre) + 2 * s->sets.count);
}

static dkm_status kde_to_archive(void *state, dkm_archive *archive)
{
    dkm_kde *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->fitted.ctx, dkm_fitted_kernel_to_archive(&s->fitted, dkm_input_names, archive));
    DKM_TRY(dkm_embedding_to_archive(&s->out, dkm_output_names, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(&s->fitted, archive, "coefficients", s->B));
    if (s->b)
        DKM_AGREE(s->fitted.ctx, dkm_archive_put_reals(archive, "intercept", s->out.p, s->b));
out:
    return status;
}

/* Intercepts, where the model has them. */
static dkm_local take_intercepts(dkm_kde *s, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *b;

    if (!dkm_archive_find(archive, "intercept"))
        return local;
    DKM_STEP(dkm_archive_numbers(archive, "intercept", s->out.p, &b));
    DKM_STEP(dkm_alloc(archive->ctx, s->out.p, &s->b));
    memcpy(s->b, b, (size_t)s->out.p * sizeof *b);
out:
    return local;
}

static dkm_status kde_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                   void **state)
{
    dkm_status status = DKM_OK;
    dkm_kde *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_fitted_kernel_from_archive(&s->fitted, NULL, dkm_input_names, archive, layout));
    DKM_TRY(dkm_embedding_from_archive(&s->out, &s->fitted, dkm_output_names, archive, layout));
    DKM_TRY(dkm_fitted_kernel_take_matrix(&s->fitted, archive, "coefficients",
                                          dkm_data_rows(s->fitted.X), s->out.p, &s->B));
    DKM_AGREE(ctx, take_intercepts(s, archive));
    *state = s;
    s = NULL;
out:
    if (s)
        kde_destroy(s);
    return status;
}

static dkm_status kde_residuals(void *state, const dkm_data *X, const dkm_data *Y, dkm_data **R)
{
    return dkm_kde_residuals(state, X, Y, R);
}

static dkm_status kde_open_sets(void *state, dkm_type *type, dkm_idx *cols)
{
    return dkm_kde_open_sets(state, type, cols);
}

static dkm_status kde_sets(void *state, const dkm_data *X, const double *radius, dkm_data **S)
{
    return dkm_kde_prediction_sets(state, X, radius, S);
}

const dkm_model_class dkm_class_kde = {.name = "kde",
                                       .predict = kde_predict,
                                       .batch_rows = kde_batch_rows,
                                       .configure = kde_configure,
                                       .decode = kde_decode,
                                       .preimage = kde_preimage,
                                       .residuals = kde_residuals,
                                       .open_sets = kde_open_sets,
                                       .prediction_sets = kde_sets,
                                       .to_archive = kde_to_archive,
                                       .from_archive = kde_from_archive,
                                       .destroy = kde_destroy};
