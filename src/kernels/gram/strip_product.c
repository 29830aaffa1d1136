/* Products of a strip K with matrices of few columns. Single precision values are turned into
 * double ones a few columns of K at a time, or in registers where the number of columns allows it,
 * so that the rounding of K is all that is lost. One right-hand side alone is no work for gemm,
 * which would copy the strip to multiply it once. */
#include "kernels/gram/strips.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"

#define FEW 64 /* columns that stay in cache while their rows are taken four at a time */

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

/* Columns [j, j + width) in double, column-major: the values themselves, or a copy in @p room. */
static const double *columns(const dkm_tile *K, dkm_idx j, dkm_idx width, double *room, dkm_idx *ld)
{
    *ld = K->ld;
    if (K->precision == DKM_F64)
        return dkm_tile_at(K, 0, j);
    *ld = K->na;
    dkm_tile_widen(K, j, width, room);
    return room;
}

/* How many columns to take at a time. */
static dkm_idx step_of(const dkm_tile *K)
{
    dkm_idx fit = DKM_STRIP_WORKSPACE / (K->na > 0 ? K->na : 1);

    return K->precision == DKM_F64 ? K->nb : fit < 1 ? 1 : fit;
}

/* u += K v and w += K'u for one column each. */
static void times_one(const dkm_tile *K, const double *v, double *u)
{
    if (K->precision == DKM_F64)
        dkm_blas_gemm(DKM_F64, 'N', 'T', 1, K->na, K->nb, 1.0, v, 1, K->c, K->ld, 1.0, u, 1);
    else
        dkm_ts_mixed_gemv_n(K->na, K->nb, K->c, K->ld, v, u);
}

static void back_one(const dkm_tile *K, const double *u, double *w)
{
    if (K->precision == DKM_F64)
        dkm_blas_gemm(DKM_F64, 'N', 'N', 1, K->nb, K->na, 1.0, u, 1, K->c, K->ld, 1.0, w, 1);
    else
        dkm_ts_mixed_gemv_t(K->na, K->nb, K->c, K->ld, u, w);
}

dkm_idx dkm_strip_columns(dkm_precision precision, dkm_idx p)
{
    dkm_idx lanes = precision == DKM_F32 ? dkm_ts_mixed_nrhs_pad(p) : 0;

    return lanes > 0 ? lanes : p;
}

static int fits_lanes(const dkm_tile *K, dkm_idx p)
{
    return K->precision == DKM_F32 && dkm_ts_mixed_nrhs_pad(p) == p;
}

void dkm_strip_gemm(const dkm_tile *K, dkm_idx p, const double *V, double *U, double *room)
{
    dkm_idx step = step_of(K), ld;

    if (fits_lanes(K, p)) {
        dkm_ts_mixed_gemm_n(p, K->na, K->nb, K->c, K->ld, V, U);
        return;
    }
    if (p == 1) {
        times_one(K, V, U);
        return;
    }
    for (dkm_idx j = 0; j < K->nb; j += step) {
        dkm_idx width = least(step, K->nb - j);
        const double *k = columns(K, j, width, room, &ld);
        dkm_blas_gemm(DKM_F64, 'N', 'T', p, K->na, width, 1.0, V + j * p, p, k, ld, 1.0, U, p);
    }
}

void dkm_strip_gemm_t(const dkm_tile *K, dkm_idx p, const double *U, double *W, double *room)
{
    dkm_idx step = step_of(K), ld;

    if (fits_lanes(K, p)) {
        for (dkm_idx j = 0; j < K->nb; j += FEW)
            dkm_ts_mixed_gemm_t(p, K->na, least(FEW, K->nb - j), dkm_tile_at(K, 0, j), K->ld, U,
                                W + j * p);
        return;
    }
    if (p == 1) {
        back_one(K, U, W);
        return;
    }
    for (dkm_idx j = 0; j < K->nb; j += step) {
        dkm_idx width = least(step, K->nb - j);
        const double *k = columns(K, j, width, room, &ld);
        dkm_blas_gemm(DKM_F64, 'N', 'N', p, width, K->na, 1.0, U, p, k, ld, 1.0, W + j * p, p);
    }
}
