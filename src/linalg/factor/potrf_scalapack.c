/* Cholesky factorization A = L L' by ScaLAPACK's p?potrf (Choi, Dongarra, Ostrouchov, Petitet,
 * Walker and Whaley 1996, Scientific Programming 5(3):173-184, doi:10.1155/1996/483083).
 *
 * Without a monitor in one call. With one, panels of PANEL_COLS columns are factored by p?potrf,
 * p?trsm and p?syrk, so that the monitor sees the state after each.
 *
 * Cost per rank: n^3 / (3 P Q) flops, about n^2 / (2 P) + n^2 / (2 Q) words sent; work space is
 * ScaLAPACK's own. */
#include "core/minmax.h"
#include "linalg/backend/pblas.h"
#include "linalg/factor/factor.h"
#include "matrix/dmat_impl.h"

#define PANEL_COLS 1024 /* between two looks of the monitor, about */

static dkm_status scalapack_factorize(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                                      dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_idx cols = monitor ? (PANEL_COLS + A->nb - 1) / A->nb * A->nb : A->n;
    double n = (double)A->n;

    for (dkm_idx at = from; at < A->n && *info == 0; at += cols) {
        dkm_idx w = dkm_idx_min(cols, A->n - at);
        double left = n - (double)(at + w);
        int block_info = dkm_pblas_potrf(A, at, w);

        *info = dkm_factor_agree_info(ctx, block_info > 0 ? at + block_info : 0);
        if (*info == 0)
            dkm_pblas_eliminate(A, at, w);
        dkm_progress(ctx, 1.0 - left * left * left / (n * n * n), 1.0);
        if (monitor && *info == 0 && monitor->want(monitor->user, at + w))
            DKM_TRY(monitor->on_panel(monitor->user, at + w));
    }
out:
    return status;
}

const dkm_factor_backend dkm_factor_scalapack = {"scalapack", scalapack_factorize};
