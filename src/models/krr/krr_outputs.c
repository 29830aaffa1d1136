#include "models/krr/krr_outputs.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

/* b = the means of the columns, weighted, taken off the rows. */
static void krr_outputs_take_means(dkm_krr_outputs *head, dkm_idx m, dkm_idx n, double *rows)
{
    const double *root = dkm_example_roots(&head->weights);
    double total = root ? head->weights.total : (double)m;
    dkm_idx cols = head->encoder.cols;

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            head->b[j] += (root ? root[i] * root[i] : 1.0) * rows[i * cols + j];
    MPI_Allreduce(MPI_IN_PLACE, head->b, (int)cols, MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(head->encoder.ctx));
    for (dkm_idx j = 0; j < cols; j++)
        head->b[j] /= total;
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            rows[i * cols + j] -= head->b[j];
}

/* Rows times the roots of the weights. */
static void krr_outputs_weigh(const dkm_krr_outputs *head, dkm_idx n, double *rows)
{
    const double *root = dkm_example_roots(&head->weights);
    dkm_idx cols = head->encoder.cols;

    for (dkm_idx i = 0; root && i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            rows[i * cols + j] *= root[i];
}

dkm_status dkm_krr_outputs_rows(dkm_krr_outputs *head, const dkm_data *Y, int center,
                                const dkm_data *weights, double **rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Y);

    *rows = NULL;
    DKM_TRY(dkm_example_weights_open(&head->weights, ctx, weights));
    DKM_TRY(dkm_target_encoder_learn(&head->encoder, Y));
    DKM_AGREE(ctx, dkm_calloc(ctx, head->encoder.cols, &head->b));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(Y) * head->encoder.cols, rows));
    dkm_target_encoder_encode(&head->encoder, Y, *rows);
    if (center)
        krr_outputs_take_means(head, dkm_data_rows(Y), dkm_data_local_rows(Y), *rows);
    krr_outputs_weigh(head, dkm_data_local_rows(Y), *rows);
out:
    return status;
}

dkm_status dkm_krr_outputs_learn(dkm_krr_outputs *head, const dkm_fitted_kernel *fitted,
                                 const dkm_data *Y, const dkm_krr_settings *settings, dkm_dmat **T)
{
    dkm_status status = DKM_OK;
    double *rows = NULL;

    *T = NULL;
    DKM_TRY(dkm_krr_outputs_rows(head, Y, settings->center, settings->weights, &rows));
    DKM_TRY(dkm_dmat_create(fitted->grid, dkm_data_rows(Y), head->encoder.cols, fitted->nb,
                            fitted->nb, DKM_F64, T));
    DKM_TRY(dkm_dmat_from_rows(*T, rows));
out:
    DKM_FREE(rows);
    return status;
}

void dkm_krr_outputs_clear(dkm_krr_outputs *head)
{
    dkm_example_weights_close(&head->weights);
    DKM_FREE(head->b);
    dkm_target_encoder_clear(&head->encoder);
}

dkm_path_settings dkm_krr_outputs_path(const dkm_krr_outputs *head,
                                       const dkm_krr_settings *settings)
{
    dkm_path_settings s = dkm_path_settings_default();

    s.count = settings->count > 0 ? settings->count : 1;
    s.gammas = settings->count > 0 ? settings->gammas : &settings->ridge.gamma;
    s.penalty = settings->penalty;
    s.solver = settings->solver;
    s.select = settings->select;
    s.errors = settings->loo;
    s.grows = settings->grows;
    s.classes = head->encoder.type == DKM_LABELS       ? 1
                : head->encoder.type == DKM_LABEL_SETS ? DKM_PATH_LABEL_SETS
                                                       : 0;
    s.means = settings->center ? head->b : NULL;
    s.roots = dkm_example_roots(&head->weights);
    s.total = head->weights.total;
    s.weighing = head->weights.count;
    s.keep = settings->ridge.keep;
    return s;
}

void dkm_krr_outputs_take(dkm_krr_outputs *head, const dkm_krr_settings *settings,
                          const dkm_path_info *path)
{
    head->gamma = dkm_krr_outputs_path(head, settings).gammas[path->best];
    if (path->points && path->points[path->best].level > 0)
        head->encoder.level = path->points[path->best].level;
}

void dkm_krr_outputs_report(const dkm_krr_outputs *head, const dkm_fitted_kernel *fitted, dkm_idx m,
                            dkm_path_info *path, dkm_krr_info *info)
{
    if (!info)
        return;
    if (path->points && isnan(path->points[path->best].loo))
        dkm_path_info_free(path);
    *info = (dkm_krr_info){.m = m,
                           .outputs = head->encoder.cols,
                           .P = dkm_grid_rows(fitted->grid),
                           .Q = dkm_grid_cols(fitted->grid),
                           .block = fitted->nb,
                           .gamma = head->gamma,
                           .path = *path};
    path->points = NULL;
}

dkm_idx dkm_krr_outputs_cols(const dkm_krr_outputs *head)
{
    return dkm_target_encoder_output_cols(&head->encoder);
}

dkm_status dkm_krr_outputs_decode_rows(const dkm_krr_outputs *head, dkm_data **F, dkm_data **Y)
{
    dkm_idx p = dkm_data_cols(*F);
    double *rows = dkm_data_values(*F);

    for (dkm_idx i = 0; i < dkm_data_local_rows(*F); i++)
        for (dkm_idx j = 0; j < p; j++)
            rows[i * p + j] += head->b[j];
    return dkm_target_encoder_decode(&head->encoder, F, Y);
}

dkm_status dkm_krr_outputs_decode(const dkm_krr_outputs *head, const dkm_dmat *F, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    *Y = NULL;
    DKM_TRY(dkm_data_create_dense(head->encoder.ctx, dkm_dmat_rows(F), dkm_dmat_cols(F), &rows));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(rows)));
    DKM_TRY(dkm_krr_outputs_decode_rows(head, &rows, Y));
out:
    dkm_data_destroy(&rows);
    return status;
}

dkm_local dkm_krr_outputs_to_archive(const dkm_krr_outputs *head, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_real(archive, "gamma", head->gamma));
    DKM_STEP(dkm_archive_put_reals(archive, "intercept", head->encoder.cols, head->b));
    DKM_STEP(dkm_target_encoder_to_archive(&head->encoder, archive));
out:
    return local;
}

dkm_local dkm_krr_outputs_from_archive(dkm_krr_outputs *head, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *b;

    DKM_STEP(dkm_target_encoder_from_archive(&head->encoder, archive));
    DKM_STEP(dkm_archive_numbers(archive, "intercept", head->encoder.cols, &b));
    DKM_STEP(dkm_archive_number(archive, "gamma", 0, HUGE_VAL, &head->gamma));
    DKM_STEP(dkm_calloc(archive->ctx, head->encoder.cols, &head->b));
    memcpy(head->b, b, (size_t)head->encoder.cols * sizeof *b);
out:
    return local;
}
