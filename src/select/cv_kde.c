/* The outputs of the training part are decomposed once, for as many components as any setting asks
 * for: fewer are the leading ones of those. One ridge system serves them all; a setting cuts its
 * predictions to its own number of components, and the pre-image of that is judged. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "dmat/dmat_impl.h"
#include "model/nearest.h"
#include "scalapack/linalg.h"
#include "select/cv_impl.h"
#include "select/distinct.h"

typedef struct kde {
    dkm_idx p;
    double *values, trace;
    dkm_dmat *Z;      /* n x p coordinates of the training outputs */
    dkm_data *points; /* the same in slabs */
    double *norms;    /* of this rank's training outputs: squared distance to their mean */
    dkm_idx *which;   /* of labels on one rank: points and norms are those of the first training
                         output of each class alone, and this says which they are; else NULL */
    dkm_dmat *U;      /* linear pre-images: p x d, diag(values)^-1 Z'Y; else NULL */
    double *mean;     /* of Y, d numbers */
} kde;

static unsigned wants(const void *options)
{
    (void)options;
    return DKM_CV_INPUT_GRAM | DKM_CV_OUTPUT_GRAM;
}

static dkm_local check(dkm_ctx *ctx, const dkm_cv_problem *problem)
{
    const dkm_cv_ridge *r = problem->options;

    if (r->components < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "there is no number of components to try");
    if (!problem->ky)
        return dkm_fail(ctx, DKM_ERR_ARG, "there is no kernel of the outputs");
    return dkm_cv_ridge_check(ctx, problem);
}

static void release(void **state)
{
    kde *s = *state;

    DKM_FREE(s->mean);
    dkm_dmat_destroy(&s->U);
    DKM_FREE(s->which);
    DKM_FREE(s->norms);
    dkm_data_destroy(&s->points);
    dkm_dmat_destroy(&s->Z);
    dkm_eigen_values_free(&s->values);
    DKM_FREE(*state);
}

/* What covers every setting: the largest number, the largest share, or all where both occur. */
static dkm_eigen_settings most_wanted(const dkm_cv_ridge *r)
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

/* How many of the components found a setting takes. */
static dkm_idx components_of(const kde *s, const dkm_eigen_settings *e)
{
    double sum = 0;
    dkm_idx p = 0;

    if (e->components > 0)
        return e->components < s->p ? e->components : s->p;
    while (p < s->p && sum < e->share * s->trace * (1.0 - 1e-12))
        sum += s->values[p++];
    return p > 0 ? p : 1;
}

static dkm_local check_rank(const dkm_cv_cell *cell, const dkm_eigen_info *info)
{
    dkm_cv_group *group = cell->group;

    if (info->components == 0)
        return dkm_fail(group->ctx, DKM_ERR_NUMERIC,
                        "the centred matrix of the output kernel is zero on a training part: all "
                        "its outputs look alike");
    if (info->wanted > info->components && info->wanted < INT64_MAX && !group->told++)
        dkm_say(group->ctx, DKM_WARN,
                "%lld components were asked for and only %lld are not zero: taking those",
                (long long)info->wanted, (long long)info->components);
    return DKM_LOCAL_OK;
}

/* Z = V diag(values)^1/2, in slabs and block-cyclic. */
static dkm_status scale_vectors(dkm_cv_cell *cell, kde *s)
{
    dkm_status status = DKM_OK;
    double *v = dkm_data_values(s->points);

    for (dkm_idx i = 0; i < dkm_data_local_rows(s->points); i++)
        for (dkm_idx j = 0; j < s->p; j++)
            v[i * s->p + j] *= sqrt(s->values[j]);
    DKM_TRY(dkm_dmat_create(cell->group->grid, cell->train.count, s->p, cell->nb, cell->nb, DKM_F64,
                            &s->Z));
    DKM_TRY(dkm_dmat_from_rows(s->Z, v));
out:
    return status;
}

/* l(y, y) - 2 mean of l(y, .) + mean of those means, for this rank's training outputs. */
static dkm_status find_norms(dkm_cv_cell *cell, kde *s, const double *means)
{
    dkm_ctx *ctx = cell->group->ctx;
    const dkm_data *L = cell->L;
    dkm_idx n = cell->train.count, first = dkm_data_local_first(s->points);
    dkm_status status = DKM_OK;
    double *selves = NULL, grand = 0;

    DKM_AGREE(ctx, dkm_calloc(ctx, L->m, &selves));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(s->points), &s->norms));
    for (dkm_idx i = 0; i < L->mine.n; i++)
        selves[L->first + i] = L->mine.values[i * L->m + L->first + i];
    MPI_Allreduce(MPI_IN_PLACE, selves, (int)L->m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < n; i++)
        grand += means[i] / (double)n;
    for (dkm_idx i = 0; i < dkm_data_local_rows(s->points); i++)
        s->norms[i] = selves[cell->train.rows[first + i]] - 2.0 * means[first + i] + grand;
out:
    DKM_FREE(selves);
    return status;
}

static dkm_status decompose(dkm_cv_cell *cell, kde *s)
{
    dkm_eigen_settings settings = most_wanted(cell->problem->options);
    dkm_ctx *ctx = cell->group->ctx;
    dkm_eigen_info info = {0};
    dkm_status status = DKM_OK;
    double *means = NULL;
    dkm_dmat *A = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cell->train.count, &means));
    DKM_TRY(dkm_cv_submatrix(cell, cell->L, &cell->train, &cell->train, &A));
    DKM_TRY(dkm_eigen_leading(A, &settings, &s->values, &s->points, means, &info));
    DKM_AGREE(ctx, check_rank(cell, &info));
    s->p = info.components;
    s->trace = info.trace;
    DKM_TRY(scale_vectors(cell, s));
    DKM_TRY(find_norms(cell, s, means));
out:
    dkm_dmat_destroy(&A);
    DKM_FREE(means);
    return status;
}

static int takes_linear(const dkm_cv_cell *cell)
{
    const dkm_kernel *ky = cell->problem->ky[cell->place.kernel];

    return cell->Y->mine.type == DKM_DENSE && strcmp(dkm_kernel_text(ky), "linear") == 0;
}

/* U = diag(values)^-1 Z'Y and the mean of Y; 1'Z = 0, so that Y need not be centred. */
static dkm_status learn_linear(dkm_cv_cell *cell, kde *s)
{
    dkm_status status = DKM_OK;
    dkm_idx d = cell->Y->mine.d;
    dkm_dmat *Y = NULL;

    DKM_AGREE(cell->group->ctx, dkm_alloc(cell->group->ctx, d, &s->mean));
    DKM_TRY(dkm_dmat_create_beside(s->Z, d, cell->nb, DKM_F64, &Y));
    DKM_TRY(dkm_dmat_from_rows(Y, cell->Y->mine.values));
    DKM_TRY(dkm_dmat_column_means(Y, s->mean));
    DKM_TRY(dkm_dmat_create(cell->group->grid, s->p, d, cell->nb, cell->nb, DKM_F64, &s->U));
    dkm_la_gemm('T', 'N', 1.0, s->Z, Y, 0.0, s->U);
    for (dkm_idx jl = 0; jl < s->U->n_loc; jl++)
        for (dkm_idx il = 0; il < s->U->m_loc; il++)
            dkm_dmat_put(s->U, il, jl,
                         dkm_dmat_at(s->U, il, jl) / s->values[dkm_dmat_global_row(s->U, il)]);
out:
    dkm_dmat_destroy(&Y);
    return status;
}

/* Training outputs of one class are one candidate: ties go to the first. */
static dkm_status thin_out(dkm_cv_cell *cell, kde *s)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_idx n = cell->train.count, count = 0, place;
    const double *label = cell->Y->mine.values;
    dkm_status status = DKM_OK;
    dkm_distinct classes = {0};
    dkm_data *points = NULL;

    DKM_TRY(dkm_distinct_labels(cell->Y, NULL, &classes));
    DKM_AGREE(ctx, dkm_alloc(ctx, classes.count, &s->which));
    DKM_TRY(dkm_data_create_dense(ctx, classes.count, s->p, &points));
    for (dkm_idx i = 0; i < n && count < classes.count; i++) {
        for (place = 0; place < count && label[s->which[place]] != label[i]; place++)
            ;
        if (place < count)
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

static dkm_status learn_outputs(dkm_cv_cell *cell, void **state)
{
    dkm_status status = DKM_OK;
    kde *s = NULL;

    *state = NULL;
    DKM_AGREE(cell->group->ctx, dkm_calloc(cell->group->ctx, 1, &s));
    DKM_TRY(decompose(cell, s));
    if (takes_linear(cell))
        DKM_TRY(learn_linear(cell, s));
    if (cell->Y->mine.type == DKM_LABELS && dkm_ctx_size(cell->group->ctx) == 1)
        DKM_TRY(thin_out(cell, s));
out:
    *state = s;
    if (status != DKM_OK && s)
        release(state);
    return status;
}

/* The first @p p of the columns of some rows. */
static dkm_status first_columns(dkm_ctx *ctx, dkm_idx rows, const double *from, dkm_idx cols,
                                dkm_idx p, dkm_data **cut)
{
    dkm_status status = dkm_data_create_dense(ctx, rows, p, cut);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*cut); i++)
        memcpy(dkm_data_values(*cut) + i * p, from + i * cols, (size_t)p * sizeof *from);
    return status;
}

/* The training outputs nearest to the rows of @p Q. */
static dkm_status find_candidates(dkm_cv_cell *cell, const kde *s, const dkm_data *Q,
                                  dkm_data **pred)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_candidates candidates = {.norms = s->norms};
    dkm_idx n = dkm_data_local_rows(Q), *index = NULL;
    dkm_status status = DKM_OK;
    double *distance = NULL;
    dkm_objs got = {0};

    DKM_TRY(first_columns(ctx, dkm_data_rows(s->points), dkm_data_values_const(s->points), s->p,
                          dkm_data_cols(Q), &candidates.Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &distance));
    DKM_TRY(dkm_nearest(Q, &candidates, 1, index, distance));
    for (dkm_idx i = 0; s->which && i < n; i++)
        index[i] = s->which[index[i]];
    DKM_TRY(dkm_data_fetch(cell->Y, n, index, &got));
    DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(Q), &got, pred));
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    dkm_data_destroy(&candidates.Z);
    return status;
}

/* mean + Q U, of as many components as Q has. */
static dkm_status find_linear(dkm_cv_cell *cell, const kde *s, const dkm_data *Q, dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_idx n = cell->test.count, d = dkm_dmat_cols(s->U), p = dkm_data_cols(Q);
    dkm_dmat *C = NULL, *F = NULL, *T = NULL, *U = NULL;

    DKM_TRY(dkm_dmat_create(cell->group->grid, n, p, cell->nb, cell->nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Q)));
    DKM_TRY(dkm_dmat_create_beside(C, d, cell->nb, DKM_F64, &F));
    DKM_TRY(dkm_dmat_create(cell->group->grid, d, s->p, cell->nb, cell->nb, DKM_F64, &T));
    DKM_TRY(dkm_dmat_create_beside(T, p, cell->nb, DKM_F64, &U));
    dkm_la_transpose(s->U, T);
    dkm_la_columns(T, 0, U);
    dkm_la_gemm('N', 'T', 1.0, C, U, 0.0, F);
    dkm_dmat_add_row(F, 1.0, s->mean);
    DKM_TRY(dkm_data_create_dense(cell->group->ctx, n, d, pred));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(*pred)));
out:
    dkm_dmat_destroy(&U);
    dkm_dmat_destroy(&T);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&C);
    return status;
}

static dkm_status try_components(dkm_cv_cell *cell, const kde *s, const double *rows,
                                 dkm_idx setting)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_idx p = components_of(s, &r->eigen[setting / r->gammas]);
    dkm_status status = DKM_OK;
    dkm_data *Q = NULL, *pred = NULL;

    DKM_TRY(first_columns(cell->group->ctx, cell->test.count, rows, s->p, p, &Q));
    DKM_TRY((s->U ? find_linear : find_candidates)(cell, s, Q, &pred));
    DKM_TRY(dkm_cv_judge(cell, setting, pred));
out:
    dkm_data_destroy(&pred);
    dkm_data_destroy(&Q);
    return status;
}

static dkm_status take(dkm_cv_cell *cell, void *state, dkm_idx g, dkm_dmat *F)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    double *rows = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cell->truth->mine.n * F->n, &rows));
    DKM_TRY(dkm_dmat_to_rows(F, rows));
    for (dkm_idx j = 0; j < r->components; j++)
        if (dkm_cv_wanted(cell, j * r->gammas + g))
            DKM_TRY(try_components(cell, state, rows, j * r->gammas + g));
out:
    DKM_FREE(rows);
    return status;
}

static dkm_status run(dkm_cv_cell *cell, void *state)
{
    kde *s = state;

    return dkm_cv_ridge_each(cell, s->Z, take, s);
}

const dkm_cv_method dkm_cv_kde = {.name = "kde",
                                  .wants = wants,
                                  .check = check,
                                  .learn_outputs = learn_outputs,
                                  .run = run,
                                  .release = release,
                                  .parts = dkm_cv_inverse_parts,
                                  .share = dkm_cv_inverse_make,
                                  .unshare = dkm_cv_inverse_drop};
