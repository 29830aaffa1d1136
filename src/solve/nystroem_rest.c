/* What landmarks leave unexplained of an input, on average over some inputs drawn at random:
 *
 *   k(x, x) - k_n(x)' (K_nn + d I)^-1 k_n(x),  k_n(x) = k(C, x)
 *
 * with d as small as rounding allows. */
#include <math.h>

#include "core/alloc.h"
#include "scalapack/linalg.h"
#include "solve/lottery.h"
#include "solve/nystroem.h"

#define REST_STREAM 0x72657374u
#define SAMPLE      256
#define ROUNDING    1e-13 /* of the trace of K_nn */

/* Sum of k(x, x) over all ranks. */
static dkm_status own_values(const dkm_prepared *S, double *sum)
{
    dkm_status status = DKM_OK;
    double *values = NULL;

    *sum = 0;
    DKM_AGREE(S->ctx, dkm_alloc(S->ctx, S->X->mine.n, &values));
    DKM_TRY(dkm_kernel_selves(S, values));
    for (dkm_idx i = 0; i < S->X->mine.n; i++)
        *sum += values[i];
    MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(S->ctx));
out:
    DKM_FREE(values);
    return status;
}

/* V = k(S, C) L^-T, whose squares are what is explained. */
static dkm_status explain(const dkm_nystroem *N, const dkm_prepared *S, dkm_dmat **V)
{
    dkm_status status = DKM_OK;
    dkm_dmat *L = NULL;
    dkm_factor factor = {0};

    DKM_TRY(dkm_gram_cross(N->grid, N->kernel, S, N->C, N->nb, N->nb, DKM_F64, V));
    DKM_TRY(dkm_dmat_convert(N->K, DKM_F64, &L));
    DKM_TRY(dkm_factor_open(&factor, L, "the kernel matrix of the landmarks"));
    DKM_TRY(dkm_factor_at(&factor, ROUNDING * (double)N->n * factor.mean));
    dkm_la_lower_solve_right(L, *V);
out:
    dkm_factor_close(&factor);
    dkm_dmat_destroy(&L);
    return status;
}

dkm_status dkm_nystroem_rest(const dkm_nystroem *N, double *rest)
{
    dkm_status status = DKM_OK;
    dkm_idx count = N->m < SAMPLE ? N->m : SAMPLE, places[SAMPLE];
    const dkm_lottery lottery = {.ctx = N->ctx, .m = N->m, .stream = REST_STREAM};
    dkm_data *D = NULL;
    dkm_prepared *S = NULL;
    dkm_dmat *V = NULL;
    double all = 0, known;

    DKM_TRY(dkm_lottery_draw(&lottery, &count, places));
    DKM_TRY(dkm_feed_select(N->feed, count, places, &D));
    DKM_TRY(dkm_kernel_prepare_new(N->C, D, &S));
    DKM_TRY(own_values(S, &all));
    DKM_TRY(explain(N, S, &V));
    known = dkm_dmat_norm(V);
    *rest = fmax(0.0, (all - known * known) / (double)(count > 0 ? count : 1));
out:
    dkm_dmat_destroy(&V);
    dkm_prepared_destroy(&S);
    dkm_data_destroy(&D);
    return status;
}
