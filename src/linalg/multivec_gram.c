#include "linalg/multivec_gram.h"

#include <assert.h>

#include "comm/allreduce.h"
#include "linalg/backend/blas.h"

void dkm_multivec_inner_local(const dkm_multivec *A, const dkm_multivec *B, double *G)
{
    assert(A->n == B->n);
    /* row-major n x cols is column-major cols x n */
    dkm_blas_gemm(DKM_F64, 'N', 'T', A->cols, B->cols, A->n, 1.0, A->a, A->ld, B->a, B->ld, 0.0, G,
                  A->cols);
}

void dkm_multivec_inner(const dkm_multivec *A, const dkm_multivec *B, double *G, double *work)
{
    dkm_multivec_inner_local(A, B, G);
    dkm_allreduce_sum(G, A->cols * B->cols, work, dkm_ctx_comm(A->ctx));
}

void dkm_multivec_combine(const dkm_multivec *A, dkm_idx k, const double *S, dkm_idx lds,
                          double scale, double beta, dkm_multivec *C)
{
    assert(k <= C->ld && A->n == C->n);
    C->cols = k;
    dkm_blas_gemm(DKM_F64, 'T', 'N', k, A->n, A->cols, scale, S, lds, A->a, A->ld, beta, C->a,
                  C->ld);
}
