/* Products and sums that are the same to the last bit on any number of ranks and threads. Sums over
 * ranks are compensated: TwoSum (Knuth; Ogita, Rump and Oishi 2005, SIAM J. Sci. Comput.
 * 26(6):1955-1988, doi:10.1137/030601818), a pair hi + lo per number, added in the order of the
 * ranks. Products are made by the tall-skinny micro-kernel, DKM_NRHS_MAX columns at a time: it adds
 * up the terms of every element in the order of their index. BLAS does not, as the order at the
 * edges of its blocks is another one, and where those are depends on shapes and threads.
 *
 * Cost: 2 m n k flops, n padded to a multiple of 8; dkm_twosum_allreduce() sends 2 ranks words per
 * number. Replicated: nothing; workspace of (BATCH + ROWS) DKM_NRHS_MAX numbers, and of 2 SUMS per
 * rank for sums. */
#include "models/common/reproducible.h"

#include <dkmap/grid.h>

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/kernels/gemm_tallskinny.h"

#define PANEL_NUMBERS 2097152 /* of a panel: 16 MiB */
#define BATCH         256     /* terms, and rows of a panel, at a time */
#define ROWS          64      /* rows that are multiplied with a few columns at once */
#define SUMS          16384   /* sums over the ranks at once: 256 KiB of each rank */

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

dkm_status dkm_twosum_allreduce(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(ctx);
    dkm_twosum *all = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_idx_min(count, SUMS) * size, &all));
    for (dkm_idx from = 0; from < count; from += SUMS) {
        dkm_idx n = dkm_idx_min(count - from, SUMS);
        MPI_Allgather(sums + from, (int)(2 * n), MPI_DOUBLE, all, (int)(2 * n), MPI_DOUBLE,
                      dkm_ctx_comm(ctx));
        for (dkm_idx k = 0; k < n; k++) {
            dkm_twosum total = {0};
            for (int r = 0; r < size; r++) {
                dkm_twosum_add(&total, all[r * n + k].hi);
                dkm_twosum_add(&total, all[r * n + k].lo);
            }
            sums[from + k] = (dkm_twosum){total.hi + total.lo, 0};
        }
    }
out:
    DKM_FREE(all);
    return status;
}
