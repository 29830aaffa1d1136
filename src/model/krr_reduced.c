/* Ridge regression under the Nystroem kernel k(x, C) Q k(C, x') of n landmarks C, Q = K_nn^+. With
 * Q = R R' it is the linear kernel of the coordinates R'k(C, x): their weights W are found in the
 * primal, for as many gammas as there are, and with B = R W the model is one in dual form on the
 * landmarks alone. */
#include <dkmap/extrapolate.h>

#include "core/alloc.h"
#include "model/features_impl.h"
#include "model/krr_dual.h"
#include "model/model_impl.h"
#include "scalapack/blas.h"
#include "scalapack/linalg.h"

typedef struct reduction {
    dkm_ctx *ctx;
    const dkm_krr_settings *settings;
    dkm_krr_dual *s;
    dkm_idx n, t;
    double *root; /* R, n x t, row-major, the same on every rank */
    dkm_data *Z;  /* coordinates of all inputs */
} reduction;

/* The base on the landmarks. */
static dkm_status open_base(reduction *f, const dkm_data *X, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    dkm_idx *places = NULL;
    dkm_data *C = NULL;

    dkm_phase_begin(f->ctx, "landmarks");
    f->n = f->settings->reduce;
    DKM_TRY(dkm_features_places(X, kernel, f->settings->nystroem.choice, &f->settings->layout,
                                &f->n, &places));
    DKM_TRY(dkm_data_select(X, f->n, places, &C));
    DKM_TRY(dkm_base_open(&f->s->base, f->ctx, &C, dkm_kernel_text(kernel), &f->settings->layout));
out:
    dkm_phase_end(f->ctx);
    dkm_data_destroy(&C);
    DKM_FREE(places);
    return status;
}

/* K_nn by its own columns as features gives its inverse, cut off where it is singular. */
static dkm_status find_root(reduction *f)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &f->s->base;
    dkm_extrapolate_settings settings = dkm_extrapolate_settings_default();
    dkm_extrapolate_info info;
    dkm_data *F = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_gram_rows(base->grid, base->kernel, base->prepared, base->nb, 0, &F));
    DKM_TRY(dkm_gram_given(base->grid, F, base->nb, &K));
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

    DKM_TRY(dkm_base_cross(&f->s->base, X, &K));
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, mine * f->n, &rows));
    DKM_TRY(dkm_dmat_to_rows(K, rows));
    dkm_dmat_destroy(&K);
    DKM_TRY(dkm_data_create_dense(f->ctx, dkm_data_rows(X), f->t, &f->Z));
    if (f->t > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'N', f->t, mine, f->n, 1.0, f->root, f->t, rows, f->n, 0.0,
                      dkm_data_values(f->Z), f->t);
out:
    DKM_FREE(rows);
    dkm_dmat_destroy(&K);
    return status;
}

/* B = R W */
static dkm_status combine(reduction *f, const dkm_dmat *W)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &f->s->base;
    dkm_idx first = dkm_slab_first(f->n, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx));
    dkm_dmat *R = NULL;

    DKM_TRY(dkm_dmat_create(base->grid, f->n, f->t, base->nb, base->nb, DKM_F64, &R));
    DKM_TRY(dkm_dmat_from_rows(R, f->root + first * f->t));
    DKM_TRY(dkm_dmat_create(base->grid, f->n, f->s->head.targets.cols, base->nb, base->nb, DKM_F64,
                            &f->s->B));
    dkm_la_gemm('N', 'N', 1.0, R, W, 0.0, f->s->B);
out:
    dkm_dmat_destroy(&R);
    return status;
}

static dkm_local check_rank(const reduction *f)
{
    if (f->t > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(f->ctx, DKM_ERR_NUMERIC, "the kernel is zero on all %lld landmarks",
                    (long long)f->n);
}

static dkm_status solve(reduction *f, const dkm_data *Y, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_krr_head *head = &f->s->head;
    dkm_path_settings path;
    dkm_path_info found = {0};
    dkm_dmat *T = NULL, *W = NULL;

    DKM_AGREE(f->ctx, check_rank(f));
    DKM_TRY(dkm_krr_head_learn(head, &f->s->base, Y, f->settings->center, &T));
    path = dkm_krr_head_path(head, f->settings);
    DKM_TRY(dkm_ridge_primal(f->Z, f->s->base.nb, &path, T, &W, &found));
    head->gamma = path.gammas[found.best];
    DKM_TRY(combine(f, W));
    dkm_krr_head_tell(head, &f->s->base, dkm_data_rows(Y), &found, info);
    if (info) {
        info->form = "reduced";
        info->landmarks = f->n;
        info->dimensions = f->t;
    }
out:
    dkm_path_info_free(&found);
    dkm_dmat_destroy(&W);
    dkm_dmat_destroy(&T);
    return status;
}

dkm_status dkm_krr_reduced_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                               const dkm_kernel *kernel, const dkm_krr_settings *settings,
                               dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    reduction f = {.ctx = ctx, .settings = settings};

    *model = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &f.s));
    DKM_TRY(open_base(&f, X, kernel));
    DKM_TRY(find_root(&f));
    DKM_TRY(place_inputs(&f, X));
    DKM_TRY(solve(&f, Y, info));
    status = dkm_krr_dual_wrap(f.s, &dkm_method_krr, model);
    f.s = NULL; /* taken over, whatever came of it */
out:
    dkm_data_destroy(&f.Z);
    dkm_extrapolate_free(&f.root);
    dkm_krr_dual_destroy(&f.s);
    return status;
}
