/* The extrapolated kernel k_Q(x, x') = f(x)'Q f(x') as a model (Vishwanathan, Borgwardt,
 * Guttman and Smola 2006, Neurocomputing 69:721-729): Q comes from solvers/extrapolate,
 * features from models/features.
 *
 * Cost of n new objects: n features each, 2 n t flops per object for the t coordinates
 * root'f(x), and 2 m t per row of kernel values. Replicated: the root, n t numbers. */
#include <dkmap/extend.h>

#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/linalg.h"
#include "models/extend/extend_impl.h"
#include "models/registry/model_impl.h"

#define BATCH_BYTES 67108864.0 /* of kernel values and features a rank */

static void extend_destroy(void *state)
{
    dkm_extend *s = state;

    dkm_dmat_destroy(&s->Z);
    dkm_data_destroy(&s->F);
    DKM_FREE(s->root);
    dkm_features_destroy(&s->map);
    dkm_fitted_kernel_close(&s->fitted);
    dkm_free_block(s);
}

static dkm_status extend_create(dkm_ctx *ctx, const dkm_layout *layout, dkm_idx m,
                                dkm_extend **state)
{
    dkm_status status = DKM_OK;
    dkm_extend *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->fitted.ctx = ctx;
    s->m = m;
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &s->fitted.grid));
    s->fitted.nb = layout->block ? layout->block : dkm_grid_block(s->fitted.grid, m);
    *state = s;
    s = NULL;
out:
    if (s)
        extend_destroy(s);
    return status;
}

static dkm_layout layout_of(const dkm_dmat *K)
{
    const dkm_grid *grid = dkm_dmat_grid(K);

    return (dkm_layout){dkm_grid_rows(grid), dkm_grid_cols(grid), dkm_dmat_row_block(K)};
}

dkm_status dkm_extend_fit(dkm_dmat *K, dkm_features *map, const dkm_data *F,
                          const dkm_extrapolate_settings *settings, dkm_model **model,
                          dkm_extrapolate_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(F);
    dkm_layout layout = layout_of(K);
    dkm_extrapolate_info found;
    dkm_extend *s = NULL;

    *model = NULL;
    DKM_TRY(extend_create(ctx, &layout, dkm_dmat_rows(K), &s));
    s->map = dkm_features_share(map);
    s->F = dkm_data_share(F);
    s->n = dkm_data_cols(s->F);
    DKM_TRY(dkm_extrapolate(K, s->F, settings, &s->root, &found));
    s->t = found.dimensions;
    if (info)
        *info = found;
    status = dkm_model_wrap(ctx, &dkm_class_extend, s, DKM_DENSE, s->m, model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        extend_destroy(s);
    return status;
}

/* rows x t from rows x n: coordinates of features. */
static void extend_own_combine(const dkm_extend *s, dkm_idx rows, const double *F, double *Z)
{
    dkm_idx t = s->t > 0 ? s->t : 1;

    dkm_blas_gemm(DKM_F64, 'N', 'N', s->t, rows, s->n, 1.0, s->root, t, F, s->n, 0.0, Z, t);
    dkm_phase_flops(s->fitted.ctx, 2.0 * (double)rows * (double)s->n * (double)s->t);
}

static dkm_status extend_coordinates(dkm_extend *s, const dkm_data *X, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_data *F = NULL;

    *Z = NULL;
    DKM_TRY(dkm_features_apply(s->map, X, &F));
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(X), s->t, Z));
    extend_own_combine(s, dkm_data_local_rows(F), dkm_data_values_const(F), dkm_data_values(*Z));
out:
    dkm_data_destroy(&F);
    return status;
}

dkm_local dkm_extend_check(const dkm_model *model)
{
    if (model->class == &dkm_class_extend)
        return DKM_LOCAL_OK;
    return dkm_fail(model->ctx, DKM_ERR_ARG,
                    "a model of %s is not an extended kernel (dkmap extend fit)",
                    model->class->name);
}

dkm_status dkm_extend_coordinates(dkm_model *model, const dkm_data *X, dkm_data **Z)
{
    dkm_status status = DKM_OK;

    *Z = NULL;
    DKM_AGREE(model->ctx, dkm_extend_check(model));
    DKM_TRY(extend_coordinates(model->state, X, Z));
out:
    return status;
}

/* Rows of coordinates, in slabs, as a distributed matrix. */
static dkm_status extend_spread(const dkm_extend *s, dkm_idx rows, const double *values,
                                dkm_dmat **Z)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(s->fitted.grid, rows, s->t, s->fitted.nb, s->fitted.nb, DKM_F64, Z));
    DKM_TRY(dkm_dmat_from_rows(*Z, values));
out:
    return status;
}

static dkm_status spread_training(dkm_extend *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx mine = dkm_data_local_rows(s->F);
    double *values = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, mine * s->t, &values));
    extend_own_combine(s, mine, dkm_data_values_const(s->F), values);
    DKM_TRY(extend_spread(s, s->m, values, &s->Z));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(&s->Z);
    DKM_FREE(values);
    return status;
}

/* G(i, j) = k_Q(x_i, training j) */
static dkm_status extend_predict(void *state, const dkm_data *X, dkm_data **G)
{
    dkm_extend *s = state;
    dkm_status status = DKM_OK;
    dkm_data *Z = NULL, *rows = NULL;
    dkm_dmat *D = NULL, *K = NULL;

    *G = NULL;
    dkm_phase_begin(s->fitted.ctx, "extend");
    if (!s->Z)
        DKM_TRY(spread_training(s));
    DKM_TRY(extend_coordinates(s, X, &Z));
    DKM_TRY(extend_spread(s, dkm_data_rows(X), dkm_data_values_const(Z), &D));
    DKM_TRY(dkm_dmat_create_like(D, s->m, s->fitted.nb, DKM_F64, &K));
    if (s->t > 0)
        dkm_la_gemm('N', 'T', 1.0, D, s->Z, 0.0, K);
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(X), s->m, &rows));
    DKM_TRY(dkm_dmat_to_rows(K, dkm_data_values(rows)));
    *G = rows;
    rows = NULL;
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&D);
    dkm_data_destroy(&rows);
    dkm_data_destroy(&Z);
    return status;
}

static dkm_idx extend_batch_rows(const void *state)
{
    const dkm_extend *s = state;

    return dkm_batch_rows(2 * s->m + s->n + 2 * s->t, BATCH_BYTES, dkm_ctx_size(s->fitted.ctx));
}

/* This rank's rows of Q = root root' (full) or of the root itself, as a part. */
static dkm_status put_rows(const dkm_extend *s, dkm_archive *archive, const char *name, int full)
{
    dkm_status status = DKM_OK;
    dkm_idx cols = full ? s->n : s->t, t = s->t > 0 ? s->t : 1, mine;
    dkm_data *rows = NULL;
    double *first;

    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, s->n, cols, &rows));
    mine = dkm_data_local_rows(rows);
    first = s->root + dkm_data_local_first(rows) * s->t;
    if (full)
        dkm_blas_gemm(DKM_F64, 'T', 'N', s->n, mine, s->t, 1.0, s->root, t, first, t, 0.0,
                      dkm_data_values(rows), s->n);
    else
        memcpy(dkm_data_values(rows), first, (size_t)(mine * s->t) * sizeof *first);
    DKM_AGREE(s->fitted.ctx, dkm_archive_put_data(archive, name, &rows));
out:
    dkm_data_destroy(&rows);
    return status;
}

static dkm_status extend_to_archive(void *state, dkm_archive *archive)
{
    dkm_extend *s = state;
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_features_to_archive(s->map, archive));
    DKM_TRY(put_rows(s, archive, "Q", 1));
    DKM_TRY(put_rows(s, archive, "root", 0));
    DKM_AGREE(s->fitted.ctx, dkm_archive_borrow_data(archive, "features", s->F));
out:
    return status;
}

/* The root of a part in slabs, brought to every rank. */
static dkm_status take_root(dkm_extend *s, dkm_archive *archive)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_local local = DKM_LOCAL_OK;
    dkm_data *rows = NULL;
    dkm_objs all = {0};
    dkm_idx *indices = NULL;

    DKM_AGREE(ctx, dkm_archive_take_rows(archive, "root", &rows));
    if (dkm_data_rows(rows) != s->n || dkm_data_cols(s->F) != s->n)
        local = dkm_fail(ctx, DKM_ERR_FORMAT,
                         "the model's parts do not fit: %lld features, a root of %lld rows and "
                         "training features of %lld columns",
                         (long long)s->n, (long long)dkm_data_rows(rows),
                         (long long)dkm_data_cols(s->F));
    DKM_AGREE(ctx, local);
    DKM_AGREE(ctx, dkm_alloc(ctx, s->n, &indices));
    for (dkm_idx i = 0; i < s->n; i++)
        indices[i] = i;
    DKM_TRY(dkm_data_fetch(rows, s->n, indices, &all));
    s->t = dkm_data_cols(rows);
    s->root = all.values;
    all.values = NULL;
out:
    dkm_objs_clear(&all);
    DKM_FREE(indices);
    dkm_data_destroy(&rows);
    return status;
}

static dkm_status extend_from_archive(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                                      void **state)
{
    dkm_status status = DKM_OK;
    dkm_data *F = NULL;
    dkm_extend *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_archive_take_rows(archive, "features", &F));
    DKM_TRY(extend_create(ctx, layout, dkm_data_rows(F), &s));
    s->F = F;
    F = NULL;
    DKM_TRY(dkm_features_from_archive(ctx, archive, layout, &s->map));
    s->n = dkm_features_count(s->map);
    DKM_TRY(take_root(s, archive));
    *state = s;
    s = NULL;
out:
    dkm_data_destroy(&F);
    if (s)
        extend_destroy(s);
    return status;
}

const dkm_model_class dkm_class_extend = {.name = "extend",
                                          .predict = extend_predict,
                                          .batch_rows = extend_batch_rows,
                                          .to_archive = extend_to_archive,
                                          .from_archive = extend_from_archive,
                                          .destroy = extend_destroy};
