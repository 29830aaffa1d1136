/* Q, the product of all I - V T V', from the last block of columns to the first: what is made of
 * the later ones is the identity in the rows and columns of the earlier. */
#include <string.h>

#include "scalapack/band_impl.h"
#include "scalapack/blas.h"

/* Q <- (I - V T V') Q for block of columns k, on rows and columns from `at` on. */
static void turn_back(dkm_reduction *d, dkm_idx k)
{
    dkm_band *band = d->band;
    dkm_idx first, mine, r, m;
    double *q;

    dkm_reduction_enter(d, k);
    m = d->rows;
    r = d->r;
    if (m == 0)
        return;
    dkm_reduction_gather(d, k, r, d->at, d->V);
    first = dkm_band_rows(d->ctx, d->at, d->b);
    mine = band->rows - first;
    q = band->Q + first + d->at * band->rows;
    for (dkm_idx j = 0; j < r; j++)
        for (dkm_idx i = 0; i < mine; i++)
            d->X[i + j * mine] = d->V[dkm_band_row(band, first + i) - d->at + j * m];
    memset(d->small, 0, (size_t)(r * m) * sizeof *d->small);
    if (mine > 0)
        dkm_blas_gemm(DKM_F64, 'T', 'N', r, m, mine, 1.0, d->X, mine, q, band->rows, 0.0, d->small,
                      r);
    dkm_reduction_add_up(d, r * m, d->small);
    if (mine > 0) {
        dkm_blas_gemm(DKM_F64, 'N', 'N', r, m, r, 1.0, d->T + k * d->b, d->b, d->small, r, 0.0,
                      d->AV, r);
        dkm_blas_gemm(DKM_F64, 'N', 'N', mine, m, r, -1.0, d->X, mine, d->AV, r, 1.0, q,
                      band->rows);
    }
}

static void set_identity(const dkm_reduction *d)
{
    dkm_band *band = d->band;

    memset(band->Q, 0, (size_t)(band->rows * d->n) * sizeof *band->Q);
    for (dkm_idx il = 0; il < band->rows; il++)
        band->Q[il + dkm_band_row(band, il) * band->rows] = 1.0;
}

void dkm_reduction_vectors(dkm_reduction *d)
{
    double n = (double)d->n;

    set_identity(d);
    for (dkm_idx k = (d->n - 1) / d->b * d->b; k >= 0; k -= d->b) {
        turn_back(d, k);
        dkm_progress(d->ctx, 2.0 * n - (double)k, 2.0 * n);
    }
}
