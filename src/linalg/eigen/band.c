/* Uses of the reduction A = Q B Q': banded Cholesky factors of B + shift I (dpbtrf, dpbtrs), Q and
 * Q' applied to replicated vectors, and the diagonal of (A + shift I)^-1,
 *
 *     p_i = || row i of Q L^-T ||^2,   L L' = B + shift I,
 *
 * by block substitution along the rows of Q.
 *
 * Cost per rank: n b^2 flops for a factor, replicated; 2 n^2 p / ranks and an allreduce of n p
 * words for Q applied to p vectors; 2 n^2 b / ranks and an allreduce of n words for the diagonal.
 */
#include "core/minmax.h"
#include "linalg/eigen/band_impl.h"

#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"

void dkm_band_close(dkm_band *band)
{
    DKM_FREE(band->Q);
    DKM_FREE(band->B);
}

int dkm_band_pbtrf(const dkm_band *band, double shift, double *L)
{
    const int n = (int)band->n, b = (int)band->b, ld = b + 1;
    int info = 0;

    memcpy(L, band->B, (size_t)(band->n * (band->b + 1)) * sizeof *L);
    for (dkm_idx j = 0; j < band->n; j++)
        L[j * (band->b + 1)] += shift;
    dpbtrf_("L", &n, &b, L, &ld, &info);
    return info;
}

void dkm_band_pbtrs(const dkm_band *band, const double *L, dkm_idx p, double *X)
{
    const int n = (int)band->n, b = (int)band->b, ld = b + 1, p_ = (int)p;
    int info = 0;

    dpbtrs_("L", &n, &b, &p_, L, &ld, X, &n, &info);
}

dkm_idx dkm_band_global_row(const dkm_band *band, dkm_idx il)
{
    return (il / band->b * dkm_ctx_size(band->ctx) + dkm_ctx_rank(band->ctx)) * band->b +
           il % band->b;
}

static void band_allreduce(const dkm_band *band, dkm_idx columns, double *a)
{
    const dkm_idx most = 1 << 26;

    for (dkm_idx k = 0; k < band->n * columns; k += most)
        MPI_Allreduce(MPI_IN_PLACE, a + k, (int)dkm_idx_min(most, band->n * columns - k),
                      MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(band->ctx));
}

void dkm_band_apply_q(const dkm_band *band, char op, dkm_idx p, const double *X, double *Y)
{
    dkm_idx n = band->n;

    memset(Y, 0, (size_t)(n * p) * sizeof *Y);
    for (dkm_idx il = 0; il < band->rows; il += band->b) {
        dkm_idx ig = dkm_band_global_row(band, il), rows = dkm_idx_min(band->b, band->rows - il);
        if (op == 'T')
            dkm_blas_gemm(DKM_F64, 'T', 'N', n, p, rows, 1.0, band->Q + il, band->rows, X + ig, n,
                          1.0, Y, n);
        else
            dkm_blas_gemm(DKM_F64, 'N', 'N', rows, p, n, 1.0, band->Q + il, band->rows, X, n, 0.0,
                          Y + ig, n);
    }
    band_allreduce(band, p, Y);
}

/* One block of columns of L: its triangle, and what stands left of it, an upper triangle. In the
 * layout of B both are matrices with the leading dimension b. */
typedef struct band_block {
    dkm_idx at, w; /* columns */
    const double *triangle, *left;
} band_block;

static band_block band_block_of(const dkm_band *band, const double *L, dkm_idx at)
{
    dkm_idx b = band->b;
    const double *triangle = L + at * (b + 1);

    return (band_block){at, dkm_idx_min(b, band->n - at), triangle,
                        at > 0 ? L + (at - b) * (b + 1) + b : NULL};
}

/* y <- (x - before left') triangle^-T for some rows, where before is destroyed. */
static void band_trsv(const dkm_band *band, const band_block *l, dkm_idx rows, double *before,
                      double *y)
{
    const int m = (int)rows, w = (int)l->w, b = (int)band->b;
    const double one = 1.0;

    if (l->left) {
        dtrmm_("R", "U", "T", "N", &m, &w, &one, l->left, &b, before, &m);
        for (dkm_idx k = 0; k < rows * l->w; k++)
            y[k] -= before[k];
        if (l->w < band->b)
            dkm_blas_gemm(DKM_F64, 'N', 'T', rows, l->w, band->b - l->w, -1.0, before + rows * l->w,
                          rows, l->left + l->w * band->b, band->b, 1.0, y, rows);
    }
    dkm_blas_trsm_right(DKM_F64, 'T', rows, l->w, l->triangle, band->b, y, rows);
}

/* Rows [il, il + rows) of Q L^-T, a block of columns after the other; their squares to p. */
static void band_add_squares(const dkm_band *band, const double *L, dkm_idx il, dkm_idx rows,
                             double *const work[2], double *p)
{
    for (dkm_idx at = 0, turn = 0; at < band->n; at += band->b, turn++) {
        band_block l = band_block_of(band, L, at);
        double *y = work[turn % 2];
        for (dkm_idx j = 0; j < l.w; j++)
            memcpy(y + j * rows, band->Q + il + (at + j) * band->rows, (size_t)rows * sizeof *y);
        band_trsv(band, &l, rows, work[(turn + 1) % 2], y);
        for (dkm_idx j = 0; j < l.w; j++)
            for (dkm_idx i = 0; i < rows; i++)
                p[i] += y[i + j * rows] * y[i + j * rows];
    }
}

void dkm_band_inverse_diagonal(const dkm_band *band, const double *L, double *work, double *p)
{
    double *const halves[2] = {work, work + DKM_BAND_CHUNK * band->b};
    double sums[DKM_BAND_CHUNK];

    memset(p, 0, (size_t)band->n * sizeof *p);
    for (dkm_idx il = 0; il < band->rows; il += DKM_BAND_CHUNK) {
        dkm_idx rows = dkm_idx_min(DKM_BAND_CHUNK, band->rows - il);
        memset(sums, 0, sizeof sums);
        band_add_squares(band, L, il, rows, halves, sums);
        for (dkm_idx i = 0; i < rows; i++)
            p[dkm_band_global_row(band, il + i)] = sums[i];
    }
    band_allreduce(band, 1, p);
}
