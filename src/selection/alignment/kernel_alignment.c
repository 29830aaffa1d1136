/* Kernel-target alignment <K, T> / (||K|| ||T||) (Cristianini, Shawe-Taylor, Elisseeff and Kandola
 * 2002, NIPS 14:367-373), centered on demand (Cortes, Mohri and Rostamizadeh 2012, JMLR
 * 13:795-828), in one pass over the lower triangle: below the diagonal an element counts twice.
 * With r the means of the rows and g their mean, the centered element is K(i, j) - r_i - r_j + g;
 * for the target of labels, r_i is the share of the objects that have the label of i.
 *
 * Cost per rank: about 6 m^2 / ranks flops, an allreduce of a few numbers. Replicated: m means and
 * labels. */
#include <dkmap/kernel_alignment.h>

#include <float.h>
#include <math.h>

#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "data/objects.h"
#include "matrix/dmat_impl.h"
#include "selection/metrics/distinct_labels.h"

/* One of the two matrices. */
typedef struct side {
    const dkm_dmat *K;    /* NULL: the target of labels */
    const dkm_idx *group; /* of each object, m of them */
    double *means;        /* of the rows; NULL when nothing is centered */
    double grand;         /* mean of the means */
    double *column;       /* the part of one column that is looked at */
    double raw;           /* sum of squares before centering */
} side;

/* sum_i x_i y_i with everything twice but what lies on the diagonal, which may only come first. */
static double weighted(const double *x, const double *y, dkm_idx n, int diagonal)
{
    double sum = 0;

    for (dkm_idx i = 0; i < n; i++)
        sum += x[i] * y[i];
    return 2.0 * sum - (diagonal ? x[0] * y[0] : 0.0);
}

/* Local rows [il, il + n) of local column jl, which are rows[il..] of column jg in all. */
static void kernel_alignment_load(side *s, const dkm_idx *rows, dkm_idx il, dkm_idx n, dkm_idx jl,
                                  dkm_idx jg)
{
    double *x = s->column;

    for (dkm_idx i = 0; i < n; i++)
        x[i] = s->K                                     ? dkm_dmat_at(s->K, il + i, jl)
               : s->group[rows[il + i]] == s->group[jg] ? 1.0
                                                        : 0.0;
    s->raw += weighted(x, x, n, rows[il] == jg);
    for (dkm_idx i = 0; i < n && s->means; i++)
        x[i] += s->grand - (s->means[rows[il + i]] + s->means[jg]);
}

/* This rank's parts of <A, A>, <A, B> and <B, B>. */
static void kernel_alignment_add_up(const dkm_dmat *shape, const dkm_idx *rows, side *A, side *B,
                                    double sums[3])
{
    int p = dkm_grid_row(shape->grid), P = dkm_grid_rows(shape->grid);

    for (dkm_idx jl = 0; jl < shape->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(shape, jl);
        dkm_idx il = dkm_cyclic_count(jg, shape->mb, p, P), n = shape->m_loc - il;
        if (n <= 0)
            continue;
        kernel_alignment_load(A, rows, il, n, jl, jg);
        kernel_alignment_load(B, rows, il, n, jl, jg);
        sums[0] += weighted(A->column, A->column, n, rows[il] == jg);
        sums[1] += weighted(A->column, B->column, n, rows[il] == jg);
        sums[2] += weighted(B->column, B->column, n, rows[il] == jg);
    }
}

/* Rounding leaves of a matrix of equal elements up to m eps when it is centered. */
static int vanishes(double square, double raw, dkm_idx m)
{
    double rounding = (double)m * DBL_EPSILON;

    return !(square > rounding * rounding * raw);
}

static dkm_local kernel_alignment_allocate(const dkm_dmat *K, dkm_idx **rows, side *A, side *B)
{
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, K->m_loc, rows));
    DKM_STEP(dkm_alloc(ctx, K->m_loc, &A->column));
    DKM_STEP(dkm_alloc(ctx, K->m_loc, &B->column));
    for (dkm_idx il = 0; il < K->m_loc; il++)
        (*rows)[il] = dkm_dmat_global_row(K, il);
out:
    return local;
}

/* The alignment of A, which is a matrix, and B, whose means are at hand where A's are. */
static dkm_status align(side *A, side *B, double *alignment)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->K->grid);
    dkm_idx *rows = NULL, m = A->K->m;
    double sums[5] = {0};

    dkm_phase_begin(ctx, "align");
    DKM_AGREE(ctx, kernel_alignment_allocate(A->K, &rows, A, B));
    kernel_alignment_add_up(A->K, rows, A, B, sums);
    sums[3] = A->raw;
    sums[4] = B->raw;
    MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    if (!vanishes(sums[0], sums[3], m) && !vanishes(sums[2], sums[4], m))
        *alignment = fmax(-1.0, fmin(1.0, sums[1] / (sqrt(sums[0]) * sqrt(sums[2]))));
out:
    DKM_FREE(rows);
    DKM_FREE(A->column);
    DKM_FREE(B->column);
    dkm_phase_end(ctx);
    return status;
}

static double kernel_alignment_mean(const double *x, dkm_idx n)
{
    double sum = 0;

    for (dkm_idx i = 0; i < n; i++)
        sum += x[i];
    return n > 0 ? sum / (double)n : 0.0;
}

/* Centre a matrix: from now on its means are taken off. */
static dkm_status kernel_alignment_find_means(side *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(s->K->grid);

    DKM_AGREE(ctx, dkm_alloc(ctx, s->K->m, &s->means));
    DKM_TRY(dkm_gram_means(s->K, s->means));
    s->grand = kernel_alignment_mean(s->means, s->K->m);
out:
    return status;
}

static dkm_local check_layout(const dkm_dmat *K, const dkm_dmat *T)
{
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);

    if (K->m != K->n || T->m != T->n || K->m != T->m)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a matrix of %lld x %lld cannot be aligned with %lld x %lld",
                        (long long)K->m, (long long)K->n, (long long)T->m, (long long)T->n);
    if (K->grid != T->grid || K->mb != T->mb || K->nb != T->nb)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "alignment needs two matrices on one grid and in blocks of one size");
    return DKM_LOCAL_OK;
}

dkm_status dkm_kernel_alignment_grams(const dkm_dmat *K, const dkm_dmat *T, int centered,
                                      double *alignment)
{
    dkm_status status = DKM_OK;
    side A = {.K = K}, B = {.K = T};

    *alignment = NAN;
    DKM_AGREE(dkm_grid_ctx(K->grid), check_layout(K, T));
    if (centered) {
        DKM_TRY(kernel_alignment_find_means(&A));
        DKM_TRY(kernel_alignment_find_means(&B));
    }
    DKM_TRY(align(&A, &B, alignment));
out:
    DKM_FREE(A.means);
    DKM_FREE(B.means);
    return status;
}

static dkm_local kernel_alignment_check_labels(const dkm_dmat *K, const dkm_data *labels)
{
    int m;

    if (labels->mine.type != DKM_LABELS)
        return dkm_fail(labels->ctx, DKM_ERR_UNSUPPORTED, "the target is made of labels, not of %s",
                        dkm_type_name(labels->mine.type));
    if (K->m != K->n || K->m != labels->m)
        return dkm_fail(labels->ctx, DKM_ERR_ARG,
                        "a matrix of %lld x %lld cannot be aligned with %lld labels",
                        (long long)K->m, (long long)K->n, (long long)labels->m);
    return dkm_checked_int(labels->ctx, K->m, "the number of labels", &m);
}

/* Where each rank's labels begin, and how many they are. */
static void kernel_alignment_plan_gather(const dkm_data *labels, int *counts, int *starts)
{
    int size = dkm_ctx_size(labels->ctx);

    for (int k = 0; k < size; k++) {
        counts[k] = (int)dkm_slab_count(labels->m, k, size);
        starts[k] = (int)dkm_slab_first(labels->m, k, size);
    }
}

/* Number the labels from 0 on and bring those of all objects to every rank. */
static dkm_status gather_groups(const dkm_data *labels, dkm_distinct *distinct, dkm_idx *group)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = labels->ctx;
    int *counts = NULL;

    DKM_TRY(dkm_distinct_labels(labels, NULL, distinct));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)dkm_ctx_size(ctx), &counts));
    kernel_alignment_plan_gather(labels, counts, counts + dkm_ctx_size(ctx));
    for (dkm_idx i = 0; i < labels->mine.n; i++)
        group[labels->first + i] = dkm_distinct_place(distinct, (dkm_idx)labels->mine.values[i]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, group, counts, counts + dkm_ctx_size(ctx),
                   MPI_INT64_T, dkm_ctx_comm(ctx));
out:
    DKM_FREE(counts);
    return status;
}

/* The share of the objects that have the label of each. */
static dkm_local find_shares(side *s, const dkm_data *labels, dkm_idx groups)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = labels->m;
    double *shares = NULL;

    DKM_STEP(dkm_calloc(labels->ctx, groups, &shares));
    DKM_STEP(dkm_alloc(labels->ctx, m, &s->means));
    for (dkm_idx i = 0; i < m; i++)
        shares[s->group[i]] += 1.0;
    for (dkm_idx i = 0; i < m; i++)
        s->means[i] = shares[s->group[i]] / (double)m;
    s->grand = kernel_alignment_mean(s->means, m);
out:
    DKM_FREE(shares);
    return local;
}

dkm_status dkm_kernel_alignment_labels(const dkm_dmat *K, const dkm_data *labels, int centered,
                                       double *alignment)
{
    dkm_status status = DKM_OK;
    dkm_distinct distinct = {0};
    dkm_idx *group = NULL;
    side A = {.K = K}, B = {0};

    *alignment = NAN;
    DKM_AGREE(labels->ctx, kernel_alignment_check_labels(K, labels));
    DKM_AGREE(labels->ctx, dkm_alloc(labels->ctx, labels->m, &group));
    DKM_TRY(gather_groups(labels, &distinct, group));
    B.group = group;
    if (centered) {
        DKM_TRY(kernel_alignment_find_means(&A));
        DKM_AGREE(labels->ctx, find_shares(&B, labels, distinct.count));
    }
    DKM_TRY(align(&A, &B, alignment));
out:
    DKM_FREE(A.means);
    DKM_FREE(B.means);
    DKM_FREE(group);
    dkm_distinct_clear(&distinct);
    return status;
}
