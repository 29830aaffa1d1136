/* With a linear kernel Psi is an object itself: y = mean + z W'Y (the columns of W
 * add up to zero, so Y need not be centred). */
#include <string.h>

#include "core/alloc.h"
#include "model/preimage.h"
#include "scalapack/linalg.h"

static int suits(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, "linear");
}

/* The mean of what the training objects stand for. */
static void find_mean(const dkm_embedding *e, double *mean)
{
    const dkm_data *X = e->base.X;
    dkm_idx d = dkm_data_cols(X), first = dkm_data_local_first(X);

    memset(mean, 0, (size_t)d * sizeof *mean);
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        for (dkm_idx k = 0; k < d; k++)
            mean[k] += dkm_embedding_weight(e, first + i) * dkm_data_values_const(X)[i * d + k];
    MPI_Allreduce(MPI_IN_PLACE, mean, (int)d, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(e->base.ctx));
}

/* U = W'Y and the mean. */
static dkm_status prepare(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &pre->e->base;
    dkm_idx d = dkm_data_cols(base->X);
    dkm_dmat *Y = NULL;

    DKM_AGREE(base->ctx, dkm_alloc(base->ctx, d, &pre->mean));
    DKM_TRY(dkm_base_objects(base, &Y));
    find_mean(pre->e, pre->mean);
    DKM_TRY(dkm_dmat_create(base->grid, pre->e->p, d, base->nb, base->nb, DKM_F64, &pre->U));
    dkm_la_gemm('T', 'N', 1.0, pre->e->W, Y, 0.0, pre->U);
out:
    dkm_dmat_destroy(&Y);
    return status;
}

static dkm_status solve(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &pre->e->base;
    dkm_idx n = dkm_data_rows(Z), d = dkm_data_cols(base->X);
    dkm_dmat *C = NULL, *F = NULL;
    dkm_data *found = NULL;

    DKM_TRY(dkm_dmat_create(base->grid, n, pre->e->p, base->nb, base->nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Z)));
    DKM_TRY(dkm_dmat_create_beside(C, d, base->nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, C, pre->U, 0.0, F);
    dkm_dmat_add_row(F, 1.0, pre->mean);
    DKM_TRY(dkm_data_create_dense(base->ctx, n, d, &found));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(found)));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&C);
    return status;
}

const dkm_preimage_kind dkm_preimage_linear = {
    .method = DKM_PREIMAGE_LINEAR, .suits = suits, .prepare = prepare, .solve = solve};
