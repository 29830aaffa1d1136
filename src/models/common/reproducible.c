/* Products and sums that are the same to the last bit on any number of ranks and threads. Sums over
 * ranks are compensated: TwoSum (Knuth; Ogita, Rump and Oishi 2005, SIAM J. Sci. Comput.
 * 26(6):1955-1988, doi:10.1137/030601818), a pair hi + lo per number, added in the order of the
 * ranks. Products are made by the tall-skinny micro-kernel, DKM_NRHS_MAX columns at a time: it adds
 * up the terms of every element in the order of their index. BLAS does not, as the order at the
 * edges of its blocks is another one, and where those are depends on shapes and threads.
 *
 * Cost: 2 m n k flops, n padded to a multiple of 8; dkm_twosum_allreduce() sends 3 words per number,
 * and holds as many, however many ranks there are; of up to SOME_SUMS numbers the same through trees, whose
 * root sends log2(ranks) words of each; of very few 2 ranks words of each, in one message. Replicated:
 * nothing; workspace of (BATCH + ROWS) DKM_NRHS_MAX numbers. */
#include "models/common/reproducible.h"

#include <dkmap/grid.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/kernels/gemm_tallskinny.h"

#define PANEL_NUMBERS 2097152 /* of a panel: 16 MiB */
#define BATCH         256     /* terms, and rows of a panel, at a time */
#define ROWS          64      /* rows that are multiplied with a few columns at once */
#define FEW_SUMS      64      /* of all ranks together, that every rank adds up */
#define SOME_SUMS     4096    /* that are added up at every hop of a tree */
#define MANY_SUMS     1048576 /* that are added up at a time */

dkm_idx dkm_repro_panel_rows(dkm_idx width)
{
    dkm_idx rows = width > 0 ? PANEL_NUMBERS / width : BATCH;

    return rows < 1 ? 1 : dkm_idx_min(rows, BATCH);
}

dkm_status dkm_repro_gather(dkm_ctx *ctx, dkm_idx m, dkm_idx width, const double *mine,
                            dkm_idx first, dkm_idx count, double *rows)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx), *counts = NULL, *starts = NULL;
    dkm_idx own = dkm_slab_first(m, rank, size), skip;

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * size, &counts));
    starts = counts + size;
    for (int r = 0; r < size; r++) {
        dkm_idx from = dkm_slab_first(m, r, size), to = dkm_slab_first(m, r + 1, size);
        from = dkm_idx_max(from, first);
        to = dkm_idx_min(to, first + count);
        counts[r] = to > from ? (int)((to - from) * width) : 0;
        starts[r] = to > from ? (int)((from - first) * width) : 0;
    }
    skip = first > own ? first - own : 0;
    MPI_Allgatherv(counts[rank] > 0 ? mine + skip * width : mine, counts[rank], MPI_DOUBLE, rows,
                   counts, starts, MPI_DOUBLE, dkm_ctx_comm(ctx));
out:
    DKM_FREE(counts);
    return status;
}

/* A product C (m x n) = beta C + op(A) (alpha op(B)), all row-major: op(A) is m x k, A itself k x m
 * where ta is set; likewise B. */
typedef struct product {
    int ta, tb;
    double alpha, beta;
    dkm_row_block A, B;
    double *C;
    dkm_idx ldc;
} product;

/* Columns [j, j + count) of alpha op(B), rows [l, l + k), as right-hand sides among zeros. */
static void pack_columns(const product *p, dkm_idx l, dkm_idx k, dkm_idx j, dkm_idx count,
                         double *V)
{
    dkm_idx pad = dkm_ts_nrhs_pad(count), down = p->tb ? 1 : p->B.ld, across = p->tb ? p->B.ld : 1;
    const double *b = p->B.a + l * down + j * across;

    for (dkm_idx a = 0; a < k; a++)
        for (dkm_idx c = 0; c < pad; c++)
            V[a * pad + c] = c < count ? p->alpha * b[a * down + c * across] : 0;
}

/* C(i.., j..) += the sums of some rows and columns, with beta C on the first batch of terms. */
static void add_sums(const product *p, dkm_idx i, dkm_idx rows, dkm_idx j, dkm_idx count,
                     double beta, const double *W)
{
    dkm_idx pad = dkm_ts_nrhs_pad(count);

    for (dkm_idx a = 0; a < rows; a++) {
        double *c = p->C + (i + a) * p->ldc + j;
        for (dkm_idx b = 0; b < count; b++)
            c[b] = (beta == 0 ? 0 : beta * c[b]) + W[a * pad + b];
    }
}

/* One batch of terms [l, l + k), k at most BATCH, for a few columns: all rows of C, ROWS at a time.
 */
static void multiply_columns(const product *p, dkm_idx m, dkm_idx l, dkm_idx k, dkm_idx j,
                             dkm_idx count)
{
    double V[BATCH * DKM_NRHS_MAX], W[ROWS * DKM_NRHS_MAX];
    dkm_idx pad = dkm_ts_nrhs_pad(count);

    pack_columns(p, l, k, j, count, V);
    for (dkm_idx i = 0; i < m; i += ROWS) {
        dkm_idx rows = dkm_idx_min(ROWS, m - i);
        dkm_ts_tile by_row = {DKM_F64, k, rows, p->A.ld, p->A.a + i * p->A.ld + l};
        dkm_ts_tile by_col = {DKM_F64, rows, k, p->A.ld, p->A.a + l * p->A.ld + i};
        memset(W, 0, (size_t)(rows * pad) * sizeof *W);
        if (p->ta)
            dkm_ts_gemm_n(&by_col, pad, V, W);
        else
            dkm_ts_gemm_t(&by_row, pad, V, W);
        add_sums(p, i, rows, j, count, l > 0 ? 1.0 : p->beta, W);
    }
}

static void multiply(const product *p, dkm_idx m, dkm_idx n, dkm_idx k)
{
    for (dkm_idx l = 0; l < k; l += BATCH)
        for (dkm_idx j = 0; j < n; j += DKM_NRHS_MAX)
            multiply_columns(p, m, l, dkm_idx_min(BATCH, k - l), j,
                             dkm_idx_min(DKM_NRHS_MAX, n - j));
}

void dkm_repro_gemm(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A, dkm_row_block B,
                    double beta, double *C)
{
    multiply(&(product){0, 0, alpha, beta, A, B, C, n}, m, n, k);
}

void dkm_repro_gemm_nt(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A,
                       dkm_row_block B, double beta, double *C)
{
    multiply(&(product){0, 1, alpha, beta, A, B, C, n}, m, n, k);
}

void dkm_repro_gemm_tn(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A,
                       dkm_row_block B, double *C)
{
    multiply(&(product){1, 0, alpha, 1.0, A, B, C, n}, m, n, k);
}

int dkm_fixed_point_bits(double bound)
{
    enum { BITS = 62, LEAST = -900 }; /* of a bound, so that 2^-LEAST is a number */
    int e = 0;

    if (bound > 0)
        (void)frexp(bound, &e);
    return BITS - (e > LEAST ? e : LEAST);
}

double dkm_largest_size(dkm_idx n, const double *a, double most)
{
    for (dkm_idx i = 0; i < n; i++)
        if (!(fabs(a[i]) <= most))
            most = isnan(a[i]) ? INFINITY : fabs(a[i]);
    return most;
}

/* Sum k of @p count that each of the ranks has, in their order. */
static double total_of(const dkm_twosum *all, int ranks, dkm_idx count, dkm_idx k)
{
    dkm_twosum total = {0};

    for (int r = 0; r < ranks; r++) {
        dkm_twosum_add(&total, all[r * count + k].hi);
        dkm_twosum_add(&total, all[r * count + k].lo);
    }
    return total.hi + total.lo;
}

static dkm_status add_up_everywhere(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(ctx);
    dkm_twosum *all = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, count * size, &all));
    MPI_Allgather(sums, (int)(2 * count), MPI_DOUBLE, all, (int)(2 * count), MPI_DOUBLE,
                  dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < count; k++)
        sums[k] = (dkm_twosum){total_of(all, size, count, k), 0};
out:
    DKM_FREE(all);
    return status;
}

/* The body of an MPI_User_function: inout[k] += in[k]. */
static void add_twosums(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const dkm_twosum *more = in;
    dkm_twosum *sums = inout;

    (void)type;
    for (int k = 0; k < *count; k++) {
        dkm_twosum_add(&sums[k], more[k].hi);
        dkm_twosum_add(&sums[k], more[k].lo);
    }
}

/* One rank has them all added up on their way, and tells the others. */
static dkm_status add_up_in_a_tree(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums)
{
    dkm_status status = DKM_OK;
    double *totals = NULL;
    dkm_twosum *all = NULL;
    MPI_Datatype pair;
    MPI_Op add;

    DKM_AGREE(ctx, dkm_alloc(ctx, count, &totals));
    DKM_AGREE(ctx, dkm_alloc(ctx, count, &all));
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_twosums, 1, &add);
    MPI_Reduce(sums, all, (int)count, pair, add, 0, dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < count; k++)
        totals[k] = dkm_ctx_rank(ctx) == 0 ? all[k].hi + all[k].lo : 0;
    MPI_Bcast(totals, (int)count, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    MPI_Op_free(&add);
    MPI_Type_free(&pair);
    for (dkm_idx k = 0; k < count; k++)
        sums[k] = (dkm_twosum){totals[k], 0};
out:
    DKM_FREE(all);
    DKM_FREE(totals);
    return status;
}

/* Counts and places of what goes to each rank, of what comes from it, and of all totals. */
typedef struct exchange {
    int *to, *to_at, *from, *from_at, *totals, *totals_at;
} exchange;

static exchange plan_exchange(int rank, int size, dkm_idx count, int *numbers)
{
    exchange e = {numbers,
                  numbers + size,
                  numbers + 2 * size,
                  numbers + 3 * size,
                  numbers + 4 * size,
                  numbers + 5 * size};
    int mine = (int)dkm_slab_count(count, rank, size);

    for (int r = 0; r < size; r++) {
        e.totals[r] = (int)dkm_slab_count(count, r, size);
        e.totals_at[r] = (int)dkm_slab_first(count, r, size);
        e.to[r] = 2 * e.totals[r];
        e.to_at[r] = 2 * e.totals_at[r];
        e.from[r] = 2 * mine;
        e.from_at[r] = 2 * mine * r;
    }
    return e;
}

/* Each rank adds up a slab of them. */
static dkm_status add_up_by_slabs(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx), *numbers = NULL;
    dkm_idx mine = dkm_slab_count(count, rank, size);
    dkm_twosum *all = NULL;
    double *own = NULL, *totals = NULL;
    exchange e;

    DKM_AGREE(ctx, dkm_alloc(ctx, 6 * (dkm_idx)size, &numbers));
    DKM_AGREE(ctx, dkm_alloc(ctx, mine * size, &all));
    DKM_AGREE(ctx, dkm_alloc(ctx, mine, &own));
    DKM_AGREE(ctx, dkm_alloc(ctx, count, &totals));
    e = plan_exchange(rank, size, count, numbers);
    MPI_Alltoallv(sums, e.to, e.to_at, MPI_DOUBLE, all, e.from, e.from_at, MPI_DOUBLE,
                  dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < mine; k++)
        own[k] = total_of(all, size, mine, k);
    MPI_Allgatherv(own, (int)mine, MPI_DOUBLE, totals, e.totals, e.totals_at, MPI_DOUBLE,
                   dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < count; k++)
        sums[k] = (dkm_twosum){totals[k], 0};
out:
    DKM_FREE(totals);
    DKM_FREE(own);
    DKM_FREE(all);
    DKM_FREE(numbers);
    return status;
}

dkm_status dkm_twosum_allreduce(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums)
{
    dkm_status status = DKM_OK;

    if (count * dkm_ctx_size(ctx) <= FEW_SUMS)
        return add_up_everywhere(ctx, count, sums);
    if (count <= SOME_SUMS)
        return add_up_in_a_tree(ctx, count, sums);
    for (dkm_idx k = 0; k < count; k += MANY_SUMS)
        DKM_TRY(add_up_by_slabs(ctx, dkm_idx_min(count - k, MANY_SUMS), sums + k));
out:
    return status;
}
