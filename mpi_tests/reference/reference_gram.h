/** @file reference_gram.h  Gram matrices of any objects, checked element by element. */
#ifndef DKMAP_REFERENCE_GRAM_H
#define DKMAP_REFERENCE_GRAM_H

#include <dkmap/data.h>

/** k(x_i, x_j), or k(z_i, x_j). */
typedef double (*kernel_value)(dkm_idx i, dkm_idx j);

typedef struct gram_case {
    const char *text;       /**< the kernel */
    const dkm_data *X;      /**< training objects */
    kernel_value among;     /**< k(x_i, x_j) */
    const dkm_data *Z;      /**< new objects, or NULL */
    kernel_value to_others; /**< k(z_i, x_j) */
    double tolerance;       /**< relative to 1 + |k|, in double; 2^29 times that in single */
} gram_case;

/** Check the lower triangle, the new rows and k(x, x), in both precisions, over several grids and
 *  block sizes, and that the matrix is positive semidefinite. Collective. */
void check_gram(dkm_ctx *ctx, const gram_case *c);
/** The same of a kernel whose matrix may have negative eigenvalues. Collective. */
void check_indefinite_gram(dkm_ctx *ctx, const gram_case *c);

/** Brutal: the Gram matrix of objects, with themselves as new ones where the kernel has any, with
 *  ever more allocations allowed on rank @p victim; see check_every_allocation(). Collective.
 *  @param[in] X  taken over */
void check_gram_allocations(dkm_ctx *ctx, int victim, const char *text, dkm_data *X);

#endif
