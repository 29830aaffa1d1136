/* Sampled residual: || T - (K + gamma I) B || / || T || with kernel values in double precision,
 * estimated from 256 rows drawn at random (their sum of squares times m / 256). It checks a
 * solution that was computed with kernel values in single precision. Cost per rank: 256 m / ranks
 * kernel values and 512 m p / ranks flops; T, B and the products of the sampled rows are
 * replicated. */
#include <math.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "linalg/linalg.h"
#include "solvers/landmarks/weighted_sampling.h"
#include "solvers/nystroem/nystroem_impl.h"

#define CHECK_STREAM 0x636865636bu
#define SAMPLE_ROWS  256

/* Rows drawn of T - gamma B, the same on every rank. */
static void estimate_pick_rows(const dkm_nystroem_solution *c, dkm_idx count,
                               const dkm_idx *indices, double *rows)
{
    dkm_ctx *ctx = c->B->ctx;
    dkm_idx p = c->B->cols, first = dkm_slab_first(c->m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx il = indices[k] - first;
        int mine = il >= 0 && il < c->B->n;
        for (dkm_idx j = 0; j < p; j++)
            rows[k * p + j] =
                mine ? c->T->a[il * c->T->ld + j] - c->gamma * c->B->a[il * c->B->ld + j] : 0.0;
    }
    dkm_mpi_allreduce(rows, count * p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
}

/* W = k(S, X) B for the objects drawn, in slabs of them. */
static dkm_status estimate_multiply(const dkm_nystroem *N, const dkm_nystroem_solution *c,
                                    const dkm_prepared *S, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = dkm_grid_block(N->grid, c->m), p = c->B->cols;
    dkm_dmat *K = NULL, *B = NULL, *KB = NULL;
    double *rows = NULL;

    DKM_AGREE(N->ctx, dkm_alloc(N->ctx, c->B->n * p, &rows));
    dkm_multivec_pack(c->B, rows);
    DKM_TRY(dkm_gram_cross(N->grid, N->kernel, S, c->X, nb, nb, DKM_F64, &K));
    DKM_TRY(dkm_dmat_create(N->grid, c->m, p, nb, nb, DKM_F64, &B));
    DKM_TRY(dkm_dmat_from_rows(B, rows));
    DKM_TRY(dkm_dmat_create_like(K, p, nb, DKM_F64, &KB));
    dkm_la_gemm('N', 'N', 1.0, K, B, 0.0, KB);
    W->cols = p;
    DKM_TRY(dkm_dmat_to_rows(KB, W->a));
out:
    dkm_dmat_destroy(&KB);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&K);
    DKM_FREE(rows);
    return status;
}

dkm_status dkm_nystroem_residual_estimate(const dkm_nystroem *N, const dkm_nystroem_solution *c,
                                          double *residual)
{
    dkm_status status = DKM_OK;
    dkm_idx count = c->m < SAMPLE_ROWS ? c->m : SAMPLE_ROWS, p = c->B->cols, indices[SAMPLE_ROWS];
    const dkm_weighted_sampling sampling = {.ctx = N->ctx, .m = c->m, .stream = CHECK_STREAM};
    dkm_data *D = NULL;
    dkm_prepared *S = NULL;
    dkm_multivec W = {0};
    double *own = NULL, *known = NULL, sum = 0, size = dkm_multivec_norm(c->T);

    DKM_TRY(dkm_weighted_sampling_draw(&sampling, &count, indices));
    DKM_AGREE(N->ctx, dkm_multivec_init(&W, N->ctx, count, p));
    DKM_AGREE(N->ctx, dkm_alloc(N->ctx, count * p, &own));
    DKM_AGREE(N->ctx, dkm_alloc(N->ctx, count * p, &known));
    DKM_TRY(dkm_input_stream_select(N->feed, count, indices, &D));
    DKM_TRY(dkm_kernel_prepare_new(c->X, D, &S));
    DKM_TRY(estimate_multiply(N, c, S, &W));
    DKM_TRY(dkm_multivec_allgather(&W, count, known));
    estimate_pick_rows(c, count, indices, own);
    for (dkm_idx k = 0; k < count * p; k++)
        sum += (own[k] - known[k]) * (own[k] - known[k]);
    *residual = size > 0 ? sqrt(sum * (double)c->m / (double)count) / size : 0.0;
out:
    DKM_FREE(known);
    DKM_FREE(own);
    dkm_multivec_free(&W);
    dkm_prepared_destroy(&S);
    dkm_data_destroy(&D);
    return status;
}
