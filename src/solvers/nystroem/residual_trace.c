/* Mean residual diagonal of the Nystroem approximation (the trace of the Schur complement K - K_mn
 * K_nn^-1 K_nm, divided by m), estimated from 256 inputs drawn at random:
 *
 *   mean over x of  k(x, x) - k_n(x)' (K_nn + d I)^-1 k_n(x),   k_n(x) = k(C, x)
 *
 * with d as small as rounding allows. Cost: a Cholesky factor of order n, n^3 / (3 ranks) flops,
 * and 256 n kernel values. */
#include <math.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "solvers/landmarks/weighted_sampling.h"
#include "solvers/nystroem/nystroem_impl.h"

#define REST_STREAM 0x72657374u
#define SAMPLE_ROWS 256
#define ROUNDING    1e-13 /* of the trace of K_nn */

/* Sum of k(x, x) over all ranks. */
static dkm_status rest_diagonal(const dkm_prepared *S, double *sum)
{
    dkm_status status = DKM_OK;
    double *values = NULL;

    *sum = 0;
    DKM_AGREE(S->ctx, dkm_alloc(S->ctx, S->X->mine.n, &values));
    DKM_TRY(dkm_kernel_diagonal(S, values));
    for (dkm_idx i = 0; i < S->X->mine.n; i++)
        *sum += values[i];
    MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(S->ctx));
out:
    DKM_FREE(values);
    return status;
}

/* V = k(S, C) L^-T, whose squares are what is explained. */
static dkm_status rest_explained(const dkm_nystroem *N, const dkm_prepared *S, dkm_dmat **V)
{
    dkm_status status = DKM_OK;
    dkm_dmat *L = NULL;
    dkm_shifted_cholesky factor = {0};

    DKM_TRY(dkm_gram_cross(N->grid, N->kernel, S, N->C, N->nb, N->nb, DKM_F64, V));
    DKM_TRY(dkm_dmat_convert(N->K, DKM_F64, &L));
    DKM_TRY(dkm_shifted_cholesky_open(&factor, L, "the kernel matrix of the landmarks"));
    DKM_TRY(dkm_shifted_cholesky_factorize(&factor, ROUNDING * (double)N->n * factor.mean));
    dkm_la_trsm_right(L, *V);
out:
    dkm_shifted_cholesky_close(&factor);
    dkm_dmat_destroy(&L);
    return status;
}

dkm_status dkm_nystroem_residual_trace(const dkm_nystroem *N, double *rest)
{
    dkm_status status = DKM_OK;
    dkm_idx count = N->m < SAMPLE_ROWS ? N->m : SAMPLE_ROWS, indices[SAMPLE_ROWS];
    const dkm_weighted_sampling sampling = {.ctx = N->ctx, .m = N->m, .stream = REST_STREAM};
    dkm_data *D = NULL;
    dkm_prepared *S = NULL;
    dkm_dmat *V = NULL;
    double all = 0, known;

    DKM_TRY(dkm_weighted_sampling_draw(&sampling, &count, indices));
    DKM_TRY(dkm_input_stream_select(N->feed, count, indices, &D));
    DKM_TRY(dkm_kernel_prepare_new(N->C, D, &S));
    DKM_TRY(rest_diagonal(S, &all));
    DKM_TRY(rest_explained(N, S, &V));
    known = dkm_dmat_norm(V);
    *rest = fmax(0.0, (all - known * known) / (double)(count > 0 ? count : 1));
out:
    dkm_dmat_destroy(&V);
    dkm_prepared_destroy(&S);
    dkm_data_destroy(&D);
    return status;
}
