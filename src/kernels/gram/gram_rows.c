/* Kernel values as rows in slabs: Gram matrices, and pairs of objects. */
#include <string.h>

#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "kernels/evaluation/panel.h"
#include "kernels/evaluation/prepare.h"
#include "linalg/backend/blas.h"
#include "linalg/linalg.h"

static dkm_status gram_rows_center(dkm_dmat *K)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    double *means = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_dmat_cols(K), &means));
    DKM_TRY(dkm_gram_center(K, means));
out:
    DKM_FREE(means);
    return status;
}

/* On one rank: columns of the lower triangle are rows of the upper one. */
static void copy_symmetric(const dkm_dmat *K, double *rows)
{
    dkm_idx m = dkm_dmat_rows(K);

    for (dkm_idx j = 0; j < m; j++)
        memcpy(rows + j * m + j, dkm_dmat_f64_const(K) + j * dkm_dmat_ld(K) + j,
               (size_t)(m - j) * sizeof *rows);
    dkm_blas_symmetrize(m, rows, m);
}

dkm_status dkm_gram_to_rows(dkm_dmat *K, dkm_data **rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    dkm_data *made = NULL;

    *rows = NULL;
    DKM_TRY(dkm_data_create_dense(ctx, dkm_dmat_rows(K), dkm_dmat_cols(K), &made));
    if (dkm_ctx_size(ctx) == 1) {
        copy_symmetric(K, dkm_data_values(made));
    } else {
        DKM_TRY(dkm_dmat_symmetrize('L', K));
        DKM_TRY(dkm_dmat_to_rows(K, dkm_data_values(made)));
    }
    *rows = made;
    made = NULL;
out:
    dkm_data_destroy(&made);
    return status;
}

dkm_status dkm_gram_rows(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *X,
                         dkm_idx nb, int centered, dkm_data **rows)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL;

    *rows = NULL;
    DKM_TRY(dkm_gram(grid, kernel, X, nb, DKM_F64, &K));
    if (centered)
        DKM_TRY(gram_rows_center(K));
    DKM_TRY(dkm_gram_to_rows(K, rows));
out:
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_local check_pairs(const dkm_prepared *A, const dkm_prepared *B)
{
    if (A->X->m != B->X->m)
        return dkm_fail(A->ctx, DKM_ERR_ARG, "%lld objects cannot be paired with %lld",
                        (long long)A->X->m, (long long)B->X->m);
    return dkm_prepared_match(A, B);
}

static dkm_local evaluate_pairs(const dkm_prepared *A, const dkm_prepared *B, double *values)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *root = A->kernel->node;
    dkm_panel a = {0}, b = {0};
    double *scratch = NULL;
    dkm_idx n = A->X->mine.n;

    DKM_STEP(dkm_panel_open(&a, A, root, DKM_ROWS, DKM_F64, n));
    DKM_STEP(dkm_panel_open(&b, B, root, DKM_COLS, DKM_F64, n));
    DKM_STEP(dkm_alloc(A->ctx, dkm_node_scratch(root), &scratch));
    dkm_panel_view(&a, 0, n);
    dkm_panel_view(&b, 0, n);
    for (dkm_idx i = 0; i < n; i++) {
        dkm_tile_task task = {.A = &a, .B = &b, .a = i, .b = i, .scratch = scratch};
        dkm_tile C = {DKM_F64, 1, 1, 1, values + i};
        DKM_STEP(dkm_node_tile(root, &task, &C));
    }
out:
    dkm_panel_close(&a);
    dkm_panel_close(&b);
    DKM_FREE(scratch);
    return local;
}

dkm_status dkm_kernel_elementwise(const dkm_prepared *A, const dkm_prepared *B, double *values)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(A->ctx, check_pairs(A, B));
    DKM_AGREE(A->ctx, evaluate_pairs(A, B, values));
out:
    return status;
}

static dkm_local evaluate_diagonal(const dkm_prepared *X, double *values)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_panel panel = {0};

    DKM_STEP(dkm_panel_open_diag(&panel, X));
    for (dkm_idx i = 0; i < panel.n; i++)
        values[i] = dkm_panel_diag(&panel, X->kernel->node)[i];
out:
    dkm_panel_close(&panel);
    return local;
}

dkm_status dkm_kernel_diagonal(const dkm_prepared *X, double *values)
{
    return dkm_agree(X->ctx, evaluate_diagonal(X, values));
}
