/* Forms Q of A = Q B Q': the product of all I - V T V', from the last block of columns to the
 * first. The product of the later factors is the identity in the rows and columns of the earlier
 * ones, which saves work (LAPACK dorgtr of a blocked reduction, ELPA trans_ev_band_to_full, DLAF
 * bt_reduction_to_band; Auckenthaler et al. 2011, Parallel Computing 37(12):783-794,
 * doi:10.1016/j.parco.2011.05.002).
 *
 * Rows of Q are dealt to all ranks in blocks of b. Cost per rank: 4/3 n^3 / ranks flops; n / b
 * times an allreduce of V and one of V'Q, 2 n b words at most, n^2 in all. Replicated: one V and
 * V'Q; n^2 / ranks numbers of Q are held per rank. */
#include <string.h>

#include "linalg/backend/blas.h"
#include "linalg/eigen/band_impl.h"

/* Q <- (I - V T V') Q for block of columns k, on rows and columns from `at` on. */
static void band_backtransform_block(dkm_band_reduction *d, dkm_idx k)
{
    dkm_band *band = d->band;
    dkm_idx first, mine, r, m;
    double *q;

    dkm_band_reduction_set_panel(d, k);
    m = d->rows;
    r = d->r;
    if (m == 0)
        return;
    dkm_band_reduction_allgather_panel(d, k, r, d->at, d->V);
    first = dkm_band_local_rows(d->ctx, d->at, d->b);
    mine = band->rows - first;
    q = band->Q + first + d->at * band->rows;
    for (dkm_idx j = 0; j < r; j++)
        for (dkm_idx i = 0; i < mine; i++)
            d->X[i + j * mine] = d->V[dkm_band_global_row(band, first + i) - d->at + j * m];
    memset(d->small, 0, (size_t)(r * m) * sizeof *d->small);
    if (mine > 0)
        dkm_blas_gemm(DKM_F64, 'T', 'N', r, m, mine, 1.0, d->X, mine, q, band->rows, 0.0, d->small,
                      r);
    dkm_band_reduction_allreduce(d, r * m, d->small);
    if (mine > 0) {
        dkm_blas_gemm(DKM_F64, 'N', 'N', r, m, r, 1.0, d->T + k * d->b, d->b, d->small, r, 0.0,
                      d->AV, r);
        dkm_blas_gemm(DKM_F64, 'N', 'N', mine, m, r, -1.0, d->X, mine, d->AV, r, 1.0, q,
                      band->rows);
    }
}

static void band_set_identity(const dkm_band_reduction *d)
{
    dkm_band *band = d->band;

    memset(band->Q, 0, (size_t)(band->rows * d->n) * sizeof *band->Q);
    for (dkm_idx il = 0; il < band->rows; il++)
        band->Q[il + dkm_band_global_row(band, il) * band->rows] = 1.0;
}

void dkm_band_reduction_form_q(dkm_band_reduction *d)
{
    double n = (double)d->n;

    band_set_identity(d);
    for (dkm_idx k = (d->n - 1) / d->b * d->b; k >= 0; k -= d->b) {
        band_backtransform_block(d, k);
        dkm_progress(d->ctx, 2.0 * n - (double)k, 2.0 * n);
    }
}
