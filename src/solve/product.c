#include "solve/product.h"

#include "scalapack/linalg.h"

static dkm_status multiply_kept(const dkm_product *s, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL, *W = NULL;

    DKM_TRY(dkm_dmat_create_beside(s->K, p, s->nb, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create_beside(s->K, p, s->nb, DKM_F64, &W));
    DKM_TRY(dkm_dmat_from_rows(V, rows));
    dkm_la_symm('L', 1.0, s->K, V, 0.0, W);
    DKM_TRY(dkm_dmat_to_rows(W, rows));
out:
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&W);
    return status;
}

dkm_status dkm_product_rows(const dkm_product *product, dkm_idx p, double *rows)
{
    if (product->K)
        return multiply_kept(product, p, rows);
    return dkm_gram_apply(product->grid, product->X, product->nb, p, rows);
}
