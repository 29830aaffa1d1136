#include "solve/slab.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "scalapack/blas.h"

dkm_local dkm_slab_init(dkm_slab *slab, dkm_ctx *ctx, dkm_idx m, dkm_idx capacity)
{
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    *slab = (dkm_slab){.ctx = ctx, .n = n, .ld = capacity};
    return dkm_alloc(ctx, n * capacity, &slab->a);
}

void dkm_slab_free(dkm_slab *slab)
{
    DKM_FREE(slab->a);
}

void dkm_slab_inner(const dkm_slab *A, const dkm_slab *B, double *G)
{
    assert(A->n == B->n);
    /* row-major n x cols is column-major cols x n */
    dkm_blas_gemm(DKM_F64, 'N', 'T', A->cols, B->cols, A->n, 1.0, A->a, A->ld, B->a, B->ld, 0.0, G,
                  A->cols);
    MPI_Allreduce(MPI_IN_PLACE, G, (int)(A->cols * B->cols), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(A->ctx));
}

void dkm_slab_combine(const dkm_slab *A, dkm_idx k, const double *S, dkm_idx lds, double scale,
                      double beta, dkm_slab *C)
{
    assert(k <= C->ld && A->n == C->n);
    C->cols = k;
    dkm_blas_gemm(DKM_F64, 'T', 'N', k, A->n, A->cols, scale, S, lds, A->a, A->ld, beta, C->a,
                  C->ld);
}

void dkm_slab_append(dkm_slab *A, const dkm_slab *B)
{
    assert(A->cols + B->cols <= A->ld && A->n == B->n);
    for (dkm_idx i = 0; i < A->n; i++)
        memcpy(A->a + i * A->ld + A->cols, B->a + i * B->ld, (size_t)B->cols * sizeof *A->a);
    A->cols += B->cols;
}

void dkm_slab_center(dkm_slab *A, dkm_idx m, double *means)
{
    memset(means, 0, (size_t)A->cols * sizeof *means);
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            means[j] += A->a[i * A->ld + j] / (double)m;
    MPI_Allreduce(MPI_IN_PLACE, means, (int)A->cols, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            A->a[i * A->ld + j] -= means[j];
}

double dkm_slab_norm(const dkm_slab *A)
{
    double sum = 0;

    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            sum += A->a[i * A->ld + j] * A->a[i * A->ld + j];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
    return sqrt(sum);
}
