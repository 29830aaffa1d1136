/* Forms Q of A = Q B Q': the product of all I - V T V', from the last block of columns to the
 * first. The product of the later factors is the identity in the rows and columns of the earlier
 * ones, which saves work (LAPACK dorgtr of a blocked reduction, ELPA trans_ev_band_to_full, DLAF
 * bt_reduction_to_band; Auckenthaler et al. 2011, Parallel Computing 37(12):783-794,
 * doi:10.1016/j.parco.2011.05.002).
 *
 * The factors of DKM_BAND_GROUP blocks are applied as one.
 *
 * Rows of Q are dealt to all ranks in blocks of b. Cost per rank: 4/3 n^3 / ranks flops; n / b
 * times an allreduce of V and one of V'Q, 2 n b words at most, n^2 in all. Replicated: V of a group, where
 * the panels of the reduction were, and V'Q, 2 n b numbers; n^2 / ranks numbers of Q are held per rank,
 * and 8 n b / ranks of V and V T. */
#include <string.h>

#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/band_impl.h"

/* V of the blocks of columns from @p k to @p end, one behind the other from row @p at on, and their T,
 *
 *     T = [T1  -T1 (V1'V2) T2;  0  T2],
 *
 * on every rank; returns how many reflectors they are. Collective. */
static dkm_idx band_gather_group(dkm_band_reduction *d, dkm_idx k, dkm_idx end, dkm_idx at)
{
    dkm_idx m = d->n - at, count = 0, ldt = DKM_BAND_GROUP * d->b;

    memset(d->group_T, 0, (size_t)(ldt * ldt) * sizeof *d->group_T);
    for (; k < end; k += d->b) {
        double *V = d->panels + count * m, *T = d->group_T + count * ldt;
        const double *own = d->T + k * d->b;
        dkm_band_reduction_set_panel(d, k);
        dkm_band_reduction_allgather_panel(d, k, d->r, at, V);
        for (dkm_idx j = 0; j < d->r; j++) {
            memset(V + j * m, 0, (size_t)(d->at - at) * sizeof *V);
            memcpy(T + count + j * ldt, own + j * d->b, (size_t)d->r * sizeof *T);
        }
        if (count > 0 && d->r > 0) {
            double *between = d->small, *above = between + count * d->r;
            dkm_blas_gemm(DKM_F64, 'T', 'N', count, d->r, m, 1.0, d->panels, m, V, m, 0.0, between,
                          count);
            dkm_blas_gemm(DKM_F64, 'N', 'N', count, d->r, d->r, 1.0, between, count, own, d->b, 0.0,
                          above, count);
            dkm_blas_gemm(DKM_F64, 'N', 'N', count, d->r, count, -1.0, d->group_T, ldt, above,
                          count, 0.0, T, ldt);
        }
        count += d->r;
    }
    return count;
}

/* The rows of V that belong to the rows of Q from local row @p first on. */
static void band_take_own_rows(dkm_band_reduction *d, dkm_idx first, dkm_idx at, dkm_idx count)
{
    dkm_idx own = d->band->rows - first, rows;

    for (dkm_idx il = 0; il < own; il += rows) {
        const double *V = d->panels + dkm_band_global_row(d->band, first + il) - at;
        rows = dkm_idx_min(d->b - (first + il) % d->b, own - il);
        for (dkm_idx j = 0; j < count; j++)
            memcpy(d->own_V + il + j * own, V + j * (d->n - at), (size_t)rows * sizeof *V);
    }
}

/* Q <- (I - V T V') Q for some blocks of columns, on rows and columns from the first row of V on, as many
 * columns at a time as V'Q has space for. */
static void band_backtransform_group(dkm_band_reduction *d, dkm_idx k, dkm_idx end)
{
    dkm_band *band = d->band;
    dkm_idx at = dkm_idx_min(k + d->b, d->n), m = d->n - at, ldt = DKM_BAND_GROUP * d->b;
    dkm_idx first = dkm_band_local_rows(d->ctx, at, d->b), own = band->rows - first;
    dkm_idx count = m > 0 ? band_gather_group(d, k, end, at) : 0;
    dkm_idx most = count > 0 ? 2 * d->n * d->b / count : 1, cols;
    double *VT = d->own_V + own * count;

    if (count == 0)
        return;
    band_take_own_rows(d, first, at, count);
    if (own > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'N', own, count, count, 1.0, d->own_V, own, d->group_T, ldt,
                      0.0, VT, own);
    for (dkm_idx j = 0; j < m; j += cols) {
        double *q = band->Q + first + (at + j) * band->rows;
        cols = dkm_idx_min(most, m - j);
        memset(d->small, 0, (size_t)(count * cols) * sizeof *d->small);
        if (own > 0)
            dkm_blas_gemm(DKM_F64, 'T', 'N', count, cols, own, 1.0, d->own_V, own, q, band->rows,
                          0.0, d->small, count);
        dkm_band_reduction_allreduce(d, count * cols, d->small);
        if (own > 0)
            dkm_blas_gemm(DKM_F64, 'N', 'N', own, cols, count, -1.0, VT, own, d->small, count, 1.0,
                          q, band->rows);
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
    dkm_idx n = d->n, step = DKM_BAND_GROUP * d->b;

    band_set_identity(d);
    for (dkm_idx k = (n - 1) / step * step; k >= 0; k -= step) {
        band_backtransform_group(d, k, dkm_idx_min(k + step, n));
        dkm_progress(d->ctx, 2.0 * (double)n - (double)k, 2.0 * (double)n);
    }
}
