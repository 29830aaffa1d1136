#include "linalg/factor/factor.h"

#include <assert.h>

#include <dkmap/bench.h>

#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"

const dkm_factor_backend *dkm_factor_choose(const dkm_ctx *ctx)
{
    return dkm_ctx_factor(ctx) == DKM_FACTOR_SCALAPACK ? &dkm_factor_scalapack : &dkm_factor_own;
}

const char *dkm_factor_name(const dkm_ctx *ctx)
{
    return dkm_factor_choose(ctx)->name;
}

dkm_idx dkm_factor_agree_info(dkm_ctx *ctx, dkm_idx info)
{
    MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(ctx));
    return info;
}

dkm_status dkm_la_potrf_from(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                             dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    double rest = (double)(A->n - from);

    assert(A->m == A->n && A->mb == A->nb && from % A->nb == 0);
    *info = 0;
    DKM_REQUIRE(
        ctx, dkm_factor_choose(ctx) != &dkm_factor_scalapack || dkm_dmat_suits_scalapack(A),
        DKM_ERR_SIZE,
        "a matrix of %lld rows has more elements on a rank than ScaLAPACK can index: use more "
        "ranks, or --factor own",
        (long long)A->n);
    dkm_blas_use_threads(ctx);
    DKM_TRY(dkm_factor_choose(ctx)->factorize(A, from, monitor, info));
    *info = dkm_factor_agree_info(ctx, *info);
    dkm_phase_flops(ctx, rest * rest * rest / 3.0 / dkm_ctx_size(ctx));
out:
    return status;
}

dkm_status dkm_la_potrf(dkm_dmat *A, dkm_idx *info)
{
    return dkm_la_potrf_from(A, 0, NULL, info);
}
