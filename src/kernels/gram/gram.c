/* Gram matrices of objects among themselves: their lower triangles. */
#include <stdio.h>

#include <dkmap/kernel.h>

#include "io/checkpoint/checkpointer.h"
#include "kernels/gram/gram.h"
#include "matrix/dmat_impl.h"

dkm_local dkm_gram_check(const dkm_kernel *kernel, const dkm_prepared *X)
{
    if (X->kernel != kernel)
        return dkm_fail(X->ctx, DKM_ERR_ARG, "the objects were prepared for %s, not for %s",
                        X->kernel->text, kernel->text);
    return DKM_LOCAL_OK;
}

/* Fill the lower triangle, or take it from a run before. */
static dkm_status fill_or_find(const dkm_prepared *X, dkm_dmat *G)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    int found = 0;

    snprintf(stage, sizeof stage, "gram %s K=%016llx",
             dkm_dmat_precision(G) == DKM_F64 ? "double" : "single",
             (unsigned long long)dkm_checkpointer_fingerprint(X->X, X->kernel->text));
    DKM_TRY(dkm_checkpointer_load_lower(stage, G, &found));
    if (found)
        goto out;
    DKM_TRY(dkm_gram_fill(X, X, 1, G, NULL, NULL));
    DKM_TRY(dkm_checkpointer_save_lower(stage, G));
out:
    return status;
}

/* The lower triangle, in the new matrix *G. */
static dkm_status gram_into(const dkm_kernel *kernel, const dkm_prepared *X, dkm_dmat **G)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(X->ctx, dkm_gram_check(kernel, X));
    dkm_dmat_want_large_pages_lower(*G);
    DKM_TRY(fill_or_find(X, *G));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(G);
    return status;
}

dkm_status dkm_gram(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                    dkm_precision precision, dkm_dmat **K)
{
    dkm_status status = dkm_dmat_create(grid, X->X->m, X->X->m, nb, nb, precision, K);

    return status == DKM_OK ? gram_into(kernel, X, K) : status;
}

dkm_status dkm_gram_lower(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *X,
                          dkm_idx nb, dkm_precision precision, dkm_dmat **K)
{
    dkm_status status = dkm_dmat_create_lower(grid, X->X->m, nb, precision, K);

    return status == DKM_OK ? gram_into(kernel, X, K) : status;
}

dkm_status dkm_gram_visit(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                          dkm_precision precision, dkm_visitor *visitor)
{
    dkm_status status = DKM_OK;
    dkm_dmat *shape = NULL;

    DKM_TRY(dkm_dmat_create_shape(grid, X->X->m, X->X->m, nb, nb, precision, &shape));
    DKM_TRY(dkm_gram_fill(X, X, 1, shape, visitor, NULL));
out:
    dkm_dmat_destroy(&shape);
    return status;
}
