#include "solvers/operators/linop.h"

#include "linalg/symm/symm_multivec.h"

dkm_status dkm_linop_apply(const dkm_linop *product, dkm_idx p, double *rows)
{
    if (product->K)
        return dkm_symm_multivec('L', product->K, p, rows);
    return dkm_gram_apply(product->grid, product->X, product->nb, p, rows);
}
