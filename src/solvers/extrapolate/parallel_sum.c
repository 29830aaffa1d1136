/* Parallel sum of positive semidefinite matrices in factored form, A : B = A (A + B)^+ B (Anderson
 * and Duffin 1969, J. Math. Anal. Appl. 26(3):576-594, doi:10.1016/0022-247X(69)90200-5), which for
 * nonsingular matrices is (A^-1 + B^-1)^-1.
 *
 * A : B = A - A (A + B)^+ A. With A = a a', B = b b', C = [a b], A + B = C C', and the projector
 * C^+ C = I - N N' onto the complement of the null space of C, this is a (I - (C^+ C)_aa) a' = a Na
 * Na' a', where Na is the part of N in the columns of a. Weights divide: (w A^-1)^-1 = A / w.
 *
 * Cost: an SVD of t x n numbers per matrix, t = columns of both roots, on rank 0; U, t^2 numbers,
 * and the roots are replicated. */
#include <math.h>

#include <dkmap/extrapolate.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/factor/tsqr.h"

/* Columns of a root, divided by that of its weight, as rows [at, at + a.t) of a column-major
 * matrix of @p rows rows. */
static void stack_roots(dkm_idx n, const dkm_weighted_root *a, dkm_idx at, dkm_idx rows, double *C)
{
    double scale = 1.0 / sqrt(a->weight);

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < a->t; k++)
            C[at + k + i * rows] = scale * a->root[i * a->t + k];
}

/* The joint root of two. */
static dkm_status parallel_sum_pair(dkm_ctx *ctx, dkm_idx n, const dkm_weighted_root *a,
                                    const dkm_weighted_root *b, double **root, dkm_idx *t)
{
    dkm_status status = DKM_OK;
    dkm_idx rows = a->t + b->t, rank = 0;
    double *C = NULL, *U = NULL, *joint = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, rows * n, &C));
    DKM_AGREE(ctx, dkm_alloc(ctx, rows * rows, &U));
    stack_roots(n, a, 0, rows, C);
    stack_roots(n, b, a->t, rows, C);
    DKM_TRY(dkm_null_space(ctx, rows, n, C, U, &rank));
    *t = a->t > 0 && b->t > 0 ? rows - rank : 0;
    DKM_AGREE(ctx, dkm_alloc(ctx, n * *t, &joint));
    /* row-major n x t is column-major t x n */
    if (*t > 0)
        dkm_blas_gemm(DKM_F64, 'T', 'N', *t, n, a->t, 1.0 / sqrt(a->weight), U + rank * rows, rows,
                      a->root, a->t, 0.0, joint, *t);
    *root = joint;
    joint = NULL;
out:
    DKM_FREE(joint);
    DKM_FREE(U);
    DKM_FREE(C);
    return status;
}

/* A root over that of its weight. */
static dkm_local scale(dkm_ctx *ctx, dkm_idx n, const dkm_weighted_root *a, double **root,
                       dkm_idx *t)
{
    dkm_local local = dkm_alloc(ctx, n * a->t, root);

    for (dkm_idx k = 0; local.code == DKM_OK && k < n * a->t; k++)
        (*root)[k] = a->root[k] / sqrt(a->weight);
    *t = a->t;
    return local;
}

dkm_status dkm_parallel_sum(dkm_ctx *ctx, dkm_idx n, dkm_idx count, const dkm_weighted_root *roots,
                            double **root, dkm_idx *t)
{
    dkm_status status = DKM_OK;
    double *so_far = NULL, *next = NULL;
    int any = 0;

    *root = NULL;
    *t = 0;
    for (dkm_idx k = 0; k < count; k++) {
        dkm_weighted_root known = {*t, so_far, 1.0};
        if (!(roots[k].weight > 0))
            continue;
        if (any)
            DKM_TRY(parallel_sum_pair(ctx, n, &known, &roots[k], &next, t));
        else
            DKM_AGREE(ctx, scale(ctx, n, &roots[k], &next, t));
        any = 1;
        DKM_FREE(so_far);
        so_far = next;
        next = NULL;
    }
    DKM_REQUIRE(ctx, any, DKM_ERR_ARG, "no root to join has a weight above 0");
    *root = so_far;
    so_far = NULL;
out:
    DKM_FREE(next);
    DKM_FREE(so_far);
    return status;
}
