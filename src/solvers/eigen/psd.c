/* Spectrum clipping: K <- V max(L, 0) V' for K = V L V', the nearest positive semidefinite matrix
 * in the Frobenius norm (Higham 1988, Linear Algebra Appl. 103:103-118,
 * doi:10.1016/0024-3795(88)90223-6).
 *
 * Cost: a full eigensolve (linalg/eigen/syevd.h) and a product of m^3 / ranks flops; held beside
 * K: the eigenvectors and the workspace of the solver. */
#include <dkmap/psd.h>

#include <float.h>
#include <math.h>

#include "core/alloc.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "solvers/eigen/eigen_autotune.h"

static dkm_local psd_check_matrix(const dkm_dmat *K)
{
    if (K->m == K->n && K->mb == K->nb && K->precision == DKM_F64)
        return DKM_LOCAL_OK;
    return dkm_fail(dkm_grid_ctx(K->grid), DKM_ERR_ARG,
                    "clipping needs a square double matrix in square blocks, not %lld x %lld",
                    (long long)K->m, (long long)K->n);
}

/* What the spectrum, in ascending order, looks like. */
static dkm_psd_info psd_describe(const double *values, dkm_idx m)
{
    dkm_psd_info info = {0};
    double below = 0, all = 0, rounding;

    if (m == 0)
        return info;
    info.smallest = values[0];
    info.largest = values[m - 1];
    rounding = (double)m * DBL_EPSILON * fmax(fabs(info.smallest), fabs(info.largest));
    for (dkm_idx j = 0; j < m; j++) {
        info.negative += values[j] < -rounding;
        below += fmax(0.0, -values[j]);
        all += fabs(values[j]);
    }
    info.share = all > 0 ? below / all : 0.0;
    return info;
}

/* Z <- Z sqrt(max(L, 0)) */
static void psd_scale_columns(dkm_dmat *Z, const double *values)
{
    for (dkm_idx jl = 0; jl < Z->n_loc; jl++) {
        double root = sqrt(fmax(0.0, values[dkm_dmat_global_col(Z, jl)]));
        for (dkm_idx il = 0; il < Z->m_loc; il++)
            Z->a.f64[il + jl * Z->ld] *= root;
    }
}

dkm_status dkm_psd_clip(dkm_dmat *K, dkm_psd_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    double *values = NULL;
    dkm_dmat *Z = NULL;

    dkm_phase_begin(ctx, "clip");
    DKM_AGREE(ctx, psd_check_matrix(K));
    DKM_AGREE(ctx, dkm_alloc(ctx, K->m, &values));
    DKM_TRY(dkm_eigen_choose_library(K, &library));
    DKM_TRY(dkm_memory_check(ctx, dkm_la_syevd_bytes(K, library), "the full eigensolve"));
    DKM_TRY(dkm_la_syevd(K, &library, values, &Z));
    psd_scale_columns(Z, values);
    dkm_la_syrk('N', 1.0, Z, 0.0, K);
    if (info)
        *info = psd_describe(values, K->m);
out:
    dkm_phase_end(ctx);
    dkm_dmat_destroy(&Z);
    DKM_FREE(values);
    return status;
}
