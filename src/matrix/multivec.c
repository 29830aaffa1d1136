#include "matrix/multivec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/mpi_calls.h"
#include "core/parallel.h"

#define ROWS_AT_ONCE 512 /* that a thread copies at a time */

dkm_local dkm_multivec_init(dkm_multivec *slab, dkm_ctx *ctx, dkm_idx m, dkm_idx capacity)
{
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    *slab = (dkm_multivec){.ctx = ctx, .n = n, .ld = capacity};
    return dkm_alloc(ctx, n * capacity, &slab->a);
}

void dkm_multivec_free(dkm_multivec *slab)
{
    DKM_FREE(slab->a);
}

void dkm_multivec_copy(const dkm_multivec *A, dkm_multivec *B)
{
    B->cols = 0;
    dkm_multivec_append(B, A);
}

void dkm_multivec_scale(double scale, dkm_multivec *B)
{
    for (dkm_idx i = 0; i < B->n; i++)
        for (dkm_idx j = 0; j < B->cols; j++)
            B->a[i * B->ld + j] *= scale;
}

void dkm_multivec_axpy(double scale, const dkm_multivec *A, dkm_multivec *B)
{
    for (dkm_idx i = 0; i < B->n; i++)
        for (dkm_idx j = 0; j < B->cols; j++)
            B->a[i * B->ld + j] += scale * A->a[i * A->ld + j];
}

void dkm_multivec_axpy_columns(double sign, const double *scale, const dkm_multivec *A,
                               dkm_multivec *B)
{
    for (dkm_idx i = 0; i < B->n; i++)
        for (dkm_idx j = 0; j < B->cols; j++)
            B->a[i * B->ld + j] += sign * scale[j] * A->a[i * A->ld + j];
}

void dkm_multivec_xpay_columns(const double *scale, const dkm_multivec *A, dkm_multivec *B)
{
    for (dkm_idx i = 0; i < B->n; i++)
        for (dkm_idx j = 0; j < B->cols; j++)
            B->a[i * B->ld + j] = A->a[i * A->ld + j] + scale[j] * B->a[i * B->ld + j];
}

void dkm_multivec_dots(const dkm_multivec *A, const dkm_multivec *B, double *dots)
{
    memset(dots, 0, (size_t)A->cols * sizeof *dots);
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            dots[j] += A->a[i * A->ld + j] * B->a[i * B->ld + j];
    dkm_mpi_allreduce(dots, A->cols, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
}

typedef struct append_run {
    const dkm_multivec *A, *B;
} append_run;

static void append_rows(void *user, dkm_idx part, int thread)
{
    const append_run *r = user;
    dkm_idx end = dkm_idx_min((part + 1) * ROWS_AT_ONCE, r->A->n);

    (void)thread;
    for (dkm_idx i = part * ROWS_AT_ONCE; i < end; i++)
        memcpy(r->A->a + i * r->A->ld + r->A->cols, r->B->a + i * r->B->ld,
               (size_t)r->B->cols * sizeof *r->A->a);
}

/* On the threads of the rank: what takes long is the first touch of a basis' memory. */
void dkm_multivec_append(dkm_multivec *A, const dkm_multivec *B)
{
    append_run r = {A, B};

    assert(A->cols + B->cols <= A->ld && A->n == B->n);
    dkm_parallel_for(dkm_ctx_threads(A->ctx), (A->n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, append_rows,
                     &r);
    A->cols += B->cols;
}

void dkm_multivec_pack(const dkm_multivec *A, double *rows)
{
    for (dkm_idx i = 0; i < A->n; i++)
        memcpy(rows + i * A->cols, A->a + i * A->ld, (size_t)A->cols * sizeof *rows);
}

void dkm_multivec_unpack(const double *rows, dkm_multivec *A)
{
    for (dkm_idx i = 0; i < A->n; i++)
        memcpy(A->a + i * A->ld, rows + i * A->cols, (size_t)A->cols * sizeof *rows);
}

void dkm_multivec_center(dkm_multivec *A, dkm_idx m, double *means)
{
    memset(means, 0, (size_t)A->cols * sizeof *means);
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            means[j] += A->a[i * A->ld + j] / (double)m;
    dkm_mpi_allreduce(means, A->cols, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            A->a[i * A->ld + j] -= means[j];
}

/* How many numbers of m rows each rank has, and where they begin among all. */
static dkm_local multivec_counts(dkm_ctx *ctx, dkm_idx m, dkm_idx cols, dkm_idx **counts,
                                 dkm_idx **starts)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(ctx);

    DKM_STEP(dkm_alloc(ctx, 2 * (dkm_idx)size, counts));
    *starts = *counts + size;
    for (int r = 0; r < size; r++) {
        (*counts)[r] = dkm_slab_count(m, r, size) * cols;
        (*starts)[r] = dkm_slab_first(m, r, size) * cols;
    }
out:
    return local;
}

dkm_status dkm_multivec_allgather(const dkm_multivec *A, dkm_idx m, double *all)
{
    dkm_status status = DKM_OK;
    dkm_idx *counts = NULL, *starts = NULL;
    double *mine;

    DKM_AGREE(A->ctx, multivec_counts(A->ctx, m, A->cols, &counts, &starts));
    mine = all + starts[dkm_ctx_rank(A->ctx)];
    dkm_multivec_pack(A, mine);
    DKM_TRY(dkm_mpi_allgatherv(A->ctx, NULL, all, counts, starts, MPI_DOUBLE));
out:
    DKM_FREE(counts);
    return status;
}

dkm_status dkm_multivec_reduce_scatter(double *all, dkm_idx m, dkm_multivec *A)
{
    dkm_status status = DKM_OK;
    dkm_idx *counts = NULL, *starts = NULL;
    double *mine = NULL;

    DKM_AGREE(A->ctx, multivec_counts(A->ctx, m, A->cols, &counts, &starts));
    DKM_AGREE(A->ctx, dkm_alloc(A->ctx, A->n * A->cols, &mine));
    DKM_TRY(dkm_mpi_reduce_scatter(A->ctx, all, mine, counts, starts, MPI_DOUBLE, MPI_SUM));
    dkm_multivec_unpack(mine, A);
out:
    DKM_FREE(mine);
    DKM_FREE(counts);
    return status;
}

double dkm_multivec_norm(const dkm_multivec *A)
{
    double sum = 0;

    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            sum += A->a[i * A->ld + j] * A->a[i * A->ld + j];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
    return sqrt(sum);
}
