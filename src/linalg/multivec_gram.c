/* Slices of the results on the threads of a rank, each by gemm on one thread. The library's own threads
 * look for work for a while after each product, on the cores that the threads of K V need next.
 *
 * Cost per rank: 2 n p q flops of n rows, p and q columns; p q words are added up over the ranks. */
#include "linalg/multivec_gram.h"

#include <assert.h>

#include "comm/allreduce.h"
#include "core/minmax.h"
#include "core/parallel.h"
#include "linalg/backend/blas.h"

#define SLICE_COLS 64  /* of A in a slice of A'B, at least */
#define SLICE_ROWS 512 /* of A in a slice of A S, at least */

typedef struct product {
    const dkm_multivec *A, *B;
    const double *S;
    dkm_idx lds, k, each;
    double scale, beta, *C;
    dkm_idx ldc;
} product;

/* How many of @p count a slice has: of each thread some slices, and at least so many. */
static dkm_idx slice_of(dkm_idx count, int threads, int turns, dkm_idx least)
{
    dkm_idx each = (count + threads * turns - 1) / (threads * turns);

    return dkm_idx_max((each + 7) / 8 * 8, least);
}

static void run_slices(const dkm_ctx *ctx, dkm_idx count, dkm_parallel_body *body, product *p)
{
    dkm_idx slices = (count + p->each - 1) / p->each;

    if (slices > 1)
        dkm_blas_use_one_thread();
    dkm_parallel_for(dkm_ctx_threads(ctx), slices, body, p);
    if (slices > 1)
        dkm_blas_use_threads(ctx);
}

/* Rows of A'B. Row-major n x cols is column-major cols x n. */
static void inner_slice(void *user, dkm_idx slice, int thread)
{
    const product *p = user;
    dkm_idx first = slice * p->each;

    (void)thread;
    dkm_blas_gemm(DKM_F64, 'N', 'T', dkm_idx_min(p->each, p->A->cols - first), p->B->cols, p->A->n,
                  1.0, p->A->a + first, p->A->ld, p->B->a, p->B->ld, 0.0, p->C + first, p->ldc);
}

/* Rows of A S. */
static void combine_slice(void *user, dkm_idx slice, int thread)
{
    const product *p = user;
    dkm_idx first = slice * p->each;

    (void)thread;
    dkm_blas_gemm(DKM_F64, 'T', 'N', p->k, dkm_idx_min(p->each, p->A->n - first), p->A->cols,
                  p->scale, p->S, p->lds, p->A->a + first * p->A->ld, p->A->ld, p->beta,
                  p->C + first * p->ldc, p->ldc);
}

void dkm_multivec_inner_local(const dkm_multivec *A, const dkm_multivec *B, double *G)
{
    product p = {.A = A, .B = B, .C = G, .ldc = A->cols, .each = A->cols};
    int threads = dkm_ctx_threads(A->ctx);

    assert(A->n == B->n);
    if (threads > 1)
        p.each = slice_of(A->cols, threads, 1, SLICE_COLS);
    if (A->cols > 0)
        run_slices(A->ctx, A->cols, inner_slice, &p);
}

void dkm_multivec_inner(const dkm_multivec *A, const dkm_multivec *B, double *G, double *work)
{
    dkm_multivec_inner_local(A, B, G);
    dkm_allreduce_sum(G, A->cols * B->cols, work, dkm_ctx_comm(A->ctx));
}

void dkm_multivec_combine(const dkm_multivec *A, dkm_idx k, const double *S, dkm_idx lds,
                          double scale, double beta, dkm_multivec *C)
{
    product p = {.A = A,
                 .S = S,
                 .lds = lds,
                 .k = k,
                 .scale = scale,
                 .beta = beta,
                 .C = C->a,
                 .ldc = C->ld,
                 .each = A->n};
    int threads = dkm_ctx_threads(A->ctx);

    assert(k <= C->ld && A->n == C->n);
    C->cols = k;
    if (threads > 1)
        p.each = slice_of(A->n, threads, 4, SLICE_ROWS);
    if (A->n > 0)
        run_slices(A->ctx, A->n, combine_slice, &p);
}
