/* Accelerated randomly pivoted Cholesky: landmarks drawn in proportion to the residual diagonal of
 * K - F F'.
 *
 * Chen, Epperly, Tropp and Webber 2025, Comm. Pure Appl. Math. 78(5):995-1041,
 * doi:10.1002/cpa.22234; in blocks with rejection (Epperly, Tropp and Webber 2025, SIAM J. Matrix
 * Anal. Appl. 46:2527-2557, doi:10.1137/24M1699048). Candidates are drawn many at a time in
 * proportion to their residual diagonal, without replacement. One after the other is accepted with
 * probability equal to the ratio of its current residual diagonal to that at the draw. Most of the
 * work is matrix products. K ~ F F' grows by a column for each; rows of F and of G, the candidates'
 * columns of K - F F', are in slabs, row-major.
 *
 * Cost per rank for n landmarks of m objects: m n / ranks kernel values (more for rejected
 * candidates) and m n^2 / ranks flops; per block of b <= 96 candidates allreduces of b (k + b)
 * words, k the landmarks so far. Held: m (n + b) / ranks numbers; replicated: b x (n + 2 b). */
#include "solvers/landmarks/rpcholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "kernels/gram/strips.h"
#include "linalg/backend/blas.h"

#define DRAW_STREAM 0x7069766f7473u
#define TAKE_STREAM (DRAW_STREAM + 1)
#define BLOCK       96    /* proposals of a round, at most */
#define ROUNDING    1e-13 /* of the trace: so little left is rounding */

typedef struct pivots {
    dkm_strip_visitor visitor;
    dkm_ctx *ctx;
    const dkm_prepared *X;
    dkm_idx n, first, capacity, k; /* rows of this rank, landmarks wanted and found */
    dkm_idx block, round;
    double *F, *G; /* n x capacity, n x block */
    double *left;  /* of k(x, x), n numbers */
    double *S;     /* rows of F of the candidates, block x capacity; the same on every rank */
    double *H, *M; /* rows of G of the candidates; what makes new columns of F of those of G */
    dkm_idx *candidates, *indices; /* candidates: the proposals, in the order of the draw */
    dkm_idx *order;                /* proposals by their numbers */
    double *numbers;               /* uniform in [0, 1), one for each proposal */
} pivots;

static void rpchol_copy_panel(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    pivots *s = (pivots *)self;

    for (dkm_idx j = 0; j < K->nb; j++)
        for (dkm_idx i = 0; i < K->na; i++)
            s->G[(il + i) * K->nb + j] = dkm_tile_get(K, i, j);
}

/* Proposals in ascending order of their numbers. */
static void sort_proposals(pivots *s)
{
    for (dkm_idx c = 0; c < s->block; c++) {
        dkm_idx at = c;
        s->numbers[c] =
            dkm_random_uniform(dkm_ctx_seed(s->ctx), DRAW_STREAM, (uint64_t)s->round, (uint64_t)c);
        for (; at > 0 && s->numbers[s->order[at - 1]] > s->numbers[c]; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = c;
    }
}

/* Where among its own objects this rank's proposals fall, by one walk over what is left. Sums are
 * long, so that it hardly matters how many ranks they are cut over. */
static void find_own(pivots *s, long double before, long double own, long double all)
{
    long double sum = 0;
    dkm_idx last = -1, at = 0;

    for (dkm_idx i = 0; i < s->n; i++) {
        if (!(s->left[i] > 0))
            continue;
        sum += s->left[i];
        last = s->first + i;
        for (; at < s->block && s->numbers[s->order[at]] * all - before < sum; at++)
            if (s->numbers[s->order[at]] * all >= before)
                s->candidates[s->order[at]] = last;
    }
    for (; last >= 0 && at < s->block && s->numbers[s->order[at]] * all < before + own; at++)
        s->candidates[s->order[at]] = last; /* rounding */
}

/* Draw proposals with replacement, each object in proportion to what is left of its k(x, x). */
static dkm_status propose(pivots *s)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(s->ctx), size = dkm_ctx_size(s->ctx);
    long double own = 0, before = 0, all = 0, *sums = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, size, &sums));
    for (dkm_idx i = 0; i < s->n; i++)
        own += s->left[i] > 0 ? s->left[i] : 0;
    MPI_Allgather(&own, 1, MPI_LONG_DOUBLE, sums, 1, MPI_LONG_DOUBLE, dkm_ctx_comm(s->ctx));
    for (int r = 0; r < size; r++) {
        before = r == rank ? all : before;
        all += sums[r];
    }
    sort_proposals(s);
    for (dkm_idx c = 0; c < s->block; c++)
        s->candidates[c] = -1;
    find_own(s, before, own, all);
    MPI_Allreduce(MPI_IN_PLACE, s->candidates, (int)s->block, MPI_INT64_T, MPI_MAX,
                  dkm_ctx_comm(s->ctx));
out:
    DKM_FREE(sums);
    return status;
}

/* G = columns of K at the candidates. */
static dkm_status rpchol_evaluate(pivots *s, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_data *D = NULL;
    dkm_prepared *prepared = NULL;
    dkm_strips strips = {0};

    DKM_TRY(dkm_data_select(s->X->X, count, s->candidates, &D));
    DKM_TRY(dkm_kernel_prepare_new(s->X, D, &prepared));
    strips = dkm_strips_of(prepared, DKM_F64);
    DKM_TRY(dkm_strips_open(&strips));
    DKM_AGREE(s->ctx, dkm_strips_run(&strips, s->X, 0, 0, count, &s->visitor));
out:
    dkm_strips_close(&strips);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&D);
    return status;
}

/* Rows of the candidates, of @p width numbers with ld @p ld, to every rank. */
static void rpchol_bcast_rows(const pivots *s, dkm_idx count, const double *rows, dkm_idx ld,
                              dkm_idx width, double *out)
{
    memset(out, 0, (size_t)(count * width) * sizeof *out);
    for (dkm_idx c = 0; c < count; c++) {
        dkm_idx il = s->candidates[c] - s->first;
        if (il >= 0 && il < s->n)
            memcpy(out + c * width, rows + il * ld, (size_t)width * sizeof *out);
    }
    dkm_mpi_allreduce(out, count * width, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
}

/* Take candidates and eliminate each from H. Row t of M holds the combination of columns of G that
 * is column t of L^-1: new columns of F are G M'.
 * @return how many were taken; their indices are noted */
static dkm_idx rpchol_accept(pivots *s, dkm_idx count, double least)
{
    double *H = s->H, *first = s->S; /* S has done its work */
    dkm_idx taken = 0;

    memset(s->M, 0, (size_t)(count * count) * sizeof *s->M);
    for (dkm_idx c = 0; c < count; c++)
        first[c] = H[c * count + c];
    for (dkm_idx c = 0; c < count && s->k + taken < s->capacity; c++) {
        double u =
            dkm_random_uniform(dkm_ctx_seed(s->ctx), TAKE_STREAM, (uint64_t)s->round, (uint64_t)c);
        double now = H[c * count + c], *row = s->M + taken * count;
        if (!(now > least) || !(u * first[c] < now))
            continue;
        /* column c less what the columns taken before explain of it, over its length */
        row[c] = 1.0;
        for (dkm_idx t = 0; t < taken; t++) {
            const double *other = s->M + t * count;
            double l = first[count + t * count + c]; /* of L, row c, column t */
            for (dkm_idx j = 0; j < count; j++)
                row[j] -= l * other[j];
        }
        for (dkm_idx j = 0; j < count; j++) {
            row[j] /= sqrt(now);
            first[count + taken * count + j] = H[j * count + c] / sqrt(now);
        }
        for (dkm_idx i = 0; i < count; i++)
            for (dkm_idx j = 0; j < count; j++)
                H[i * count + j] -=
                    first[count + taken * count + i] * first[count + taken * count + j];
        s->indices[s->k + taken++] = s->candidates[c];
    }
    return taken;
}

/* F gets new columns G M', and each object loses what they explain of it. */
static void rpchol_extend_factor(pivots *s, dkm_idx count, dkm_idx taken, double least)
{
    dkm_blas_gemm(DKM_F64, 'T', 'N', taken, s->n, count, 1.0, s->M, count, s->G, count, 0.0,
                  s->F + s->k, s->capacity);
    for (dkm_idx i = 0; i < s->n; i++)
        for (dkm_idx t = 0; t < taken; t++) {
            double f = s->F[i * s->capacity + s->k + t];
            s->left[i] = fmax(0.0, s->left[i] - f * f);
        }
    for (dkm_idx c = 0; c < count; c++) { /* those taken, and those that are explained already */
        dkm_idx il = s->candidates[c] - s->first;
        if (il >= 0 && il < s->n && !(s->H[c * count + c] > least))
            s->left[il] = 0.0;
    }
    s->k += taken;
}

static dkm_status rpchol_round(pivots *s, double least)
{
    dkm_status status = DKM_OK;
    dkm_idx count = s->block, taken;

    DKM_TRY(propose(s));
    DKM_TRY(rpchol_evaluate(s, count));
    rpchol_bcast_rows(s, count, s->F, s->capacity, s->k, s->S);
    dkm_blas_gemm(DKM_F64, 'T', 'N', count, s->n, s->k, -1.0, s->S, s->k > 0 ? s->k : 1, s->F,
                  s->capacity, 1.0, s->G, count); /* G <- G - F S' */
    rpchol_bcast_rows(s, count, s->G, count, count, s->H);
    taken = rpchol_accept(s, count, least);
    rpchol_extend_factor(s, count, taken, least);
    s->round++;
out:
    return status;
}

static dkm_local rpchol_open(pivots *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx b = s->block, wide = s->capacity > b + 1 ? s->capacity : b + 1;

    DKM_STEP(dkm_alloc(s->ctx, s->n * s->capacity, &s->F));
    DKM_STEP(dkm_alloc(s->ctx, s->n * b, &s->G));
    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->left));
    DKM_STEP(dkm_alloc(s->ctx, b * wide, &s->S));
    DKM_STEP(dkm_alloc(s->ctx, b * b, &s->H));
    DKM_STEP(dkm_alloc(s->ctx, b * b, &s->M));
    DKM_STEP(dkm_alloc(s->ctx, b, &s->candidates));
    DKM_STEP(dkm_alloc(s->ctx, b, &s->order));
    DKM_STEP(dkm_alloc(s->ctx, b, &s->numbers));
out:
    return local;
}

static void rpchol_free(pivots *s)
{
    DKM_FREE(s->F);
    DKM_FREE(s->G);
    DKM_FREE(s->left);
    DKM_FREE(s->S);
    DKM_FREE(s->H);
    DKM_FREE(s->M);
    DKM_FREE(s->candidates);
    DKM_FREE(s->order);
    DKM_FREE(s->numbers);
}

static double rpchol_residual_trace(const pivots *s)
{
    double sum = 0;

    for (dkm_idx i = 0; i < s->n; i++)
        sum += s->left[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
    return sum;
}

static dkm_local rpchol_check_trace(dkm_ctx *ctx, double sum)
{
    if (sum > 0 && isfinite(sum))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_NUMERIC,
                    "pivots are drawn by k(x, x), whose sum is %g: choose landmarks uniformly",
                    sum);
}

static int compare_idx(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return (x > y) - (x < y);
}

dkm_status dkm_rpcholesky_choose(const dkm_prepared *X, dkm_idx *count, dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_prepared_rows(X);
    pivots s = {.visitor = {rpchol_copy_panel}, .ctx = X->ctx, .X = X, .indices = indices};
    double all;

    s.n = X->X->mine.n;
    s.first = X->X->first;
    s.capacity = *count;
    s.block = *count / 4 < 1 ? 1 : *count / 4 > BLOCK ? BLOCK : *count / 4;
    DKM_TRY(dkm_memory_check(s.ctx, 8.0 * (double)s.n * (double)(s.capacity + s.block),
                             "choosing landmarks by pivoted Cholesky"));
    DKM_AGREE(s.ctx, rpchol_open(&s));
    DKM_TRY(dkm_kernel_diagonal(X, s.left));
    all = rpchol_residual_trace(&s);
    DKM_AGREE(s.ctx, rpchol_check_trace(s.ctx, all));
    while (s.k < s.capacity && rpchol_residual_trace(&s) > ROUNDING * all) {
        DKM_TRY(rpchol_round(&s, ROUNDING * all / (double)m));
        dkm_progress(s.ctx, (double)s.k, (double)s.capacity);
    }
    qsort(indices, (size_t)s.k, sizeof *indices, compare_idx);
    *count = s.k;
out:
    rpchol_free(&s);
    return status;
}
