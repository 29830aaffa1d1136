#include "model/krr_head.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

/* b = the means of the columns, taken off the rows. */
static void take_means(dkm_krr_head *head, dkm_idx m, dkm_idx n, double *rows)
{
    dkm_idx cols = head->targets.cols;

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            head->b[j] += rows[i * cols + j];
    MPI_Allreduce(MPI_IN_PLACE, head->b, (int)cols, MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(head->targets.ctx));
    for (dkm_idx j = 0; j < cols; j++)
        head->b[j] /= (double)m;
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            rows[i * cols + j] -= head->b[j];
}

dkm_status dkm_krr_head_rows(dkm_krr_head *head, const dkm_data *Y, int center, double **rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Y);

    *rows = NULL;
    DKM_TRY(dkm_targets_learn(&head->targets, Y));
    DKM_AGREE(ctx, dkm_calloc(ctx, head->targets.cols, &head->b));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(Y) * head->targets.cols, rows));
    dkm_targets_encode(&head->targets, Y, *rows);
    if (center)
        take_means(head, dkm_data_rows(Y), dkm_data_local_rows(Y), *rows);
out:
    return status;
}

dkm_status dkm_krr_head_learn(dkm_krr_head *head, const dkm_base *base, const dkm_data *Y,
                              int center, dkm_dmat **T)
{
    dkm_status status = DKM_OK;
    double *rows = NULL;

    *T = NULL;
    DKM_TRY(dkm_krr_head_rows(head, Y, center, &rows));
    DKM_TRY(dkm_dmat_create(base->grid, dkm_data_rows(Y), head->targets.cols, base->nb, base->nb,
                            DKM_F64, T));
    DKM_TRY(dkm_dmat_from_rows(*T, rows));
out:
    DKM_FREE(rows);
    return status;
}

void dkm_krr_head_clear(dkm_krr_head *head)
{
    DKM_FREE(head->b);
    dkm_targets_clear(&head->targets);
}

dkm_path_settings dkm_krr_head_path(const dkm_krr_head *head, const dkm_krr_settings *settings)
{
    dkm_path_settings s = dkm_path_settings_default();

    s.count = settings->count > 0 ? settings->count : 1;
    s.gammas = settings->count > 0 ? settings->gammas : &settings->ridge.gamma;
    s.penalty = settings->penalty;
    s.solver = settings->solver;
    s.select = settings->select;
    s.errors = settings->loo;
    s.classes = head->targets.classes != NULL;
    s.means = settings->center ? head->b : NULL;
    s.keep = settings->ridge.keep;
    return s;
}

void dkm_krr_head_tell(const dkm_krr_head *head, const dkm_base *base, dkm_idx m,
                       dkm_path_info *path, dkm_krr_info *info)
{
    if (!info)
        return;
    if (path->points && isnan(path->points[path->best].loo))
        dkm_path_info_free(path);
    *info = (dkm_krr_info){.m = m,
                           .outputs = head->targets.cols,
                           .P = dkm_grid_rows(base->grid),
                           .Q = dkm_grid_cols(base->grid),
                           .block = base->nb,
                           .gamma = head->gamma,
                           .path = *path};
    path->points = NULL;
}

dkm_idx dkm_krr_head_cols(const dkm_krr_head *head)
{
    return head->targets.classes ? 1 : head->targets.cols;
}

dkm_status dkm_krr_head_decode(const dkm_krr_head *head, dkm_dmat *F, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_data *numbers = NULL;

    *Y = NULL;
    DKM_TRY(dkm_data_create_dense(head->targets.ctx, dkm_dmat_rows(F), dkm_dmat_cols(F), &numbers));
    dkm_dmat_add_row(F, 1.0, head->b);
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(numbers)));
    DKM_TRY(dkm_targets_decode(&head->targets, &numbers, Y));
out:
    dkm_data_destroy(&numbers);
    return status;
}

dkm_local dkm_krr_head_to_bundle(const dkm_krr_head *head, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_real(bundle, "gamma", head->gamma));
    DKM_STEP(dkm_bundle_put_reals(bundle, "intercept", head->targets.cols, head->b));
    DKM_STEP(dkm_targets_to_bundle(&head->targets, bundle));
out:
    return local;
}

dkm_local dkm_krr_head_from_bundle(dkm_krr_head *head, const dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *b;

    DKM_STEP(dkm_targets_from_bundle(&head->targets, bundle));
    DKM_STEP(dkm_bundle_numbers(bundle, "intercept", head->targets.cols, &b));
    DKM_STEP(dkm_bundle_number(bundle, "gamma", 0, HUGE_VAL, &head->gamma));
    DKM_STEP(dkm_calloc(bundle->ctx, head->targets.cols, &head->b));
    memcpy(head->b, b, (size_t)head->targets.cols * sizeof *b);
out:
    return local;
}
