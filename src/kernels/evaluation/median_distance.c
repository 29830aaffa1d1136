/* The median heuristic for the width of a radial kernel (Gretton, Borgwardt, Rasch, Schoelkopf and
 * Smola 2012, JMLR 13:723-773): the median of ||x - x'|| over pairs of a sample of n <= 1000
 * objects, evenly spaced, with
 *   ||x - x'||^2 = A(x, x) + A(x', x') - 2 A(x, x')
 * for the kernel A of the space. The same on any number of ranks.
 *
 * Cost: the Gram matrix of the sample, n^2 / 2 values. Replicated: n (n + 1) / 2 numbers. */
#include "kernels/evaluation/median_distance.h"

#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "kernels/evaluation/row_transform.h"

#define SAMPLE 1000

/* The space whose distances are wanted. */
static dkm_status open_space(const dkm_kernel *kernel, const dkm_node *node, dkm_kernel **space)
{
    dkm_status status = DKM_OK;

    if (node->inner_count > 0)
        DKM_TRY(dkm_kernel_clone_tree(kernel->ctx, kernel, node->inner[0], space));
    else
        DKM_TRY(dkm_kernel_parse(kernel->ctx, "linear", space));
    if (dkm_kernel_has_better_distances(*space))
        dkm_kernel_use_distances(*space);
out:
    return status;
}

static dkm_local space_sample(dkm_ctx *ctx, dkm_idx m, dkm_idx n, dkm_idx **rows)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, n, rows));
    for (dkm_idx i = 0; i < n; i++)
        (*rows)[i] = (dkm_idx)((double)i * (double)m / (double)n);
out:
    return local;
}

static dkm_local see_rows(const dkm_kernel *kernel, const dkm_node *node, const dkm_objs *X,
                          dkm_objs *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_row_transform transform = {0};

    DKM_STEP(dkm_row_transform_of(kernel, node, X->d, NULL, &transform));
    DKM_STEP(dkm_row_transform_apply(&transform, X, rows));
out:
    dkm_row_transform_clear(&transform);
    return local;
}

/* A sample of the objects, as the node sees them. */
static dkm_status take_sample(const dkm_kernel *kernel, const dkm_node *node, const dkm_data *X,
                              dkm_data **sample)
{
    dkm_status status = DKM_OK;
    dkm_idx *rows = NULL, n = X->m < SAMPLE ? X->m : SAMPLE;
    dkm_data *some = NULL;
    dkm_objs seen = {0};

    DKM_AGREE(X->ctx, space_sample(X->ctx, X->m, n, &rows));
    DKM_TRY(dkm_data_select(X, n, rows, &some));
    if (dkm_node_columns(kernel, node)) {
        DKM_AGREE(X->ctx, see_rows(kernel, node, &some->mine, &seen));
        DKM_TRY(dkm_data_wrap(X->ctx, n, &seen, sample));
    } else {
        *sample = some;
        some = NULL;
    }
out:
    dkm_objs_clear(&seen);
    dkm_data_destroy(&some);
    DKM_FREE(rows);
    return status;
}

/* What a rank holds to find the median: Gram rows of its own, and what is replicated. */
typedef struct distances {
    dkm_idx n, first, rows;
    double *gram, *own, *diagonal;
    double *squares; /* of pairs i < j */
} distances;

static dkm_local reserve(dkm_ctx *ctx, const dkm_data *sample, distances *d)
{
    dkm_local local = DKM_LOCAL_OK;

    *d = (distances){.n = sample->m, .first = sample->first, .rows = sample->mine.n};
    DKM_STEP(dkm_alloc(ctx, d->rows * d->n, &d->gram));
    DKM_STEP(dkm_alloc(ctx, d->rows, &d->own));
    DKM_STEP(dkm_calloc(ctx, d->n, &d->diagonal));
    DKM_STEP(dkm_calloc(ctx, d->n * (d->n - 1) / 2, &d->squares));
out:
    return local;
}

static void free_distances(distances *d)
{
    DKM_FREE(d->gram);
    DKM_FREE(d->own);
    DKM_FREE(d->diagonal);
    DKM_FREE(d->squares);
}

/* Every pair is filled in by the rank of its later object; zeros of the others change nothing. */
static void share_squares(distances *d, MPI_Comm comm)
{
    for (dkm_idx i = 0; i < d->rows; i++)
        d->diagonal[d->first + i] = d->own[i];
    MPI_Allreduce(MPI_IN_PLACE, d->diagonal, (int)d->n, MPI_DOUBLE, MPI_SUM, comm);
    for (dkm_idx i = 0; i < d->rows; i++) {
        dkm_idx ig = d->first + i;
        for (dkm_idx j = 0; j < ig; j++)
            d->squares[ig * (ig - 1) / 2 + j] =
                fmax(0.0, d->diagonal[ig] + d->diagonal[j] - 2.0 * d->gram[i * d->n + j]);
    }
    MPI_Allreduce(MPI_IN_PLACE, d->squares, (int)(d->n * (d->n - 1) / 2), MPI_DOUBLE, MPI_SUM,
                  comm);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *squares, dkm_idx count)
{
    dkm_idx zeros = 0;

    qsort(squares, (size_t)count, sizeof *squares, by_size);
    while (zeros < count && squares[zeros] == 0)
        zeros++;
    if (zeros <= count / 2)
        zeros = 0;
    return count > zeros ? sqrt(squares[zeros + (count - zeros) / 2]) : 0.0;
}

dkm_status dkm_median_distance(const dkm_kernel *kernel, const dkm_node *node, const dkm_data *X,
                               double *median)
{
    dkm_status status = DKM_OK;
    dkm_kernel *space = NULL;
    dkm_data *sample = NULL;
    dkm_prepared *prepared = NULL;
    distances d = {0};

    DKM_TRY(open_space(kernel, node, &space));
    DKM_REQUIRE(X->ctx, X->m <= SAMPLE || !dkm_kernel_is_data_dependent(space), DKM_ERR_UNSUPPORTED,
                "%s looks at all objects, of which a median distance takes %d: give a number",
                dkm_kernel_text(space), SAMPLE);
    DKM_TRY(take_sample(kernel, node, X, &sample));
    DKM_TRY(dkm_kernel_prepare(space, sample, &prepared));
    DKM_AGREE(X->ctx, reserve(X->ctx, sample, &d));
    DKM_TRY(dkm_gram_slab(prepared, d.gram));
    DKM_TRY(dkm_kernel_diagonal(prepared, d.own));
    share_squares(&d, dkm_ctx_comm(X->ctx));
    *median = median_of(d.squares, d.n * (d.n - 1) / 2);
out:
    free_distances(&d);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&sample);
    dkm_kernel_destroy(&space);
    return status;
}
