/* Slices of the results on the threads of a rank, each by gemm on one thread. The library's own threads
 * look for work for a while after each product, on the cores that the threads of K V need next.
 *
 * Where one of two bases has a few columns, as the new block of a Krylov method has, gemm would pack the
 * other, which is read once: linalg/kernels/gemm_tallskinny.c reads it in place.
 *
 * Cost per rank: 2 n p q flops of n rows, p and q columns; p q words are added up over the ranks. */
#include "linalg/multivec_gram.h"

#include <assert.h>
#include <string.h>

#include "comm/allreduce.h"
#include "core/minmax.h"
#include "core/parallel.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/parallel_products.h"

#define SLICE_COLS 64  /* of A in a slice of A'B, at least */
#define SLICE_ROWS 512 /* of A in a slice of A S, at least */
#define MANY_COLS  32  /* of A from which on gemm is slower where B or S has a few */
#define PIECE      64  /* columns of A at a time, and rows, whose sums stay in cache */
#define PIECE_ROWS 256

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

/* Whether A has many columns and B, of which A'B or A S is made, a few: without gaps, as many as fill
 * lanes. */
static int is_skinny(const dkm_multivec *A, const dkm_multivec *B, dkm_idx cols)
{
    return A->cols >= MANY_COLS && cols > 1 && cols <= DKM_NRHS_MAX && cols == B->ld &&
           cols == dkm_ts_nrhs_pad(cols);
}

/* G = A'B by way of @p rows, G row by row. */
static void inner_skinny(const dkm_multivec *A, const dkm_multivec *B, double *G, double *rows)
{
    dkm_idx p = B->cols;
    dkm_ts_tile t = {DKM_F64, A->cols, A->n, A->ld, A->a};

    memset(rows, 0, (size_t)(A->cols * p) * sizeof *rows);
    dkm_ts_gemm_n_parallel(dkm_ctx_threads(A->ctx), &t, p, B->a, rows);
    for (dkm_idx i = 0; i < A->cols; i++)
        for (dkm_idx j = 0; j < p; j++)
            G[i + j * A->cols] = rows[i * p + j];
}

/* Rows of C = A S + C, columns of A after columns. */
static void combine_skinny_slice(void *user, dkm_idx slice, int thread)
{
    const product *p = user;
    dkm_idx first = slice * p->each, rows = dkm_idx_min(p->each, p->A->n - first);
    double S[PIECE * DKM_NRHS_MAX], *C = p->C + first * p->ldc;

    (void)thread;
    if (p->beta == 0.0)
        memset(C, 0, (size_t)(rows * p->k) * sizeof *C);
    for (dkm_idx c = 0; c < p->A->cols; c += PIECE) {
        dkm_ts_tile t = {DKM_F64, dkm_idx_min(PIECE, p->A->cols - c), rows, p->A->ld,
                         p->A->a + first * p->A->ld + c};
        for (dkm_idx i = 0; i < t.na; i++)
            for (dkm_idx j = 0; j < p->k; j++)
                S[i * p->k + j] = p->scale * p->S[c + i + j * p->lds];
        dkm_ts_gemm_t(&t, p->k, S, C);
    }
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
    assert(A->n == B->n);
    if (work && is_skinny(A, B, B->cols))
        inner_skinny(A, B, G, work);
    else
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
    int threads = dkm_ctx_threads(A->ctx),
        skinny = is_skinny(A, C, k) && (beta == 0.0 || beta == 1.0);

    assert(k <= C->ld && A->n == C->n);
    C->cols = k;
    if (skinny) {
        p.each = PIECE_ROWS;
        dkm_parallel_for(threads, (A->n + PIECE_ROWS - 1) / PIECE_ROWS, combine_skinny_slice, &p);
        return;
    }
    if (threads > 1)
        p.each = slice_of(A->n, threads, 4, SLICE_ROWS);
    if (A->n > 0)
        run_slices(A->ctx, A->n, combine_slice, &p);
}
