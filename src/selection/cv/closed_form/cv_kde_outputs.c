/* Kernel PCA of the outputs of a training part, as a cell of cross-validation needs it:
 * coordinates, norms, the linear map back, and candidates, one per class. From the Gram matrix
 * of the outputs by a full or leading eigensolve (n^3 or n^2 t flops), or from a low-rank
 * factor (cv_kde_lowrank.c). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "models/common/embedding.h"
#include "selection/cv/closed_form/cv_kde.h"
#include "selection/metrics/distinct_labels.h"

void dkm_cv_outputs_free(dkm_cv_outputs *s)
{
    dkm_linear_map_clear(&s->linear);
    DKM_FREE(s->which);
    DKM_FREE(s->norms);
    dkm_data_destroy(&s->points);
    DKM_FREE(s->C);
    dkm_dmat_destroy(&s->Z);
    dkm_eigen_values_free(&s->values);
}

dkm_eigen_settings dkm_cv_most_components(const dkm_cv_ridge *r)
{
    dkm_eigen_settings most = r->eigen[0];

    for (dkm_idx j = 1; j < r->components; j++) {
        const dkm_eigen_settings *e = &r->eigen[j];
        if ((e->components == 0) != (most.components == 0))
            most.components = INT64_MAX;
        else if (e->components == 0)
            most.share = fmax(most.share, e->share);
        else if (e->components > most.components)
            most.components = e->components;
    }
    most.center = 1;
    return most;
}

dkm_idx dkm_cv_components(const dkm_cv_outputs *s, const dkm_eigen_settings *e)
{
    double sum = 0;
    dkm_idx p = 0;

    if (e->components > 0)
        return e->components < s->p ? e->components : s->p;
    while (p < s->p && sum < e->share * s->trace * (1.0 - 1e-12))
        sum += s->values[p++];
    return p > 0 ? p : 1;
}

/* The largest number of components that a setting names, 0 where none does. */
static dkm_idx most_named(const dkm_cv_ridge *r)
{
    dkm_idx most = 0;

    for (dkm_idx j = 0; j < r->components; j++)
        if (r->eigen[j].components > most && r->eigen[j].components < INT64_MAX)
            most = r->eigen[j].components;
    return most;
}

static dkm_local cv_kde_outputs_check_rank(const dkm_cv_cell *cell, const dkm_eigen_info *info)
{
    dkm_cv_group *group = cell->group;
    dkm_idx named = most_named(cell->problem->options);

    if (info->components == 0)
        return dkm_fail(group->ctx, DKM_ERR_NUMERIC,
                        "the centered matrix of the output kernel is zero on a training part: all "
                        "its outputs look alike");
    if (named > info->components && !group->warned++)
        dkm_log(group->ctx, DKM_WARN,
                "%lld components were asked for and only %lld are not zero: taking those",
                (long long)named, (long long)info->components);
    return DKM_LOCAL_OK;
}

/* Z, block-cyclic, from the points. */
static dkm_status spread_points(dkm_cv_cell *cell, dkm_cv_outputs *s)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(cell->group->grid, cell->train.count, s->p, cell->nb, cell->nb, DKM_F64,
                            &s->Z));
    DKM_TRY(dkm_dmat_from_rows(s->Z, dkm_data_values_const(s->points)));
out:
    return status;
}

/* l(y, y) - 2 mean of l(y, .) + mean of those means, for this rank's training outputs. */
static dkm_status cv_kde_outputs_find_norms(dkm_cv_cell *cell, dkm_cv_outputs *s,
                                            const double *means)
{
    dkm_ctx *ctx = cell->group->ctx;
    const dkm_data *L = cell->L;
    dkm_idx n = cell->train.count, first = dkm_data_local_first(s->points);
    dkm_status status = DKM_OK;
    double *diagonal = NULL, grand = 0;

    DKM_AGREE(ctx, dkm_calloc(ctx, L->m, &diagonal));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(s->points), &s->norms));
    for (dkm_idx i = 0; i < L->mine.n; i++)
        diagonal[L->first + i] = L->mine.values[i * L->m + L->first + i];
    MPI_Allreduce(MPI_IN_PLACE, diagonal, (int)L->m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < n; i++)
        grand += means[i] / (double)n;
    for (dkm_idx i = 0; i < dkm_data_local_rows(s->points); i++)
        s->norms[i] = diagonal[cell->train.rows[first + i]];
    dkm_embedding_center_norms(dkm_data_local_rows(s->points), means + first, grand, s->norms);
out:
    DKM_FREE(diagonal);
    return status;
}

/* Points V diag(values)^1/2 and norms, from the matrix of the training part. */
static dkm_status by_matrix(dkm_cv_cell *cell, dkm_cv_outputs *s, dkm_eigen_info *info)
{
    dkm_eigen_settings settings = dkm_cv_most_components(cell->problem->options);
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    double *means = NULL, *v;
    dkm_dmat *A = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cell->train.count, &means));
    DKM_TRY(dkm_cv_submatrix(cell, cell->L, &cell->train, &cell->train, &A));
    DKM_TRY(dkm_eigen_leading(A, &settings, &s->values, &s->points, means, info));
    v = dkm_data_values(s->points);
    for (dkm_idx i = 0; i < dkm_data_local_rows(s->points); i++)
        for (dkm_idx j = 0; j < info->components; j++)
            v[i * info->components + j] *= sqrt(s->values[j]);
    DKM_TRY(cv_kde_outputs_find_norms(cell, s, means));
out:
    dkm_dmat_destroy(&A);
    DKM_FREE(means);
    return status;
}

static dkm_status cv_kde_outputs_decompose(dkm_cv_cell *cell, dkm_cv_outputs *s)
{
    dkm_eigen_info info = {0};
    dkm_status status = DKM_OK;
    int done = 0;

    if (cell->lowrank)
        DKM_TRY(dkm_cv_outputs_by_lowrank(cell, s, &info, &done));
    if (!done)
        DKM_TRY(by_matrix(cell, s, &info));
    DKM_AGREE(cell->group->ctx, cv_kde_outputs_check_rank(cell, &info));
    s->p = info.components;
    s->trace = info.trace;
    DKM_TRY(spread_points(cell, s));
out:
    return status;
}

int dkm_cv_outputs_linear(const dkm_cv_cell *cell)
{
    const dkm_kernel *ky = cell->problem->ky[cell->id.kernel];

    return cell->group->Y->mine.type == DKM_DENSE && dkm_kernel_is_linear(ky);
}

/* U = diag(values)^-1 Z'Y and the mean of Y, which is taken off before: 1'Z = 0 but for rounding,
 * and a large mean would multiply that. */
static dkm_status learn_linear(dkm_cv_cell *cell, dkm_cv_outputs *s)
{
    dkm_status status = DKM_OK;
    dkm_idx d = cell->Y->mine.d;
    dkm_dmat *Y = NULL, *U;

    DKM_AGREE(cell->group->ctx, dkm_alloc(cell->group->ctx, d, &s->linear.mean));
    DKM_TRY(dkm_dmat_create_like(s->Z, d, cell->nb, DKM_F64, &Y));
    DKM_TRY(dkm_dmat_from_rows(Y, cell->Y->mine.values));
    DKM_TRY(dkm_dmat_column_means(Y, s->linear.mean));
    dkm_dmat_add_row(Y, -1.0, s->linear.mean);
    DKM_TRY(dkm_dmat_create(cell->group->grid, s->p, d, cell->nb, cell->nb, DKM_F64, &s->linear.U));
    U = s->linear.U;
    dkm_la_gemm('T', 'N', 1.0, s->Z, Y, 0.0, U);
    for (dkm_idx jl = 0; jl < U->n_loc; jl++)
        for (dkm_idx il = 0; il < U->m_loc; il++)
            dkm_dmat_put(U, il, jl, dkm_dmat_at(U, il, jl) / s->values[dkm_dmat_global_row(U, il)]);
out:
    dkm_dmat_destroy(&Y);
    return status;
}

/* Training outputs of one class are one candidate: ties go to the first. */
static dkm_status thin_out(dkm_cv_cell *cell, dkm_cv_outputs *s)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_idx n = cell->train.count, count = 0, found;
    const double *label = cell->Y->mine.values;
    dkm_status status = DKM_OK;
    dkm_distinct classes = {0};
    dkm_data *points = NULL;

    DKM_TRY(dkm_distinct_labels(cell->Y, NULL, &classes));
    DKM_AGREE(ctx, dkm_alloc(ctx, classes.count, &s->which));
    DKM_TRY(dkm_data_create_dense(ctx, classes.count, s->p, &points));
    for (dkm_idx i = 0; i < n && count < classes.count; i++) {
        for (found = 0; found < count && label[s->which[found]] != label[i]; found++)
            ;
        if (found < count)
            continue;
        memcpy(dkm_data_values(points) + count * s->p, dkm_data_values_const(s->points) + i * s->p,
               (size_t)s->p * sizeof *label);
        s->norms[count] = s->norms[i];
        s->which[count++] = i;
    }
    dkm_data_destroy(&s->points);
    s->points = points;
    points = NULL;
out:
    dkm_data_destroy(&points);
    dkm_distinct_clear(&classes);
    return status;
}

dkm_status dkm_cv_outputs_learn(dkm_cv_cell *cell, dkm_cv_outputs *s)
{
    dkm_status status = DKM_OK;

    DKM_TRY(cv_kde_outputs_decompose(cell, s));
    if (dkm_cv_outputs_linear(cell))
        DKM_TRY(learn_linear(cell, s));
    if (cell->Y->mine.type == DKM_LABELS && dkm_ctx_size(cell->group->ctx) == 1)
        DKM_TRY(thin_out(cell, s));
out:
    return status;
}
