/* Tall-skinny QR: A = V R for m x n, rows in slabs, R = L' on every rank; V is not formed.
 *
 * Demmel, Grigori, Hoemmen and Langou 2012, SIAM J. Sci. Comput. 34(1):A206-A239,
 * doi:10.1137/080731992: a rank folds its rows into an n x n triangle, CHUNK rows at a time (a flat
 * tree), and the triangles of the ranks are combined pairwise (a binary tree), as many columns at a
 * time. Rows in memory are columns of A', so R is computed as the L of A' = L V' (dtplqt, which knows
 * that the triangle is one). Singular values and null spaces are those of the small triangle (dgesdd
 * on rank 0, then a broadcast, so that all ranks have the same bits).
 *
 * Cost per rank: 2 m_loc n^2 + (2/3) n^3 log2 ranks flops; n / CHUNK messages of n CHUNK words per
 * step of the tree, log2(ranks) steps, and one broadcast of n^2 words. Replicated: R, n^2 numbers, and
 * (CHUNK + 2 BLOCK) n of workspace; rank 0 has 5 n^2 more during the decomposition (n <= 10000). */
#include "linalg/factor/tsqr.h"

#include <float.h>
#include <limits.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/mpi_calls.h"
#include "linalg/backend/fortran.h"

#define CHUNK     512 /* rows, or columns of another triangle, that are folded in at a time */
#define BLOCK     64  /* reflections that LAPACK applies at once */
#define MAX_ORDER 10000

typedef struct tsqr_ws {
    dkm_ctx *ctx;
    dkm_idx n;
    double *L;        /* n x n: the triangle so far; the caller's */
    double *b;        /* n x CHUNK: what is folded into it, destroyed */
    double *t, *work; /* BLOCK x n each, of LAPACK */
} tsqr_ws;

static dkm_local tsqr_open(tsqr_ws *t, dkm_ctx *ctx, dkm_idx n, double *L)
{
    dkm_local local = DKM_LOCAL_OK;

    *t = (tsqr_ws){.ctx = ctx, .n = n, .L = L};
    if (n > MAX_ORDER)
        return dkm_fail(ctx, DKM_ERR_SIZE,
                        "%lld features are more than the %d whose small matrices a rank can hold",
                        (long long)n, MAX_ORDER);
    DKM_STEP(dkm_alloc(ctx, n * CHUNK, &t->b));
    DKM_STEP(dkm_alloc(ctx, n * BLOCK, &t->t));
    DKM_STEP(dkm_alloc(ctx, n * BLOCK, &t->work));
    memset(L, 0, (size_t)(n * n) * sizeof *L);
out:
    return local;
}

static void tsqr_close(tsqr_ws *t)
{
    DKM_FREE(t->b);
    DKM_FREE(t->t);
    DKM_FREE(t->work);
}

/* Fold @p cols columns, which have zeros in their first @p zeros rows, into the triangle. */
static void tsqr_fold(tsqr_ws *t, dkm_idx zeros, dkm_idx cols)
{
    const int ld = (int)t->n, order = (int)(t->n - zeros), cols_ = (int)cols, rectangular = 0,
              block = order < BLOCK ? order : BLOCK;
    int info = 0;

    dtplqt_(&order, &cols_, &rectangular, &block, t->L + zeros + zeros * t->n, &ld, t->b + zeros,
            &ld, t->t, &block, t->work, &info);
    dkm_phase_flops(t->ctx, 2.0 * (double)cols * (double)order * (double)order);
}

static void tsqr_fold_rows(tsqr_ws *t, dkm_idx m_loc, const double *rows)
{
    for (dkm_idx first = 0; first < m_loc; first += CHUNK) {
        dkm_idx count = dkm_idx_min(CHUNK, m_loc - first);
        memcpy(t->b, rows + first * t->n, (size_t)(count * t->n) * sizeof *t->b);
        tsqr_fold(t, 0, count);
    }
}

/* Triangles meet pairwise: in each round a rank gives its own away or takes in a neighbor's. */
static void tsqr_reduce_ranks(tsqr_ws *t)
{
    int rank = dkm_ctx_rank(t->ctx), size = dkm_ctx_size(t->ctx);
    MPI_Comm comm = dkm_ctx_comm(t->ctx);

    for (int step = 1; step < size; step *= 2) {
        int gives = rank % (2 * step) != 0;
        if (!gives && rank + step >= size)
            continue;
        for (dkm_idx j = 0; j < t->n; j += CHUNK) {
            dkm_idx cols = dkm_idx_min(CHUNK, t->n - j);
            if (gives) {
                dkm_mpi_send(t->L + j * t->n, cols * t->n, MPI_DOUBLE, rank - step, 0, comm);
            } else {
                dkm_mpi_recv(t->b, cols * t->n, MPI_DOUBLE, rank + step, 0, comm);
                tsqr_fold(t, j, cols);
            }
        }
        if (gives)
            break;
    }
    dkm_mpi_bcast(t->L, t->n * t->n, MPI_DOUBLE, 0, comm);
}

dkm_status dkm_tsqr(dkm_ctx *ctx, dkm_idx m_loc, dkm_idx n, const double *rows, double *L)
{
    dkm_status status = DKM_OK;
    tsqr_ws t = {0};

    dkm_phase_begin(ctx, "qr");
    DKM_AGREE(ctx, tsqr_open(&t, ctx, n, L));
    if (n > 0) {
        tsqr_fold_rows(&t, m_loc, rows);
        tsqr_reduce_ranks(&t);
    }
out:
    tsqr_close(&t);
    dkm_phase_end(ctx);
    return status;
}

static dkm_local gesvd_check(dkm_ctx *ctx, int info)
{
    if (info == 0)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_NUMERIC,
                    "the singular value decomposition gave up (info = %d): are there infinite or "
                    "undefined values?",
                    info);
}

/* A = U diag(s) V', A of m x n and destroyed; U of m x m. Rank 0 alone, for all ranks must go on
 * with the same bits. */
static dkm_local gesvd_local(dkm_ctx *ctx, dkm_idx m, dkm_idx n, double *A, double *s, double *U)
{
    dkm_local local = DKM_LOCAL_OK;
    const int m_ = (int)m, n_ = (int)n;
    dkm_idx least = m < n ? m : n, most = m < n ? n : m;
    const int64_t wanted = 4 * least * least + (8 + BLOCK) * most;
    const int lwork = wanted < INT_MAX ? (int)wanted : INT_MAX;
    double *work = NULL, *Vt = NULL;
    int *integers = NULL, info = 0;

    if (dkm_ctx_rank(ctx) != 0 || least == 0)
        return local;
    DKM_STEP(dkm_alloc(ctx, wanted, &work));
    DKM_STEP(dkm_alloc(ctx, n * n, &Vt));
    DKM_STEP(dkm_alloc(ctx, 8 * least, &integers));
    dgesdd_("A", &m_, &n_, A, &m_, s, U, &m_, Vt, &n_, work, &lwork, integers, &info);
    local = gesvd_check(ctx, info);
out:
    DKM_FREE(integers);
    DKM_FREE(Vt);
    DKM_FREE(work);
    return local;
}

dkm_status dkm_tsqr_svd(dkm_ctx *ctx, dkm_idx m_loc, dkm_idx n, const double *rows, double *s,
                        double *Y)
{
    dkm_status status = DKM_OK;
    double *L = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * n, &L));
    DKM_TRY(dkm_tsqr(ctx, m_loc, n, rows, L));
    DKM_AGREE(ctx, gesvd_local(ctx, n, n, L, s, Y));
    dkm_mpi_bcast(s, n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    dkm_mpi_bcast(Y, n * n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
out:
    DKM_FREE(L);
    return status;
}

dkm_status dkm_null_space(dkm_ctx *ctx, dkm_idx t, dkm_idx n, double *A, double *U, dkm_idx *rank)
{
    dkm_status status = DKM_OK;
    dkm_idx least = t < n ? t : n;
    double *s = NULL, cutoff = (double)(t < n ? n : t) * DBL_EPSILON;

    *rank = 0;
    DKM_AGREE(ctx, dkm_alloc(ctx, least, &s));
    DKM_AGREE(ctx, gesvd_local(ctx, t, n, A, s, U));
    dkm_mpi_bcast(s, least, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    dkm_mpi_bcast(U, t * t, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    while (*rank < least && s[*rank] > cutoff * s[0])
        ++*rank;
out:
    DKM_FREE(s);
    return status;
}
