#include "kernels/vector/vectors.h"

#include <math.h>
#include <string.h>

#include "kernels/evaluation/row_transform.h"
#include "kernels/evaluation/sparse_dot.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_i16.h"
#include "linalg/kernels/gemm_tn.h"
#include "linalg/kernels/gemm_u8.h"

#define SUM_MOST 2147483647.0 /* of 32-bit numbers */

static double vectors_square(const double *x, dkm_idx n)
{
    double sum = 0;

    for (dkm_idx k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sum;
}

dkm_local dkm_vectors_add_norms(const dkm_objs *X, double (*norm)(const double *x, dkm_idx n),
                                dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    *out = *X;
    out->extra = NULL;
    DKM_STEP(dkm_objs_add_extra(out, 1));
    for (dkm_idx i = 0; i < X->n; i++)
        out->extra[i] = X->type == DKM_DENSE
                            ? norm(X->values + i * X->d, X->d)
                            : norm(X->val + X->start[i], X->start[i + 1] - X->start[i]);
out:
    return local;
}

dkm_local dkm_vectors_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    (void)node;
    return dkm_vectors_add_norms(X, vectors_square, out);
}

/* Inner products of rows of bytes. */
static int dot_bytes(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_idx width = dkm_gemm_u8_ld(dkm_panel_objs(task->A, node)->d);
    dkm_u8_rows A = {C->na, width, task->A->int16[node->slot].bytes + task->a * width};
    dkm_u8_rows B = {C->nb, width, task->B->int16[node->slot].bytes + task->b * width};

    dkm_gemm_u8(&A, &B, C->precision, C->c, C->ld, dkm_panel_workspace(task->A, task->thread));
    return 1;
}

/* Inner products by integers, where all values of both sides are such. */
static int dot_int16(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const dkm_int16_rows *a = &task->A->int16[node->slot], *b = &task->B->int16[node->slot];
    dkm_idx width = dkm_gemm_i16_ld(dkm_panel_objs(task->A, node)->d);
    dkm_i16_rows A = {C->na, width, NULL}, B = {C->nb, width, NULL};

    if (!a->rows || !b->rows || !task->A->workspace || a->most < 0 || b->most < 0 ||
        (double)width * a->most * b->most > SUM_MOST)
        return 0;
    if (a->are_bytes && b->are_bytes)
        return dot_bytes(node, task, C);
    A.rows = a->rows + task->a * width;
    B.rows = b->rows + task->b * width;
    dkm_gemm_i16(&A, &B, C->precision, C->c, C->ld, dkm_panel_workspace(task->A, task->thread));
    return 1;
}

/* Inner products of dense rows: the rows of a panel are the columns of a d x n matrix. */
static void dot_dense(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_tn_rows A = {C->na, dkm_panel_step(task->A, node),
                     dkm_panel_values(task->A, node, task->a)};
    dkm_tn_rows B = {C->nb, dkm_panel_step(task->B, node),
                     dkm_panel_values(task->B, node, task->b)};
    dkm_tn_product p = {C->precision, dkm_panel_objs(task->A, node)->d, A, B, C->c, C->ld};
    void *work = dkm_panel_workspace(task->A, task->thread);

    if (work && dkm_gemm_tn_available() && C->na >= DKM_TN_LEAST && C->nb >= DKM_TN_LEAST)
        dkm_gemm_tn(&p, work);
    else
        dkm_blas_gemm(C->precision, 'T', 'N', C->na, C->nb, p.d, 1.0, A.rows, A.ld, B.rows, B.ld,
                      0.0, C->c, C->ld);
}

static void copy_tile(const dkm_tile *from, const dkm_tile *C)
{
    size_t bytes = (size_t)C->na * (C->precision == DKM_F64 ? 8u : 4u);

    for (dkm_idx j = 0; j < C->nb; j++)
        memcpy(dkm_tile_at(C, 0, j), dkm_tile_at(from, 0, j), bytes);
}

dkm_local dkm_vectors_dot(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const dkm_objs *A = dkm_panel_objs(task->A, node), *B = dkm_panel_objs(task->B, node);

    if (task->dots) {
        copy_tile(task->dots, C);
        return DKM_LOCAL_OK;
    }
    if (A->type != DKM_DENSE)
        return dkm_sparse_dot_tile(DKM_SPARSE_PRODUCT, A, task->a, B, task->b, C);
    if (!dot_int16(node, task, C))
        dot_dense(node, task, C);
    dkm_phase_flops(task->A->of->ctx, 2.0 * (double)C->na * (double)C->nb * (double)A->d);
    return DKM_LOCAL_OK;
}

dkm_local dkm_vectors_column(const dkm_node *node, const dkm_tile_task *task,
                             const dkm_panel *panel, dkm_idx first, dkm_idx number,
                             const double **column, dkm_idx *step)
{
    if (task->dots || dkm_panel_objs(panel, node)->type != DKM_DENSE)
        return dkm_fail(panel->of->ctx, DKM_ERR_UNSUPPORTED,
                        "derivatives by a width per column are for dense rows of moderate width: "
                        "give %s one width",
                        node->kind->name);
    *column = (const double *)dkm_panel_values(panel, node, first) + number;
    *step = dkm_panel_step(panel, node);
    return DKM_LOCAL_OK;
}

/* dk / d sigma = f'(q) dq / d sigma, with dq / d sigma = -2 q / sigma; of one width among several
 * -2 (y_k - y'_k)^2 / sigma_k, where y are the rows divided by their widths. */
dkm_local dkm_vectors_width_tile(const dkm_node *node, const dkm_tile_task *task, dkm_idx number,
                                 double (*slope)(const dkm_node *node, double q), const dkm_tile *D)
{
    const double *a = dkm_panel_objs(task->A, node)->extra + task->a;
    const double *b = dkm_panel_objs(task->B, node)->extra + task->b;
    double sigma = node->param[0].numbers[number], *d = D->c;
    const double *x = NULL, *y = NULL;
    dkm_idx x_step = 0, y_step = 0;
    dkm_local local = DKM_LOCAL_OK;
    int widths = dkm_node_widths(node) != NULL;

    if (widths) {
        DKM_STEP(dkm_vectors_column(node, task, task->A, task->a, number, &x, &x_step));
        DKM_STEP(dkm_vectors_column(node, task, task->B, task->b, number, &y, &y_step));
    }
    DKM_STEP(dkm_vectors_dot(node, task, D));
    for (dkm_idx j = 0; j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++) {
            double *at = &d[i + j * D->ld], square = fmax(0.0, a[i] + b[j] - 2.0 * *at);
            double q = widths ? square : square / (sigma * sigma);
            double gap = widths ? x[i * x_step] - y[j * y_step] : 0.0;
            *at = -2.0 / sigma * slope(node, q) * (widths ? gap * gap : q);
        }
out:
    return local;
}

dkm_local dkm_vectors_slope_tile(const dkm_node *node, const dkm_tile_task *task,
                                 const dkm_param_place *by, const dkm_tile *D)
{
    dkm_local local = dkm_vectors_dot(node, task, D);

    (void)by;
    for (dkm_idx j = 0; j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++)
            dkm_tile_put(D, i, j, node->kind->param_slope(node, dkm_tile_get(D, i, j)));
    return local;
}

dkm_local dkm_vectors_slope_diag(const dkm_node *node, const dkm_panel *panel, dkm_idx first,
                                 dkm_idx n, const dkm_param_place *by, double *diag)
{
    const double *squares = dkm_panel_objs(panel, node)->extra + first;

    (void)by;
    for (dkm_idx i = 0; i < n; i++)
        diag[i] = node->kind->param_slope(node, squares[i]);
    return DKM_LOCAL_OK;
}

void dkm_diag_one(const dkm_node *node, dkm_panel *panel)
{
    double *diag = dkm_panel_diag(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        diag[i] = 1.0;
}
