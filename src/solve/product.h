/** @file product.h  Products with a kernel matrix that is kept, or computed anew for each. */
#ifndef DKMAP_PRODUCT_H
#define DKMAP_PRODUCT_H

#include <dkmap/kernel.h>

typedef struct dkm_product {
    dkm_grid *grid;
    const dkm_prepared *X; /**< may be NULL where K is kept */
    dkm_idx nb;
    const dkm_dmat *K; /**< double, lower triangle; NULL: computed anew from X */
} dkm_product;

/** rows <- K rows, for this rank's slab of a matrix of @p p columns, row-major, ld = p.
 *  Collective. */
DKM_NODISCARD
dkm_status dkm_product_rows(const dkm_product *product, dkm_idx p, double *rows);

#endif
