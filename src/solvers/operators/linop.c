#include "solvers/operators/linop.h"

#include "kernels/gram/gram.h"
#include "linalg/symm/symm_multivec.h"

dkm_status dkm_linop_apply(const dkm_linop *A, const dkm_multivec *in, dkm_multivec *out)
{
    out->cols = in->cols;
    return A->apply(A->user, in, out);
}

static dkm_status kernel_op_product(const dkm_kernel_op *op, const dkm_multivec *in,
                                    dkm_multivec *out)
{
    if (op->K)
        return dkm_symm_apply('L', op->K, in, out);
    return dkm_gram_symm(op->grid, op->X, op->nb, DKM_F64, in, out);
}

dkm_status dkm_kernel_op_apply(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    const dkm_kernel_op *op = user;
    dkm_status status = kernel_op_product(op, in, out);

    if (status != DKM_OK)
        return status;
    if (op->scale != 1.0)
        dkm_multivec_scale(op->scale, out);
    dkm_multivec_axpy(op->shift, in, out);
    return DKM_OK;
}

dkm_status dkm_kernel_op_multiply(const dkm_kernel_op *op, dkm_multivec *V)
{
    return kernel_op_product(op, V, V);
}
