#include "kernels/vector/vectors.h"

#include <string.h>

#include "kernels/evaluation/sparse_dot.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_i16.h"

#define SUM_MOST 2147483647.0 /* of 32-bit numbers */

static double vectors_square(const double *x, dkm_idx n)
{
    double sum = 0;

    for (dkm_idx k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sum;
}

dkm_local dkm_vectors_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    (void)node;
    *out = *X;
    out->extra = NULL;
    DKM_STEP(dkm_objs_add_extra(out, 1));
    for (dkm_idx i = 0; i < X->n; i++)
        out->extra[i] = X->type == DKM_DENSE
                            ? vectors_square(X->values + i * X->d, X->d)
                            : vectors_square(X->val + X->start[i], X->start[i + 1] - X->start[i]);
out:
    return local;
}

/* Inner products by integers, where all values of both sides are such. */
static int dot_whole(const dkm_node *node, const dkm_tile_task *job, const dkm_tile *C)
{
    const dkm_int16_rows *a = &job->A->whole[node->slot], *b = &job->B->whole[node->slot];
    dkm_idx width = dkm_gemm_i16_ld(dkm_panel_objs(job->A, node)->d);
    dkm_i16_rows A = {C->na, width, NULL}, B = {C->nb, width, NULL};

    if (!a->rows || !b->rows || !job->A->room || a->most < 0 || b->most < 0 ||
        (double)width * a->most * b->most > SUM_MOST)
        return 0;
    A.rows = a->rows + job->a * width;
    B.rows = b->rows + job->b * width;
    dkm_gemm_i16(&A, &B, C->precision, C->c, C->ld, job->A->room + job->thread * job->A->room_each);
    return 1;
}

static void copy_tile(const dkm_tile *from, const dkm_tile *C)
{
    size_t bytes = (size_t)C->na * (C->precision == DKM_F64 ? 8u : 4u);

    for (dkm_idx j = 0; j < C->nb; j++)
        memcpy(dkm_tile_at(C, 0, j), dkm_tile_at(from, 0, j), bytes);
}

dkm_local dkm_vectors_dot(const dkm_node *node, const dkm_tile_task *job, const dkm_tile *C)
{
    const dkm_objs *A = dkm_panel_objs(job->A, node), *B = dkm_panel_objs(job->B, node);

    if (job->dots) {
        copy_tile(job->dots, C);
        return DKM_LOCAL_OK;
    }
    if (A->type != DKM_DENSE)
        return dkm_sparse_dot_tile(DKM_SPARSE_PRODUCT, A, job->a, B, job->b, C);
    /* rows of a panel are the columns of a d x n matrix */
    if (!dot_whole(node, job, C))
        dkm_blas_gemm(C->precision, 'T', 'N', C->na, C->nb, A->d, 1.0,
                      dkm_panel_values(job->A, node, job->a), dkm_panel_step(job->A, node),
                      dkm_panel_values(job->B, node, job->b), dkm_panel_step(job->B, node), 0.0,
                      C->c, C->ld);
    dkm_phase_flops(job->A->of->ctx, 2.0 * (double)C->na * (double)C->nb * (double)A->d);
    return DKM_LOCAL_OK;
}

void dkm_self_one(const dkm_node *node, dkm_panel *panel)
{
    double *self = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        self[i] = 1.0;
}
