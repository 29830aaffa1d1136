/** @file linop.h  Linear operators on multivectors (PETSc: MatShell), and kernel matrices as such.
 */
#ifndef DKMAP_SOLVERS_OPERATORS_LINOP_H
#define DKMAP_SOLVERS_OPERATORS_LINOP_H

#include <dkmap/kernel.h>

#include "matrix/multivec.h"

/** A symmetric operator A: out = A in. @p out has space for the columns of @p in, which it is given,
 *  and is not @p in. Collective. */
typedef struct dkm_linop {
    dkm_status (*apply)(void *user, const dkm_multivec *in, dkm_multivec *out);
    void *user; /**< borrowed */
} dkm_linop;

/** out = A in. Collective. */
DKM_NODISCARD dkm_status dkm_linop_apply(const dkm_linop *A, const dkm_multivec *in,
                                         dkm_multivec *out);

/** scale K + shift I for a kernel matrix that is stored, or computed anew for each product. */
typedef struct dkm_kernel_op {
    dkm_grid *grid;
    const dkm_prepared *X; /**< may be NULL where K is stored */
    dkm_idx nb;
    const dkm_dmat *K; /**< double, lower triangle; NULL: computed anew from X */
    double scale, shift;
} dkm_kernel_op;

/** out = scale K in + shift in; of @p op, a dkm_kernel_op, as dkm_linop wants it. Collective. */
DKM_NODISCARD dkm_status dkm_kernel_op_apply(void *op, const dkm_multivec *in, dkm_multivec *out);

/** V <- K V, without scale and shift. Collective. */
DKM_NODISCARD dkm_status dkm_kernel_op_multiply(const dkm_kernel_op *op, dkm_multivec *V);

#endif
