#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/gram/gram.h"
#include "matrix/dmat_impl.h"

struct dkm_cross_gram {
    dkm_grid *grid;
    const dkm_prepared *B;
    dkm_idx nb;
    dkm_precision precision;
    dkm_panel cols; /* all objects of this rank's columns; empty where that is too much */
};

dkm_status dkm_cross_gram_create(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *B,
                                 dkm_idx nb, dkm_precision precision, dkm_cross_gram **cross)
{
    dkm_status status = DKM_OK;
    dkm_cross_gram *made = NULL;
    dkm_dmat *shape = NULL;

    *cross = NULL;
    DKM_AGREE(B->ctx, dkm_gram_check(kernel, B));
    DKM_AGREE(B->ctx, dkm_calloc(B->ctx, 1, &made));
    *made = (dkm_cross_gram){.grid = grid, .B = B, .nb = nb, .precision = precision};
    DKM_TRY(dkm_dmat_create_shape(grid, 0, B->X->m, nb, nb, precision, &shape));
    DKM_TRY(dkm_gram_cache_columns(B, shape, &made->cols));
    *cross = made;
    made = NULL;
out:
    dkm_dmat_destroy(&shape);
    dkm_cross_gram_destroy(&made);
    return status;
}

dkm_status dkm_cross_gram_eval(dkm_cross_gram *cross, const dkm_prepared *A, dkm_idx mb,
                               dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_dmat *G = NULL;

    *K = NULL;
    DKM_AGREE(A->ctx, dkm_prepared_match(A, cross->B));
    DKM_TRY(
        dkm_dmat_create(cross->grid, A->X->m, cross->B->X->m, mb, cross->nb, cross->precision, &G));
    DKM_TRY(dkm_gram_fill(A, cross->B, 0, G, NULL, cross->cols.of ? &cross->cols : NULL));
    *K = G;
    G = NULL;
out:
    dkm_dmat_destroy(&G);
    return status;
}

void dkm_cross_gram_destroy(dkm_cross_gram **cross)
{
    if (!*cross)
        return;
    dkm_panel_close(&(*cross)->cols);
    DKM_FREE(*cross);
}

dkm_status dkm_gram_cross(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *A,
                          const dkm_prepared *B, dkm_idx mb, dkm_idx nb, dkm_precision precision,
                          dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_dmat *G = NULL;

    *K = NULL;
    DKM_AGREE(A->ctx, dkm_gram_check(kernel, A));
    DKM_AGREE(A->ctx, dkm_prepared_match(A, B));
    DKM_TRY(dkm_dmat_create(grid, A->X->m, B->X->m, mb, nb, precision, &G));
    DKM_TRY(dkm_gram_fill(A, B, 0, G, NULL, NULL));
    *K = G;
    G = NULL;
out:
    dkm_dmat_destroy(&G);
    return status;
}
