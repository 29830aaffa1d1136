/* The residual T - (K + gamma I) B with kernel values in double precision, of some rows drawn at
 * random: an estimate of all of it, for those who solved with values in single precision. */
#include <math.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "scalapack/linalg.h"
#include "solve/lottery.h"
#include "solve/nystroem.h"

#define CHECK_STREAM 0x636865636bu
#define SAMPLE       256

/* Rows drawn of T - gamma B, the same on every rank. */
static void pick(const dkm_nystroem_check *c, dkm_idx count, const dkm_idx *places, double *rows)
{
    dkm_ctx *ctx = c->B->ctx;
    dkm_idx p = c->B->cols, first = dkm_slab_first(c->m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx il = places[k] - first;
        int mine = il >= 0 && il < c->B->n;
        for (dkm_idx j = 0; j < p; j++)
            rows[k * p + j] =
                mine ? c->T->a[il * c->T->ld + j] - c->gamma * c->B->a[il * c->B->ld + j] : 0.0;
    }
    dkm_mpi_allreduce(rows, count * p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
}

/* W = k(S, X) B for the objects drawn, in slabs of them. */
static dkm_status multiply(const dkm_nystroem *N, const dkm_nystroem_check *c,
                           const dkm_prepared *S, dkm_slab *W)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = dkm_grid_block(N->grid, c->m), p = c->B->cols;
    dkm_dmat *K = NULL, *B = NULL, *KB = NULL;
    double *rows = NULL;

    DKM_AGREE(N->ctx, dkm_alloc(N->ctx, c->B->n * p, &rows));
    dkm_slab_pack(c->B, rows);
    DKM_TRY(dkm_gram_cross(N->grid, N->kernel, S, c->X, nb, nb, DKM_F64, &K));
    DKM_TRY(dkm_dmat_create(N->grid, c->m, p, nb, nb, DKM_F64, &B));
    DKM_TRY(dkm_dmat_from_rows(B, rows));
    DKM_TRY(dkm_dmat_create_beside(K, p, nb, DKM_F64, &KB));
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

dkm_status dkm_nystroem_residual(const dkm_nystroem *N, const dkm_nystroem_check *c,
                                 double *residual)
{
    dkm_status status = DKM_OK;
    dkm_idx count = c->m < SAMPLE ? c->m : SAMPLE, p = c->B->cols, places[SAMPLE];
    const dkm_lottery lottery = {.ctx = N->ctx, .m = c->m, .stream = CHECK_STREAM};
    dkm_data *D = NULL;
    dkm_prepared *S = NULL;
    dkm_slab W = {0};
    double *own = NULL, *known = NULL, sum = 0, size = dkm_slab_norm(c->T);

    DKM_TRY(dkm_lottery_draw(&lottery, &count, places));
    DKM_AGREE(N->ctx, dkm_slab_init(&W, N->ctx, count, p));
    DKM_AGREE(N->ctx, dkm_alloc(N->ctx, count * p, &own));
    DKM_AGREE(N->ctx, dkm_alloc(N->ctx, count * p, &known));
    DKM_TRY(dkm_feed_select(N->feed, count, places, &D));
    DKM_TRY(dkm_kernel_prepare_new(c->X, D, &S));
    DKM_TRY(multiply(N, c, S, &W));
    DKM_TRY(dkm_slab_gather(&W, count, known));
    pick(c, count, places, own);
    for (dkm_idx k = 0; k < count * p; k++)
        sum += (own[k] - known[k]) * (own[k] - known[k]);
    *residual = size > 0 ? sqrt(sum * (double)c->m / (double)count) / size : 0.0;
out:
    DKM_FREE(known);
    DKM_FREE(own);
    dkm_slab_free(&W);
    dkm_prepared_destroy(&S);
    dkm_data_destroy(&D);
    return status;
}
