/* Products and sums that are the same to the last bit on any number of ranks. Sums over ranks are
 * compensated: TwoSum (Knuth; Ogita, Rump and Oishi 2005, SIAM J. Sci. Comput. 26(6):1955-1988,
 * doi:10.1137/030601818), a pair hi + lo per number, added in the order of the ranks. Products go
 * to BLAS in blocks of fixed shape.
 *
 * Cost: that of gemm, padded to multiples of UNIT; dkm_twosum_allreduce() sends 2 ranks words per
 * number. */
#include "models/common/reproducible.h"

#include <dkmap/grid.h>

#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny.h"

#define PANEL_NUMBERS 2097152 /* of a panel: 16 MiB */
#define STRETCH       256     /* terms that one product adds up */
#define UNIT          8       /* rows and columns come in multiples of this */
#define FEW           64      /* rows that are multiplied with a few columns at once */

dkm_idx dkm_repro_panel_rows(dkm_idx width)
{
    dkm_idx rows = width > 0 ? PANEL_NUMBERS / width : STRETCH;

    return rows < 1 ? 1 : rows > STRETCH ? STRETCH : rows;
}

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
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
        from = from > first ? from : first;
        to = least(to, first + count);
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

/* A product C (m x n) = beta C + alpha op(A) op(B), all row-major: op(A) is m x k, A itself k x m
 * where ta is set; likewise B. */
typedef struct product {
    int ta, tb;
    dkm_idx k;
    double alpha, beta;
    dkm_row_block A, B;
    double *C;
    dkm_idx ldc;
} product;

/* Row-major C is column-major C': C' = op(B)' op(A)'. */
static void reproducible_multiply(const product *p, dkm_idx m, dkm_idx n)
{
    dkm_blas_gemm(DKM_F64, p->tb ? 'T' : 'N', p->ta ? 'T' : 'N', n, m, p->k, p->alpha, p->B.a,
                  p->B.ld, p->A.a, p->A.ld, p->beta, p->C, p->ldc);
}

static dkm_row_block from_row(const product *p, dkm_idx i)
{
    return (dkm_row_block){p->A.a + (p->ta ? i : i * p->A.ld), p->A.ld};
}

static dkm_row_block from_col(const product *p, dkm_idx j)
{
    return (dkm_row_block){p->B.a + (p->tb ? j * p->B.ld : j), p->B.ld};
}

/* The last rows of op(A), or columns of op(B), among zeros that make them UNIT, as rows of k. */
static void reproducible_pad(dkm_row_block X, int turned, dkm_idx count, dkm_idx k, double *out)
{
    for (dkm_idx i = 0; i < UNIT; i++)
        for (dkm_idx l = 0; l < k; l++)
            out[i * k + l] = i >= count ? 0 : turned ? X.a[l * X.ld + i] : X.a[i * X.ld + l];
}

static void reproducible_keep(const product *p, dkm_idx i, dkm_idx j, dkm_idx m, dkm_idx n,
                              const double *from, dkm_idx ld)
{
    for (dkm_idx a = 0; a < m; a++)
        for (dkm_idx b = 0; b < n; b++) {
            double *c = p->C + (i + a) * p->ldc + j + b;
            *c = (p->beta == 0 ? 0 : p->beta * *c) + from[a * ld + b];
        }
}

/* The last rows of C. @p padded holds theirs of op(A). */
static void finish_rows(const product *p, dkm_idx m, dkm_idx n, const double *padded)
{
    double out[UNIT * STRETCH];
    dkm_idx whole = n / UNIT * UNIT, i = m / UNIT * UNIT;

    for (dkm_idx j = 0; j < whole; j += STRETCH) {
        dkm_idx count = least(STRETCH, whole - j);
        product part = {0, p->tb, p->k, p->alpha, 0, {padded, p->k}, from_col(p, j), out, count};
        reproducible_multiply(&part, UNIT, count);
        reproducible_keep(p, i, j, m - i, count, out, count);
    }
}

/* The last columns of C, the corner included. */
static void finish_cols(const product *p, dkm_idx m, dkm_idx n, const double *padded)
{
    double out[UNIT * STRETCH], cols[UNIT * STRETCH];
    dkm_idx whole = m / UNIT * UNIT, j = n / UNIT * UNIT;

    reproducible_pad(from_col(p, j), !p->tb, n - j, p->k, cols);
    for (dkm_idx i = 0; i < whole; i += STRETCH) {
        dkm_idx count = least(STRETCH, whole - i);
        product part = {p->ta, 1, p->k, p->alpha, 0, from_row(p, i), {cols, p->k}, out, UNIT};
        reproducible_multiply(&part, count, UNIT);
        reproducible_keep(p, i, j, count, n - j, out, UNIT);
    }
    if (whole < m) {
        product part = {0, 1, p->k, p->alpha, 0, {padded, p->k}, {cols, p->k}, out, UNIT};
        reproducible_multiply(&part, UNIT, UNIT);
        reproducible_keep(p, whole, j, m - whole, n - j, out, UNIT);
    }
}

/* BLAS may add up in another order at the edges of a matrix, and where those are depends on how
 * many rows a rank has: it only gets multiples of UNIT. k is at most STRETCH. */
static void multiply_alike(const product *p, dkm_idx m, dkm_idx n)
{
    double padded[UNIT * STRETCH];
    dkm_idx i = m / UNIT * UNIT, j = n / UNIT * UNIT;

    reproducible_multiply(p, i, j);
    if (i < m) {
        reproducible_pad(from_row(p, i), p->ta, m - i, p->k, padded);
        finish_rows(p, m, n, padded);
    }
    if (j < n)
        finish_cols(p, m, n, padded);
}

/* The same for a few columns and a batch of terms. Each row is added up by itself. */
static void multiply_narrow(const product *p, dkm_idx m, dkm_idx n)
{
    double wide[STRETCH * DKM_NRHS_MAX] = {0}, out[FEW * DKM_NRHS_MAX];
    dkm_idx lanes = dkm_ts_nrhs_pad(n);

    for (dkm_idx l = 0; l < p->k; l++)
        for (dkm_idx j = 0; j < n; j++)
            wide[l * lanes + j] = p->alpha * p->B.a[l * p->B.ld + j];
    for (dkm_idx i = 0; i < m; i += FEW) {
        dkm_ts_tile tile = {DKM_F64, p->k, least(FEW, m - i), p->A.ld, p->A.a + i * p->A.ld};
        memset(out, 0, sizeof out);
        dkm_ts_gemm_t(&tile, lanes, wide, out);
        reproducible_keep(p, i, 0, tile.nb, n, out, lanes);
    }
}

void dkm_repro_gemm(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A, dkm_row_block B,
                    double beta, double *C)
{
    for (dkm_idx at = 0; at < k; at += STRETCH) {
        product p = {0,
                     0,
                     least(STRETCH, k - at),
                     alpha,
                     at ? 1.0 : beta,
                     {A.a + at, A.ld},
                     {B.a + at * B.ld, B.ld},
                     C,
                     n};
        if (n <= DKM_NRHS_MAX)
            multiply_narrow(&p, m, n);
        else
            multiply_alike(&p, m, n);
    }
}

void dkm_repro_gemm_nt(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A,
                       dkm_row_block B, double beta, double *C)
{
    for (dkm_idx at = 0; at < k; at += STRETCH) {
        product p = {0,
                     1,
                     least(STRETCH, k - at),
                     alpha,
                     at ? 1.0 : beta,
                     {A.a + at, A.ld},
                     {B.a + at, B.ld},
                     C,
                     n};
        multiply_alike(&p, m, n);
    }
}

void dkm_repro_gemm_tn(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A,
                       dkm_row_block B, double *C)
{
    product p = {1, 0, k, alpha, 1.0, A, B, C, n};

    multiply_alike(&p, m, n);
}

dkm_status dkm_twosum_allreduce(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(ctx);
    dkm_twosum *all = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, count * size, &all));
    MPI_Allgather(sums, (int)(2 * count), MPI_DOUBLE, all, (int)(2 * count), MPI_DOUBLE,
                  dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < count; k++) {
        dkm_twosum total = {0};
        for (int r = 0; r < size; r++) {
            dkm_twosum_add(&total, all[r * count + k].hi);
            dkm_twosum_add(&total, all[r * count + k].lo);
        }
        sums[k] = (dkm_twosum){total.hi + total.lo, 0};
    }
out:
    DKM_FREE(all);
    return status;
}
