/* Ridge regression under the Nystroem kernel k(x, C) Q k(C, x') of n landmarks C, Q = K_nn^+
 * (subset of regressors; Smola and Schoelkopf 2000, ICML, pp. 911-918; Williams and Seeger 2001,
 * NIPS 13:682-688). With Q = R R' it is the linear kernel of the coordinates R'k(C, x): their
 * weights W are found in the primal, for any number of gammas, and with B = R W the model is one
 * in dual form on the landmarks alone.
 *
 * Cost: m n^2 flops over all ranks for the coordinates' normal matrix, n^3 for R. R (n x t) and
 * the landmarks are replicated. */
#include <dkmap/extrapolate.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/linalg.h"
#include "models/features/features_impl.h"
#include "models/krr/krr_dual.h"
#include "models/registry/model_impl.h"

typedef struct reduction {
    dkm_ctx *ctx;
    const dkm_krr_settings *settings;
    dkm_krr_dual *s;
    dkm_idx n, t;
    double *root; /* R, n x t, row-major, the same on every rank */
    dkm_data *Z;  /* coordinates of all inputs */
} reduction;

/* The fitted kernel on the landmarks. */
static dkm_status krr_subset_open_base(reduction *f, const dkm_data *X, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    dkm_idx *indices = NULL;
    dkm_data *C = NULL;

    dkm_phase_begin(f->ctx, "landmarks");
    f->n = f->settings->reduce;
    DKM_TRY(dkm_features_indices(X, kernel, f->settings->nystroem.choice, &f->settings->layout,
                                 &f->n, &indices));
    DKM_TRY(dkm_data_select(X, f->n, indices, &C));
    DKM_TRY(dkm_fitted_kernel_open(&f->s->fitted, f->ctx, C, kernel, &f->settings->layout));
    DKM_TRY(dkm_fitted_kernel_set_indices(&f->s->fitted, indices));
out:
    dkm_phase_end(f->ctx);
    dkm_data_destroy(&C);
    DKM_FREE(indices);
    return status;
}

/* K_nn by its own columns as features gives its inverse, cut off where it is singular. */
static dkm_status krr_subset_find_root(reduction *f)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &f->s->fitted;
    dkm_extrapolate_settings settings = dkm_extrapolate_settings_default();
    dkm_extrapolate_info info;
    dkm_data *F = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_gram_rows(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb, 0, &F));
    DKM_TRY(dkm_gram_from_rows(fitted->grid, F, fitted->nb, &K));
    DKM_TRY(dkm_extrapolate(K, F, &settings, &f->root, &info));
    f->t = info.dimensions;
out:
    dkm_dmat_destroy(&K);
    dkm_data_destroy(&F);
    return status;
}

static dkm_status place_inputs(reduction *f, const dkm_data *X)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = dkm_data_local_rows(X);
    dkm_dmat *K = NULL;
    double *rows = NULL;

    dkm_phase_begin(f->ctx, "coordinates");
    DKM_TRY(dkm_fitted_kernel_cross(&f->s->fitted, X, &K));
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, mine * f->n, &rows));
    DKM_TRY(dkm_dmat_to_rows(K, rows));
    dkm_dmat_destroy(&K);
    DKM_TRY(dkm_data_create_dense(f->ctx, dkm_data_rows(X), f->t, &f->Z));
    if (f->t > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'N', f->t, mine, f->n, 1.0, f->root, f->t, rows, f->n, 0.0,
                      dkm_data_values(f->Z), f->t);
out:
    dkm_phase_end(f->ctx);
    DKM_FREE(rows);
    dkm_dmat_destroy(&K);
    return status;
}

/* B = R W */
static dkm_status krr_subset_combine(reduction *f, const dkm_dmat *W)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &f->s->fitted;
    dkm_idx first = dkm_slab_first(f->n, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx));
    dkm_dmat *R = NULL;

    DKM_TRY(dkm_dmat_create(fitted->grid, f->n, f->t, fitted->nb, fitted->nb, DKM_F64, &R));
    DKM_TRY(dkm_dmat_from_rows(R, f->root + first * f->t));
    DKM_TRY(dkm_dmat_create(fitted->grid, f->n, f->s->outputs.encoder.cols, fitted->nb, fitted->nb,
                            DKM_F64, &f->s->B));
    dkm_la_gemm('N', 'N', 1.0, R, W, 0.0, f->s->B);
out:
    dkm_dmat_destroy(&R);
    return status;
}

static dkm_local krr_subset_check_rank(const reduction *f)
{
    if (f->t > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(f->ctx, DKM_ERR_NUMERIC, "the kernel is zero on all %lld landmarks",
                    (long long)f->n);
}

static dkm_status krr_subset_solve(reduction *f, const dkm_data *Y, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_krr_outputs *outputs = &f->s->outputs;
    dkm_path_settings path;
    dkm_path_info found = {0};
    dkm_dmat *T = NULL, *W = NULL;
    dkm_data *scaled = NULL;

    DKM_AGREE(f->ctx, krr_subset_check_rank(f));
    DKM_TRY(dkm_krr_outputs_learn(outputs, &f->s->fitted, Y, f->settings, &T));
    path = dkm_krr_outputs_path(outputs, f->settings);
    DKM_TRY(dkm_example_weights_scale_rows(&outputs->weights, f->Z, &scaled));
    DKM_TRY(dkm_ridge_primal(scaled ? scaled : f->Z, f->s->fitted.nb, &path, T, &W, &found));
    outputs->gamma = path.gammas[found.best];
    dkm_example_weights_close(&outputs->weights);
    DKM_TRY(krr_subset_combine(f, W));
    dkm_krr_outputs_report(outputs, &f->s->fitted, dkm_data_rows(Y), &found, info);
    if (info) {
        info->form = "reduced";
        info->landmarks = f->n;
        info->dimensions = f->t;
    }
out:
    dkm_path_info_free(&found);
    dkm_data_destroy(&scaled);
    dkm_dmat_destroy(&W);
    dkm_dmat_destroy(&T);
    return status;
}

dkm_status dkm_krr_subset_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                              const dkm_kernel *kernel, const dkm_krr_settings *settings,
                              dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    reduction f = {.ctx = ctx, .settings = settings};

    *model = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &f.s));
    DKM_TRY(krr_subset_open_base(&f, X, kernel));
    DKM_TRY(krr_subset_find_root(&f));
    DKM_TRY(place_inputs(&f, X));
    DKM_TRY(krr_subset_solve(&f, Y, info));
    status = dkm_krr_dual_wrap(f.s, &dkm_class_krr, model);
    f.s = NULL; /* taken over, whatever came of it */
out:
    dkm_data_destroy(&f.Z);
    dkm_extrapolate_free(&f.root);
    dkm_krr_dual_destroy(&f.s);
    return status;
}
