/* Coefficients of the coordinates of kernel dependency estimation: one ridge system with t
 * right-hand sides (solvers/ridge_path), or t support vector regressions (solvers/svm), and
 * shrinkage of each coordinate by its eigenvalue. Cost: that of these; t numbers per setting
 * are replicated. */
#include "core/alloc.h"
#include "matrix/dmat_impl.h"
#include "models/kde/kde_impl.h"

/* Z's first m rows: in blocks of the same size they are the first ones of every rank as well. */
static dkm_status keep_first(dkm_dmat **Z, dkm_idx m)
{
    dkm_status status = DKM_OK;
    dkm_dmat *all = *Z, *first = NULL;

    DKM_TRY(dkm_dmat_create(dkm_dmat_grid(all), m, dkm_dmat_cols(all), dkm_dmat_row_block(all),
                            dkm_dmat_col_block(all), DKM_F64, &first));
    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(first); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(first); il++)
            dkm_dmat_put(first, il, jl, dkm_dmat_at(all, il, jl));
    dkm_dmat_destroy(Z);
    *Z = first;
out:
    return status;
}

/* Coordinates of the outputs that have inputs. */
static dkm_status find_targets(const dkm_kde *s, dkm_dmat **Z)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(s->fitted.X);

    DKM_TRY(dkm_embedding_training(&s->out, Z));
    if (dkm_dmat_rows(*Z) > m)
        DKM_TRY(keep_first(Z, m));
out:
    return status;
}

/* B = (K'K + gamma I)^-1 K Z */
static dkm_status penalise_coefficients(dkm_kde *s, double gamma, const dkm_dmat *Z,
                                        dkm_ridge_info *info)
{
    dkm_path_settings path = dkm_path_settings_default();
    dkm_path_info found = {0};
    dkm_status status;

    path.count = 1;
    path.gammas = &gamma;
    path.penalty = DKM_PENALTY_COEFFICIENTS;
    status =
        dkm_ridge_path(s->fitted.kernel, s->fitted.prepared, s->fitted.nb, &path, Z, &s->B, &found);
    *info = found.ridge;
    dkm_path_info_free(&found);
    return status;
}

/* B = (K + gamma I)^-1 Z for all coordinates Z of the training outputs at once, or what the other
 * penalty makes of them. */
static dkm_status regress(dkm_kde *s, const dkm_kde_settings *settings,
                          const dkm_example_weights *weights, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_dmat *Z = NULL;

    DKM_TRY(find_targets(s, &Z));
    dkm_example_weights_scale(weights, Z);
    dkm_example_weights_apply(weights, &s->fitted);
    if (settings->penalty == DKM_PENALTY_COEFFICIENTS)
        DKM_TRY(penalise_coefficients(s, settings->ridge.gamma, Z, info));
    else
        DKM_TRY(dkm_ridge_kernel(s->fitted.kernel, s->fitted.prepared, s->fitted.nb,
                                 &settings->ridge, Z, &s->B, info));
    dkm_example_weights_scale(weights, s->B);
out:
    dkm_example_weights_apply(NULL, &s->fitted);
    dkm_dmat_destroy(&Z);
    return status;
}

static dkm_idx count_support(dkm_ctx *ctx, const double *rows, dkm_idx n)
{
    int64_t count = 0;

    for (dkm_idx k = 0; k < n; k++)
        count += rows[k] != 0.0;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    return count;
}

/* A support vector machine for each coordinate. */
static dkm_status regress_by_machines(dkm_kde *s, const dkm_svm_dual_settings *settings,
                                      dkm_idx *support)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_svm_dual_settings tube = *settings;
    dkm_svm_dual_problem problem = {.grid = s->fitted.grid,
                                    .kernel = s->fitted.kernel,
                                    .X = s->fitted.prepared,
                                    .nb = s->fitted.nb,
                                    .cols = s->out.p};
    dkm_idx n = dkm_data_local_rows(s->fitted.X) * s->out.p;
    dkm_dmat *Z = NULL;
    double *T = NULL, *B = NULL;

    tube.loss = DKM_LOSS_EPS_INSENSITIVE;
    DKM_TRY(find_targets(s, &Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &T));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &B));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->out.p, &s->b));
    DKM_TRY(dkm_dmat_to_rows(Z, T));
    problem.T = T;
    DKM_TRY(dkm_svm_dual_solve(&problem, &tube, B, s->b));
    *support = count_support(ctx, B, n);
    DKM_TRY(dkm_dmat_create_like(Z, s->out.p, s->fitted.nb, DKM_F64, &s->B));
    DKM_TRY(dkm_dmat_from_rows(s->B, B));
out:
    DKM_FREE(B);
    DKM_FREE(T);
    dkm_dmat_destroy(&Z);
    return status;
}

dkm_status dkm_kde_regress(dkm_kde *s, const dkm_kde_settings *settings,
                           const dkm_example_weights *weights, dkm_kde_info *found)
{
    return settings->learner == DKM_LEARN_SVR
               ? regress_by_machines(s, &settings->margin, &found->support)
               : regress(s, settings, weights, &found->ridge);
}

void dkm_kde_shrink(dkm_kde *s, double S)
{
    const double *l = s->out.values;
    double mean = 0;

    if (S == 0)
        return;
    for (dkm_idx j = 0; j < s->out.p; j++)
        mean += l[j] / (double)s->out.p;
    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(s->B); jl++) {
        dkm_idx j = dkm_dmat_global_col(s->B, jl);
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(s->B); il++)
            dkm_dmat_put(s->B, il, jl, dkm_dmat_at(s->B, il, jl) * l[j] / (l[j] + S * mean));
    }
    for (dkm_idx j = 0; s->b && j < s->out.p; j++)
        s->b[j] *= l[j] / (l[j] + S * mean);
}
