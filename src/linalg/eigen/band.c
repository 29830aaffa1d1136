/* Uses of the reduction A = Q B Q': banded Cholesky factors of B + shift I (dpbtrf, dpbtrs), Q and
 * Q' applied to replicated vectors, and the diagonal of (A + shift I)^-1,
 *
 *     p_i = || row i of Q L^-T ||^2,   L L' = B + shift I,
 *
 * by block substitution along the rows of Q. Diagonal blocks of L are inverted first, so that it is
 * made of products.
 *
 * Cost per rank: n b^2 flops for a factor, replicated; 2 n^2 p / ranks and an allreduce of n p words
 * for Q applied to p vectors; 4 n^2 b / ranks (7/2, for what is zero in inverted triangles) and an
 * allreduce of n words for the diagonal, after 4/3 n b^2 for the inverted blocks, 2 n b numbers,
 * replicated.
 */
#include "core/minmax.h"
#include "linalg/eigen/band_impl.h"

#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"

#define HALF 32 /* columns of a diagonal block that are multiplied at a time */

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

/* With D_k = L_kk^-T and M_k = L_k,k-1' D_k of the blocks of columns of L, rows of Y = Q L^-T come from
 * products alone: Y_k = Q_k D_k - Y_k-1 M_k. In the layout of B a block L_kk and, an upper triangle,
 * L_k,k-1 are matrices with the leading dimension b, as D_k and M_k are, one behind the other. */
static void band_form_factors(const dkm_band *band, const double *L, double *D, double *M)
{
    const dkm_idx b = band->b;
    const double one = 1.0;

    memset(D, 0, (size_t)(band->n * b) * sizeof *D);
    memset(M, 0, (size_t)(band->n * b) * sizeof *M);
    for (dkm_idx at = 0; at < band->n; at += b) {
        const int w = (int)dkm_idx_min(b, band->n - at), ld = (int)b;
        const double *triangle = L + at * (b + 1), *left = L + (at - b) * (b + 1) + b;
        double *d = D + at * b, *m = M + at * b;
        int info = 0;
        for (dkm_idx j = 0; j < w; j++)
            for (dkm_idx i = 0; i <= j; i++)
                d[i + j * b] = triangle[j + i * b];
        dtrtri_("U", "N", &w, d, &ld, &info);
        if (at == 0)
            continue;
        for (dkm_idx i = 0; i < w; i++)
            for (dkm_idx j = i; j < b; j++)
                m[j + i * b] = left[i + j * b];
        dtrmm_("R", "U", "N", "N", &ld, &w, &one, d, &ld, m, &ld);
    }
}

/* The squares of rows [il, il + rows) of Q L^-T, a block of columns after the other, to p. */
static void band_add_squares(const dkm_band *band, const double *D, const double *M, dkm_idx il,
                             dkm_idx rows, double *const work[2], double *p)
{
    dkm_idx b = band->b;

    for (dkm_idx at = 0, turn = 0; at < band->n; at += b, turn++) {
        dkm_idx w = dkm_idx_min(b, band->n - at);
        const double *before = work[(turn + 1) % 2];
        double *y = work[turn % 2];
        for (dkm_idx j = 0; j < w; j += HALF) { /* D_k is an upper triangle */
            dkm_idx cols = dkm_idx_min(HALF, w - j);
            dkm_blas_gemm(DKM_F64, 'N', 'N', rows, cols, j + cols, 1.0,
                          band->Q + il + at * band->rows, band->rows, D + (at + j) * b, b, 0.0,
                          y + j * rows, rows);
            if (at > 0)
                dkm_blas_gemm(DKM_F64, 'N', 'N', rows, cols, b, -1.0, before, rows,
                              M + (at + j) * b, b, 1.0, y + j * rows, rows);
        }
        for (dkm_idx j = 0; j + 4 <= w; j += 4, y += 4 * rows)
            for (dkm_idx i = 0; i < rows; i++)
                p[i] += (y[i] * y[i] + y[i + rows] * y[i + rows]) +
                        (y[i + 2 * rows] * y[i + 2 * rows] + y[i + 3 * rows] * y[i + 3 * rows]);
        for (dkm_idx k = 0; k < w % 4 * rows; k++)
            p[k % rows] += y[k] * y[k];
    }
}

void dkm_band_inverse_diagonal(const dkm_band *band, const double *L, double *work, double *p)
{
    double *const halves[2] = {work, work + DKM_BAND_CHUNK * band->b};
    double *D = work + 2 * DKM_BAND_CHUNK * band->b, *M = D + band->n * band->b;
    double sums[DKM_BAND_CHUNK];

    memset(p, 0, (size_t)band->n * sizeof *p);
    band_form_factors(band, L, D, M);
    for (dkm_idx il = 0; il < band->rows; il += DKM_BAND_CHUNK) {
        dkm_idx rows = dkm_idx_min(DKM_BAND_CHUNK, band->rows - il);
        memset(sums, 0, sizeof sums);
        band_add_squares(band, D, M, il, rows, halves, sums);
        for (dkm_idx i = 0; i < rows; i++)
            p[dkm_band_global_row(band, il + i)] = sums[i];
    }
    band_allreduce(band, 1, p);
}
