#include "solve/product.h"

#include "scalapack/sweep.h"

dkm_status dkm_product_rows(const dkm_product *product, dkm_idx p, double *rows)
{
    if (product->K)
        return dkm_sweep_rows('L', product->K, p, rows);
    return dkm_gram_apply(product->grid, product->X, product->nb, p, rows);
}
