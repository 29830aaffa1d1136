/* Products of a strip K with matrices of few columns. Single precision values are turned into
 * double ones a few columns of K at a time, or in registers where the number of columns allows it,
 * so that the rounding of K is all that is lost. One right-hand side alone is no work for gemm,
 * which would copy the strip to multiply it once. */
#include "core/minmax.h"
#include "core/parallel.h"
#include "kernels/gram/strips.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"

#define FEW 64 /* rows or columns of a part: those of a result stay in cache */

/* Columns [j, j + width) in double, column-major: the values, or a copy in @p workspace. */
static const double *columns(const dkm_tile *K, dkm_idx j, dkm_idx width, double *workspace,
                             dkm_idx *ld)
{
    *ld = K->ld;
    if (K->precision == DKM_F64)
        return dkm_tile_at(K, 0, j);
    *ld = K->na;
    dkm_tile_widen(K, j, width, workspace);
    return workspace;
}

/* How many columns to take at a time. */
static dkm_idx step_of(const dkm_tile *K)
{
    dkm_idx fit = DKM_STRIP_WORKSPACE / (K->na > 0 ? K->na : 1);

    return K->precision == DKM_F64 ? K->nb : fit < 1 ? 1 : fit;
}

/* U += K V or W += K'U for a strip K in single precision, by rows or by columns of it. */
typedef struct strip_parts {
    const dkm_tile *K;
    dkm_idx p;
    const double *V;
    double *W;
} strip_parts;

static void some_rows(void *user, dkm_idx k, int thread)
{
    const strip_parts *s = user;
    dkm_idx i = k * FEW, n = dkm_idx_min(FEW, s->K->na - i);
    const float *T = dkm_tile_at(s->K, i, 0);

    (void)thread;
    if (s->p == 1)
        dkm_ts_mixed_gemv_n(n, s->K->nb, T, s->K->ld, s->V, s->W + i);
    else
        dkm_ts_mixed_gemm_n(s->p, n, s->K->nb, T, s->K->ld, s->V, s->W + i * s->p);
}

static void some_columns(void *user, dkm_idx k, int thread)
{
    const strip_parts *s = user;
    dkm_idx j = k * FEW, n = dkm_idx_min(FEW, s->K->nb - j);
    const float *T = dkm_tile_at(s->K, 0, j);

    (void)thread;
    if (s->p == 1)
        dkm_ts_mixed_gemv_t(s->K->na, n, T, s->K->ld, s->V, s->W + j);
    else
        dkm_ts_mixed_gemm_t(s->p, s->K->na, n, T, s->K->ld, s->V, s->W + j * s->p);
}

dkm_idx dkm_strip_columns(dkm_precision precision, dkm_idx p)
{
    dkm_idx lanes = precision == DKM_F32 ? dkm_ts_mixed_nrhs_pad(p) : 0;

    return lanes > 0 ? lanes : p;
}

static int fits_lanes(const dkm_tile *K, dkm_idx p)
{
    return K->precision == DKM_F32 && (p == 1 || dkm_ts_mixed_nrhs_pad(p) == p);
}

void dkm_strip_gemm(int threads, const dkm_tile *K, dkm_idx p, const double *V, double *U,
                    double *workspace)
{
    strip_parts parts = {K, p, V, U};
    dkm_idx step = step_of(K), ld;

    if (fits_lanes(K, p)) {
        dkm_parallel_for(threads, (K->na + FEW - 1) / FEW, some_rows, &parts);
        return;
    }
    for (dkm_idx j = 0; j < K->nb; j += step) {
        dkm_idx width = dkm_idx_min(step, K->nb - j);
        const double *k = columns(K, j, width, workspace, &ld);
        dkm_blas_gemm(DKM_F64, 'N', 'T', p, K->na, width, 1.0, V + j * p, p, k, ld, 1.0, U, p);
    }
}

void dkm_strip_gemm_t(int threads, const dkm_tile *K, dkm_idx p, const double *U, double *W,
                      double *workspace)
{
    strip_parts parts = {K, p, U, W};
    dkm_idx step = step_of(K), ld;

    if (fits_lanes(K, p)) {
        dkm_parallel_for(threads, (K->nb + FEW - 1) / FEW, some_columns, &parts);
        return;
    }
    for (dkm_idx j = 0; j < K->nb; j += step) {
        dkm_idx width = dkm_idx_min(step, K->nb - j);
        const double *k = columns(K, j, width, workspace, &ld);
        dkm_blas_gemm(DKM_F64, 'N', 'N', p, width, K->na, 1.0, U, p, k, ld, 1.0, W + j * p, p);
    }
}
