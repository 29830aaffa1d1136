/* Full-to-band reduction of a symmetric matrix: A = Q B Q', B with b subdiagonals, b the block
 * size.
 *
 * Bischof, Lang and Sun 2000, ACM TOMS 26(4):581-601, doi:10.1145/365723.365735 (LAPACK
 * dsytrd_sy2sb, SLATE he2hb; the first of the two stages of Auckenthaler et al. 2011, Parallel
 * Computing 37(12):783-794, doi:10.1016/j.parco.2011.05.002). The part P of a block of columns
 * below its diagonal block is gathered on every rank and factored, P = (I - V T V') R (compact WY;
 * Schreiber and Van Loan 1989, SIAM J. Sci. Stat. Comput. 10(1):53-57, doi:10.1137/0910005): R goes
 * into the band. The trailing triangle becomes
 *
 *     (I - V T V')' A (I - V T V') = A - V X' - X V',   X = Y - V (T'V'Y) / 2,   Y = A V T
 *
 * where each rank computes its part of A V, and of the update, from its own tiles. V is stored in
 * place of P; Q is formed from it (bt_reduction_to_band.c).
 *
 * Cost per rank: 4/3 n^3 / ranks flops, and about 4 n^2 b for the panels, which are replicated;
 * n / b times two allreduces of at most n b words, n^2 words in all. Replicated: the panel, V, X
 * and A V, 4 n b numbers, all T, n b numbers, V'Q, 2 n b, and the band, n (b + 1). */
#include <assert.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"
#include "linalg/eigen/band_impl.h"
#include "matrix/dmat_impl.h"

dkm_idx dkm_band_local_rows(const dkm_ctx *ctx, dkm_idx n, dkm_idx b)
{
    return dkm_cyclic_count(n, b, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

double dkm_band_bytes(const dkm_dmat *A)
{
    double n = (double)A->n, b = (double)A->nb;
    double rows = (double)dkm_band_local_rows(dkm_grid_ctx(A->grid), A->n, A->nb);

    return 8.0 * (rows * (n + 2 * DKM_BAND_GROUP * b) + 3.0 * b * (double)(A->m_loc + A->n_loc)) +
           dkm_band_replicated_bytes(A);
}

double dkm_band_replicated_bytes(const dkm_dmat *A)
{
    return 8.0 * 9.0 * (double)A->nb * (double)A->n;
}

static dkm_local band_reduction_open(dkm_band_reduction *d, dkm_dmat *A, dkm_band *band)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_idx n = A->n, b = A->nb, blocks = (n + b - 1) / b;

    *band = (dkm_band){.ctx = ctx, .n = n, .b = b, .rows = dkm_band_local_rows(ctx, n, b)};
    *d = (dkm_band_reduction){.A = A, .band = band, .ctx = ctx, .n = n, .b = b};
    d->p = dkm_grid_row(A->grid);
    d->q = dkm_grid_col(A->grid);
    d->P = dkm_grid_rows(A->grid);
    d->Q = dkm_grid_cols(A->grid);
    DKM_STEP(dkm_calloc(ctx, (b + 1) * n, &band->B));
    DKM_STEP(dkm_alloc(ctx, band->rows * n, &band->Q));
    DKM_STEP(dkm_alloc(ctx, DKM_BAND_GROUP * n * b, &d->panels));
    DKM_STEP(dkm_alloc(ctx, A->m_loc, &d->row_of));
    DKM_STEP(dkm_alloc(ctx, A->n_loc, &d->col_of));
    DKM_STEP(dkm_calloc(ctx, blocks * b * b, &d->T));
    DKM_STEP(dkm_alloc(ctx, b, &d->tau));
    DKM_STEP(dkm_alloc(ctx, 64 * b, &d->work));
    DKM_STEP(dkm_alloc(ctx, A->m_loc * 2 * b, &d->in_rows));
    DKM_STEP(dkm_alloc(ctx, A->n_loc * 2 * b, &d->in_cols));
    DKM_STEP(dkm_alloc(ctx, A->m_loc * b, &d->by_rows));
    DKM_STEP(dkm_alloc(ctx, A->n_loc * b, &d->by_cols));
    DKM_STEP(dkm_alloc(ctx, 2 * b * n, &d->small));
    DKM_STEP(dkm_alloc(ctx, b * b, &d->square));
    DKM_STEP(dkm_alloc(ctx, 2 * DKM_BAND_GROUP * b * band->rows, &d->own_V));
    DKM_STEP(dkm_alloc(ctx, DKM_BAND_GROUP * b * DKM_BAND_GROUP * b, &d->group_T));
    d->panel = d->panels;
    d->V = d->panel + n * b;
    d->X = d->V + n * b;
    d->AV = d->X + n * b;
    for (dkm_idx il = 0; il < A->m_loc; il++)
        d->row_of[il] = dkm_dmat_global_row(A, il);
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        d->col_of[jl] = dkm_dmat_global_col(A, jl);
out:
    return local;
}

static void band_reduction_close(dkm_band_reduction *d)
{
    DKM_FREE(d->group_T);
    DKM_FREE(d->own_V);
    DKM_FREE(d->square);
    DKM_FREE(d->small);
    DKM_FREE(d->by_cols);
    DKM_FREE(d->by_rows);
    DKM_FREE(d->in_cols);
    DKM_FREE(d->in_rows);
    DKM_FREE(d->work);
    DKM_FREE(d->tau);
    DKM_FREE(d->T);
    DKM_FREE(d->col_of);
    DKM_FREE(d->row_of);
    DKM_FREE(d->panels);
}

void dkm_band_reduction_allreduce(const dkm_band_reduction *d, dkm_idx count, double *a)
{
    const dkm_idx most = 1 << 26;

    for (dkm_idx k = 0; k < count; k += most)
        MPI_Allreduce(MPI_IN_PLACE, a + k, (int)dkm_idx_min(most, count - k), MPI_DOUBLE, MPI_SUM,
                      dkm_ctx_comm(d->ctx));
}

/* Rows from @p first on of block of columns k, on every rank: (n - first) x w. */
void dkm_band_reduction_allgather_panel(dkm_band_reduction *d, dkm_idx k, dkm_idx w, dkm_idx first,
                                        double *to)
{
    const dkm_dmat *A = d->A;
    dkm_idx rows = d->n - first, jl;

    memset(to, 0, (size_t)(rows * w) * sizeof *to);
    if (d->p >= 0 && dkm_cyclic_owner(k, A->nb, d->Q) == d->q) {
        jl = dkm_cyclic_local(k, A->nb, d->Q);
        for (dkm_idx j = 0; j < w; j++)
            for (dkm_idx il = dkm_cyclic_count(first, A->mb, d->p, d->P); il < A->m_loc; il++)
                to[d->row_of[il] - first + j * rows] = A->a.f64[il + (jl + j) * A->ld];
    }
    dkm_band_reduction_allreduce(d, rows * w, to);
}

/* V in the place that P had. */
static void band_store_reflectors(dkm_band_reduction *d, dkm_idx k)
{
    dkm_dmat *A = d->A;
    dkm_idx jl;

    if (d->p < 0 || dkm_cyclic_owner(k, A->nb, d->Q) != d->q)
        return;
    jl = dkm_cyclic_local(k, A->nb, d->Q);
    for (dkm_idx j = 0; j < d->r; j++)
        for (dkm_idx il = d->row0; il < A->m_loc; il++)
            A->a.f64[il + (jl + j) * A->ld] = d->V[d->row_of[il] - d->at + j * d->rows];
}

/* The diagonal block, and what is in R, to the band. */
static void band_store_diagonals(dkm_band_reduction *d, dkm_idx k, dkm_idx w)
{
    dkm_idx high = d->n - k, ld = d->b + 1;

    for (dkm_idx j = 0; j < w; j++)
        for (dkm_idx i = j; i < w; i++)
            d->band->B[i - j + (k + j) * ld] = d->panel[i + j * high];
    for (dkm_idx j = 0; j < w && d->rows > 0; j++)
        for (dkm_idx i = 0; i <= j && i < d->rows; i++)
            d->band->B[d->b + i - j + (k + j) * ld] = d->V[i + j * d->rows];
}

/* P = (I - V T V') R, all of it on every rank. */
static void band_qr_panel(dkm_band_reduction *d, dkm_idx k, dkm_idx w)
{
    const int rows = (int)d->rows, w_ = (int)w, r = (int)d->r, ld = (int)d->b;
    const int lwork = 64 * ld;
    int info = 0;

    for (dkm_idx j = 0; j < w; j++)
        memcpy(d->V + j * d->rows, d->panel + d->b + j * (d->n - k),
               (size_t)d->rows * sizeof *d->V);
    dgeqrf_(&rows, &w_, d->V, &rows, d->tau, d->work, &lwork, &info);
    band_store_diagonals(d, k, w);
    for (dkm_idx j = 0; j < d->r; j++) {
        memset(d->V + j * d->rows, 0, (size_t)j * sizeof *d->V);
        d->V[j + j * d->rows] = 1.0;
    }
    dlarft_("F", "C", &rows, &r, d->V, &rows, d->tau, d->T + k * d->b, &ld);
}

/* Local rows or columns of a trailing matrix that all ranks have. */
static void band_gather_rows(const dkm_band_reduction *d, const double *all, double *to)
{
    dkm_idx ld = d->A->m_loc - d->row0;

    for (dkm_idx j = 0; j < d->r; j++)
        for (dkm_idx il = 0; il < ld; il++)
            to[il + j * ld] = all[d->row_of[il + d->row0] - d->at + j * d->rows];
}

static void band_gather_cols(const dkm_band_reduction *d, const double *all, double *to)
{
    dkm_idx ld = d->A->n_loc - d->col0;

    for (dkm_idx j = 0; j < d->r; j++)
        for (dkm_idx jl = 0; jl < ld; jl++)
            to[jl + j * ld] = all[d->col_of[jl + d->col0] - d->at + j * d->rows];
}

/* What is done with rows [row, edge) of local columns [jl, jl + n): below the diagonal, or a
 * diagonal block. */
typedef void visit(dkm_band_reduction *d, dkm_idx row, dkm_idx edge, dkm_idx jl, dkm_idx n,
                   int diagonal);

static dkm_idx rows_until(const dkm_band_reduction *d, dkm_idx jl)
{
    return dkm_cyclic_count(dkm_dmat_global_col(d->A, jl) + 1, d->A->mb, d->p, d->P);
}

/* Local blocks of columns [first, end) down to local row @p edge: a rectangle below the diagonal
 * blocks of all of them, and two halves of the same kind. */
static void band_for_each_tile(dkm_band_reduction *d, dkm_idx first, dkm_idx end, dkm_idx edge,
                               visit *see)
{
    const dkm_dmat *A = d->A;
    dkm_idx jl = first * A->nb, n = dkm_idx_min(end * A->nb, A->n_loc) - jl;
    dkm_idx below = rows_until(d, jl + n - 1), middle = first + (end - first) / 2, above;

    if (below < edge)
        see(d, below, edge, jl, n, 0);
    if (end - first > 1) {
        band_for_each_tile(d, first, middle, below, see);
        band_for_each_tile(d, middle, end, below, see);
        return;
    }
    above = dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, d->p, d->P);
    if (above < below)
        see(d, above, below, jl, n, 1);
}

#define GROUP 512 /* local columns at a time, about */

static void band_for_each_group(dkm_band_reduction *d, visit *see)
{
    dkm_idx nb = d->A->nb, each = nb < GROUP ? GROUP / nb : 1;
    dkm_idx first = (d->col0 + nb - 1) / nb, end = (d->A->n_loc + nb - 1) / nb;

    for (; first < end; first += each)
        band_for_each_tile(d, first, dkm_idx_min(first + each, end), d->A->m_loc, see);
}

/* The diagonal block with both triangles, in place of A's. */
static const double *band_symmetrize_tile(dkm_band_reduction *d, const double *a, dkm_idx n)
{
    for (dkm_idx j = 0; j < n; j++)
        for (dkm_idx i = j; i < n; i++)
            d->square[i + j * n] = d->square[j + i * n] = a[i + j * d->A->ld];
    return d->square;
}

static void band_multiply_tile(dkm_band_reduction *d, dkm_idx row, dkm_idx edge, dkm_idx jl,
                               dkm_idx n, int diagonal)
{
    const double *a = d->A->a.f64 + row + jl * d->A->ld;
    dkm_idx lr = d->A->m_loc - d->row0, lc = d->A->n_loc - d->col0, lda = d->A->ld;
    dkm_idx i = row - d->row0, j = jl - d->col0;

    if (diagonal) {
        a = band_symmetrize_tile(d, a, n);
        lda = n;
    }
    dkm_blas_gemm(DKM_F64, 'N', 'N', edge - row, d->r, n, 1.0, a, lda, d->in_cols + j, lc, 1.0,
                  d->by_rows + i, lr);
    if (!diagonal)
        dkm_blas_gemm(DKM_F64, 'T', 'N', n, d->r, edge - row, 1.0, a, lda, d->in_rows + i, lr, 1.0,
                      d->by_cols + j, lc);
}

/* A <- A - [V X] [X V]'; the upper triangle of a diagonal block has no meaning. */
static void band_update_tile(dkm_band_reduction *d, dkm_idx row, dkm_idx edge, dkm_idx jl,
                             dkm_idx n, int diagonal)
{
    dkm_idx lr = d->A->m_loc - d->row0, lc = d->A->n_loc - d->col0;

    (void)diagonal;
    dkm_blas_gemm(DKM_F64, 'N', 'T', edge - row, n, 2 * d->r, -1.0, d->in_rows + row - d->row0, lr,
                  d->in_cols + jl - d->col0, lc, 1.0, d->A->a.f64 + row + jl * d->A->ld, d->A->ld);
}

/* A V over all ranks, for the trailing A. */
static void band_multiply_av(dkm_band_reduction *d)
{
    const dkm_dmat *A = d->A;
    dkm_idx lr = A->m_loc - d->row0, lc = A->n_loc - d->col0;

    memset(d->AV, 0, (size_t)(d->rows * d->r) * sizeof *d->AV);
    if (d->p >= 0) {
        band_gather_rows(d, d->V, d->in_rows);
        band_gather_cols(d, d->V, d->in_cols);
        memset(d->by_rows, 0, (size_t)(lr * d->r) * sizeof *d->by_rows);
        memset(d->by_cols, 0, (size_t)(lc * d->r) * sizeof *d->by_cols);
        band_for_each_group(d, band_multiply_tile);
        for (dkm_idx j = 0; j < d->r; j++) {
            double *to = d->AV + j * d->rows;
            for (dkm_idx il = 0; il < lr; il++)
                to[d->row_of[il + d->row0] - d->at] += d->by_rows[il + j * lr];
            for (dkm_idx jl = 0; jl < lc; jl++)
                to[d->col_of[jl + d->col0] - d->at] += d->by_cols[jl + j * lc];
        }
    }
    dkm_band_reduction_allreduce(d, d->rows * d->r, d->AV);
}

/* X = Y - V (T'V'Y) / 2 with Y = A V T. */
static void band_form_x(dkm_band_reduction *d, const double *T)
{
    dkm_idx m = d->rows, r = d->r, b = d->b;

    dkm_blas_gemm(DKM_F64, 'N', 'N', m, r, r, 1.0, d->AV, m, T, b, 0.0, d->X, m);
    dkm_blas_gemm(DKM_F64, 'T', 'N', r, r, m, 1.0, d->V, m, d->X, m, 0.0, d->small, r);
    dkm_blas_gemm(DKM_F64, 'T', 'N', r, r, r, 1.0, T, b, d->small, r, 0.0, d->square, r);
    dkm_blas_gemm(DKM_F64, 'N', 'N', m, r, r, -0.5, d->V, m, d->square, r, 1.0, d->X, m);
}

static void band_update_trailing(dkm_band_reduction *d)
{
    dkm_idx lr = d->A->m_loc - d->row0, lc = d->A->n_loc - d->col0;

    if (d->p < 0)
        return;
    band_gather_rows(d, d->V, d->in_rows);
    band_gather_rows(d, d->X, d->in_rows + lr * d->r);
    band_gather_cols(d, d->X, d->in_cols);
    band_gather_cols(d, d->V, d->in_cols + lc * d->r);
    band_for_each_group(d, band_update_tile);
}

/* Where the rows below block of columns k begin. */
void dkm_band_reduction_set_panel(dkm_band_reduction *d, dkm_idx k)
{
    dkm_idx w = dkm_idx_min(d->b, d->n - k);

    d->at = k + w;
    d->rows = d->n - d->at;
    d->r = dkm_idx_min(d->rows, w);
    d->row0 = d->p < 0 ? 0 : dkm_cyclic_count(d->at, d->A->mb, d->p, d->P);
    d->col0 = d->p < 0 ? 0 : dkm_cyclic_count(d->at, d->A->nb, d->q, d->Q);
}

static void band_eliminate_panel(dkm_band_reduction *d, dkm_idx k)
{
    dkm_idx w = dkm_idx_min(d->b, d->n - k);

    dkm_band_reduction_set_panel(d, k);
    dkm_band_reduction_allgather_panel(d, k, w, k, d->panel);
    if (d->rows == 0) {
        band_store_diagonals(d, k, w);
        return;
    }
    band_qr_panel(d, k, w);
    band_store_reflectors(d, k);
    band_multiply_av(d);
    band_form_x(d, d->T + k * d->b);
    band_update_trailing(d);
}

dkm_status dkm_band_reduce(dkm_dmat *A, dkm_band *band)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    double n = (double)A->n;
    dkm_band_reduction d = {0};

    assert(A->m == A->n && A->mb == A->nb && A->precision == DKM_F64);
    DKM_AGREE(ctx, band_reduction_open(&d, A, band));
    dkm_blas_use_threads(ctx);
    for (dkm_idx k = 0; k < d.n; k += d.b) {
        band_eliminate_panel(&d, k);
        dkm_progress(ctx, (double)k, 2.0 * n);
    }
    dkm_band_reduction_form_q(&d);
    dkm_phase_flops(ctx, 8.0 / 3.0 * n * n * n / dkm_ctx_size(ctx));
out:
    band_reduction_close(&d);
    return status;
}
