/* Products of a strip K with matrices of few columns. Single precision values are turned into
 * double ones a few columns of K at a time, or in registers where the number of columns allows it,
 * so that the rounding of K is all that is lost. One right-hand side alone is no work for gemm,
 * which would copy the strip to multiply it once. */
#include "kernels/gram/strips.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"

#define LANES 8
#define FEW   64 /* columns that stay in cache while their rows are taken four at a time */

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

static void add_column_f64(dkm_idx n, double v, const double *restrict k, double *restrict u)
{
    for (dkm_idx i = 0; i < n; i++)
        u[i] += v * k[i];
}

static void add_column_f32(dkm_idx n, double v, const float *restrict k, double *restrict u)
{
    for (dkm_idx i = 0; i < n; i++)
        u[i] += v * (double)k[i];
}

static double dot_f64(dkm_idx n, const double *restrict k, const double *restrict u)
{
    double sums[LANES] = {0}, sum = 0;
    dkm_idx i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sums[l] += k[i + l] * u[i + l];
    for (; i < n; i++)
        sum += k[i] * u[i];
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    return sum;
}

static double dot_f32(dkm_idx n, const float *restrict k, const double *restrict u)
{
    double sums[LANES] = {0}, sum = 0;
    dkm_idx i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sums[l] += (double)k[i + l] * u[i + l];
    for (; i < n; i++)
        sum += (double)k[i] * u[i];
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    return sum;
}

/* u += K v and w += K'u for one column each. */
static void times_one(const dkm_tile *K, const double *v, double *u)
{
    for (dkm_idx j = 0; j < K->nb; j++) {
        if (K->precision == DKM_F64)
            add_column_f64(K->na, v[j], dkm_tile_at(K, 0, j), u);
        else
            add_column_f32(K->na, v[j], dkm_tile_at(K, 0, j), u);
    }
}

static void back_one(const dkm_tile *K, const double *u, double *w)
{
    for (dkm_idx j = 0; j < K->nb; j++)
        w[j] += K->precision == DKM_F64 ? dot_f64(K->na, dkm_tile_at(K, 0, j), u)
                                        : dot_f32(K->na, dkm_tile_at(K, 0, j), u);
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
