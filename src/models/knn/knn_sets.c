/* Residuals and prediction sets of nearest neighbors; see dkmap/conformal.h. Numbers without a kernel
 * have intervals about the mean of the neighbors; classes have their shares of votes in place of f;
 * outputs with a kernel have balls about the mean of the neighbors' images, of which training
 * outputs are listed.
 *
 * Cost beside predicting: n m kernel values of outputs and n m / ranks words for a batch of n, as
 * predicting takes them. Replicated: the diagonal of the output kernel, as before. */
#include <math.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "models/common/candidate_sets.h"
#include "models/knn/knn_impl.h"

static int knn_has_classes(const dkm_knn *s)
{
    return s->Y && dkm_data_type(s->Y) == DKM_LABELS;
}

/* Shares of votes, dense rows of a column per class. */
static dkm_status knn_votes(dkm_knn *s, const dkm_data *X, dkm_data **F)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx n = dkm_data_local_rows(X), *nearest = NULL;
    dkm_objs got = {0};

    if (!s->votes.classes)
        DKM_TRY(dkm_target_encoder_learn(&s->votes, s->Y));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->k, &nearest));
    DKM_TRY(dkm_knn_neighbors(s, X, nearest));
    DKM_TRY(dkm_data_fetch(s->Y, n * s->k, nearest, &got));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), s->votes.cols, F));
    for (dkm_idx v = 0; v < n * s->k; v++)
        for (dkm_idx j = 0; j < s->votes.cols; j++)
            if (s->votes.classes[j] == got.values[v])
                dkm_data_values(*F)[v / s->k * s->votes.cols + j] += 1.0 / (double)s->k;
out:
    dkm_objs_clear(&got);
    DKM_FREE(nearest);
    return status;
}

/* <p, phi(y_c)> of this rank's means p with all training outputs, and <p, p>. */
static dkm_status knn_means(dkm_knn *s, const dkm_data *X, dkm_idx **nearest, double **rows,
                            double **square)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx n = dkm_data_local_rows(X), m = dkm_data_rows(s->out.fitted.X);

    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->k, nearest));
    DKM_AGREE(ctx, dkm_calloc(ctx, n * m, rows));
    DKM_AGREE(ctx, dkm_calloc(ctx, n, square));
    DKM_TRY(dkm_knn_neighbors(s, X, *nearest));
    DKM_TRY(dkm_knn_average(s, X, *nearest, *rows));
    for (dkm_idx v = 0; v < n * s->k; v++)
        (*square)[v / s->k] += (*rows)[v / s->k * m + (*nearest)[v]] / (double)s->k;
out:
    return status;
}

/* ||phi(y) - p||^2 = l(y, y) - 2 (1/k) sum_j l(y, y_j) + <p, p> */
static dkm_status knn_ball_residuals(dkm_knn *s, const dkm_data *X, const dkm_data *Y, double *out)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx n = dkm_data_local_rows(X), m = dkm_data_rows(s->out.fitted.X), *nearest = NULL;
    double *rows = NULL, *square = NULL, *values = NULL;
    dkm_prepared *prepared = NULL;

    DKM_TRY(knn_means(s, X, &nearest, &rows, &square));
    DKM_AGREE(ctx, dkm_calloc(ctx, n * m, &values));
    DKM_TRY(dkm_neighbors_add(&s->out, Y, 1.0, values));
    DKM_TRY(dkm_kernel_prepare_new(s->out.fitted.prepared, Y, &prepared));
    DKM_TRY(dkm_kernel_diagonal(prepared, out));
    for (dkm_idx i = 0; i < n; i++) {
        out[i] += square[i];
        for (dkm_idx j = 0; j < s->k; j++)
            out[i] -= 2.0 * values[i * m + nearest[i * s->k + j]] / (double)s->k;
    }
out:
    dkm_prepared_destroy(&prepared);
    DKM_FREE(values);
    DKM_FREE(square);
    DKM_FREE(rows);
    DKM_FREE(nearest);
    return status;
}

static dkm_local knn_check_calibration(const dkm_knn *s, const dkm_data *Y)
{
    const dkm_data *T = dkm_knn_outputs(s);

    if (s->Y && dkm_data_type(T) != DKM_DENSE && dkm_data_type(T) != DKM_LABELS)
        return dkm_fail(s->in.fitted.ctx, DKM_ERR_UNSUPPORTED,
                        "prediction sets of %s take a kernel of the outputs: fit with --ky",
                        dkm_type_name(dkm_data_type(T)));
    if (Y && (dkm_data_type(Y) != dkm_data_type(T) ||
              (dkm_data_type(T) == DKM_DENSE && dkm_data_cols(Y) != dkm_data_cols(T))))
        return dkm_fail(s->in.fitted.ctx, DKM_ERR_ARG,
                        "the model predicts %s of %lld columns, and the calibration outputs are "
                        "%s of %lld",
                        dkm_type_name(dkm_data_type(T)), (long long)dkm_data_cols(T),
                        dkm_type_name(dkm_data_type(Y)), (long long)dkm_data_cols(Y));
    return DKM_LOCAL_OK;
}

dkm_status dkm_knn_residuals(void *state, const dkm_data *X, const dkm_data *Y, dkm_data **R)
{
    dkm_knn *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx d = s->Y && !knn_has_classes(s) ? dkm_data_cols(s->Y) : 1;
    dkm_data *F = NULL;

    *R = NULL;
    DKM_AGREE(ctx, knn_check_calibration(s, Y));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), d, R));
    if (!s->Y) {
        DKM_TRY(knn_ball_residuals(s, X, Y, dkm_data_values(*R)));
        goto out;
    }
    DKM_TRY(knn_has_classes(s) ? knn_votes(s, X, &F) : dkm_knn_predict(s, X, &F));
    for (dkm_idx k = 0; k < dkm_data_local_rows(X) * d; k++) {
        const double *y = dkm_data_values_const(Y), *f = dkm_data_values_const(F);
        dkm_data_values(*R)[k] =
            knn_has_classes(s)
                ? dkm_class_distance(f + k * s->votes.cols, s->votes.cols, s->votes.classes, y[k])
                : fabs(y[k] - f[k]);
    }
out:
    dkm_data_destroy(&F);
    if (status != DKM_OK)
        dkm_data_destroy(R);
    return status;
}

dkm_status dkm_knn_open_sets(void *state, dkm_type *type, dkm_idx *cols)
{
    dkm_knn *s = state;
    dkm_status status = DKM_OK;
    int numbers = s->Y && !knn_has_classes(s);

    *type = numbers ? DKM_DENSE : DKM_LABEL_SETS;
    *cols = numbers ? 2 * dkm_data_cols(s->Y) : 0;
    DKM_AGREE(s->in.fitted.ctx, knn_check_calibration(s, NULL));
    if (knn_has_classes(s)) {
        if (!s->votes.classes)
            DKM_TRY(dkm_target_encoder_learn(&s->votes, s->Y));
        DKM_AGREE(s->in.fitted.ctx,
                  dkm_class_sets_check(s->in.fitted.ctx, s->votes.cols, s->votes.classes));
    }
out:
    return status;
}

static dkm_status knn_balls(dkm_knn *s, const dkm_data *X, double radius, dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(X), m = dkm_data_rows(s->out.fitted.X), *nearest = NULL;
    double *rows = NULL, *square = NULL;

    DKM_TRY(knn_means(s, X, &nearest, &rows, &square));
    for (dkm_idx k = 0; k < n * m; k++)
        rows[k] = s->out.diag[k % m] - 2.0 * rows[k] + square[k / m];
    DKM_TRY(dkm_candidate_sets(s->in.fitted.ctx, dkm_data_rows(X), m, NULL, rows,
                               radius * (1.0 + 1e-12) + 1e-12, S));
out:
    DKM_FREE(square);
    DKM_FREE(rows);
    DKM_FREE(nearest);
    return status;
}

dkm_status dkm_knn_prediction_sets(void *state, const dkm_data *X, const double *radius,
                                   dkm_data **S)
{
    dkm_knn *s = state;
    dkm_status status = DKM_OK;
    dkm_data *F = NULL;

    *S = NULL;
    if (!s->Y)
        return knn_balls(s, X, radius[0], S);
    if (knn_has_classes(s)) {
        DKM_TRY(knn_votes(s, X, &F));
        DKM_TRY(dkm_class_sets(F, s->votes.classes, radius[0] + 1e-12, S));
    } else {
        DKM_TRY(dkm_knn_predict(s, X, &F));
        DKM_TRY(dkm_intervals(F, radius, S));
    }
out:
    dkm_data_destroy(&F);
    return status;
}
