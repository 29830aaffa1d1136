/* Solves with a factor whose rows may stand for forgotten examples.
 *
 * The inverse of a principal block of A = L L': for rows r that go, with W = L^-1 E_r of rows first to
 * last,
 *   (A_kk)^-1 = (A^-1 - A^-1 E_r (E_r' A^-1 E_r)^-1 E_r' A^-1)_kk = (L^-T (I - W (W'W)^-1 W') L^-1)_kk,
 * which is the projection from the range of W (Hager 1989, SIAM Rev. 31(2):221-239, doi:10.1137/1031049,
 * for the formula with a bordered matrix). As I - Q Q' for an orthonormal basis Q of that range it loses
 * no digits.
 *
 * Cost for n rows, d of them forgotten, and p right-hand sides: 2 n^2 p flops and two passes over L
 * (solvers/ridge/factor_rows.c), 4 n d p for the projection; over the ranks. Replicated: 2 n indices where
 * rows were forgotten, and n weights. */
#include "models/krr/krr_inverse.h"

#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "solvers/ridge/factor_rows.h"

/* ---- rows and examples ---- */

static dkm_local base_number(dkm_krr_base *b, dkm_ctx *ctx, const dkm_krr_factor *f)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx next = 0, k = 0;

    DKM_STEP(dkm_alloc(ctx, b->n, &b->place));
    DKM_STEP(dkm_alloc(ctx, b->m, &b->live));
    for (dkm_idx i = 0; i < b->n; i++) {
        b->place[i] = -1;
        if (k < f->dead && f->gone[k] == i) {
            k++;
            continue;
        }
        b->live[next] = i;
        b->place[i] = next++;
    }
out:
    return local;
}

/* The inputs, an example standing in for those that are gone. */
static dkm_status base_inputs(const dkm_krr_base *b, const dkm_data *X, dkm_data **all)
{
    dkm_status status = DKM_OK;
    dkm_idx *rows = NULL;

    DKM_AGREE(dkm_data_ctx(X), dkm_alloc(dkm_data_ctx(X), b->n, &rows));
    for (dkm_idx i = 0; i < b->n; i++)
        rows[i] = b->place[i] < 0 ? 0 : b->place[i];
    DKM_TRY(dkm_data_select(X, b->n, rows, all));
out:
    DKM_FREE(rows);
    return status;
}

static dkm_local base_weigh(dkm_krr_base *b, dkm_ctx *ctx, const dkm_example_weights *roots)
{
    dkm_local local = DKM_LOCAL_OK;

    b->roots = (dkm_example_weights){.ctx = ctx, .m = b->n, .count = b->m};
    if (!b->place && !roots->root)
        return local;
    DKM_STEP(dkm_alloc(ctx, b->n, &b->roots.root));
    for (dkm_idx i = 0; i < b->n; i++) {
        dkm_idx at = b->place ? b->place[i] : i;
        b->roots.root[i] = at < 0 ? 0.0 : roots->root ? roots->root[at] : 1.0;
    }
out:
    return local;
}

dkm_status dkm_krr_base_open(dkm_krr_base *b, const dkm_krr_factor *f, dkm_fitted_kernel *fitted,
                             dkm_idx n)
{
    dkm_status status = DKM_OK;
    dkm_data *all = NULL;

    *b = (dkm_krr_base){.n = n, .m = dkm_data_rows(fitted->X), .fitted = fitted};
    if (f->dead > 0)
        DKM_AGREE(fitted->ctx, base_number(b, fitted->ctx, f));
    DKM_AGREE(fitted->ctx, base_weigh(b, fitted->ctx, &f->roots));
    if (f->dead > 0) {
        DKM_TRY(base_inputs(b, fitted->X, &all));
        DKM_TRY(dkm_fitted_kernel_open_sharing_grid(&b->own, fitted, all, fitted->kernel));
        b->fitted = &b->own;
    }
out:
    dkm_data_destroy(&all);
    return status;
}

void dkm_krr_base_close(dkm_krr_base *b)
{
    if (b->own.ctx)
        dkm_fitted_kernel_close(&b->own);
    dkm_example_weights_close(&b->roots);
    DKM_FREE(b->live);
    DKM_FREE(b->place);
    *b = (dkm_krr_base){0};
}

/* Rows per example become rows per row of the factor, zero where that stands for no example. */
static dkm_status base_widen(const dkm_krr_base *b, const dkm_data *rows, dkm_data **wide)
{
    dkm_status status = DKM_OK;
    dkm_idx p = dkm_data_cols(rows);

    *wide = NULL;
    if (!b->place) {
        *wide = dkm_data_share(rows);
        return DKM_OK;
    }
    DKM_TRY(base_inputs(b, rows, wide));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*wide); i++)
        if (b->place[dkm_data_local_first(*wide) + i] < 0)
            memset(dkm_data_values(*wide) + i * p, 0, (size_t)p * sizeof(double));
out:
    return status;
}

/* And back. */
static dkm_status base_narrow(const dkm_krr_base *b, const dkm_data *rows, dkm_data **narrow)
{
    *narrow = NULL;
    if (!b->live) {
        *narrow = dkm_data_share(rows);
        return DKM_OK;
    }
    return dkm_data_select(rows, b->m, b->live, narrow);
}

/* ---- matrices and rows ---- */

dkm_status dkm_krr_rows_of(const dkm_dmat *A, dkm_data **rows)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(dkm_grid_ctx(A->grid), A->m, A->n, rows));
    DKM_TRY(dkm_dmat_to_rows(A, dkm_data_values(*rows)));
out:
    if (status != DKM_OK)
        dkm_data_destroy(rows);
    return status;
}

dkm_status dkm_krr_matrix_of(const dkm_fitted_kernel *fitted, const dkm_data *rows, dkm_dmat **A)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(fitted->grid, dkm_data_rows(rows), dkm_data_cols(rows), fitted->nb,
                            fitted->nb, DKM_F64, A));
    DKM_TRY(dkm_dmat_from_rows(*A, dkm_data_values_const(rows)));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(A);
    return status;
}

dkm_dmat dkm_krr_leading(const dkm_dmat *A, dkm_idx m, dkm_idx n)
{
    dkm_dmat part = *A;
    int p = dkm_grid_row(A->grid), q = dkm_grid_col(A->grid);

    part.m = m;
    part.n = n;
    part.m_loc = p < 0 ? 0 : dkm_cyclic_count(m, A->mb, p, dkm_grid_rows(A->grid));
    part.n_loc = p < 0 ? 0 : dkm_cyclic_count(n, A->nb, q, dkm_grid_cols(A->grid));
    return part;
}

dkm_status dkm_krr_take_rows(const dkm_dmat *A, dkm_idx from, dkm_idx count, dkm_dmat **part)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(A->grid, count, A->n, A->mb, A->nb, DKM_F64, part));
    dkm_la_lacpy(A, (dkm_place){from, 0}, *part, (dkm_place){0, 0}, count, A->n);
out:
    return status;
}

/* ---- the factor ---- */

static dkm_factor_rows factor_pieces(const dkm_krr_factor *f, const dkm_fitted_kernel *fitted)
{
    dkm_idx n = dkm_krr_factor_order(f);

    return (dkm_factor_rows){.grid = fitted->grid,
                             .n = n,
                             .h = f->tail ? n - dkm_dmat_rows(f->tail) : n,
                             .nb = fitted->nb,
                             .file = f->L ? NULL : &f->stored.rows,
                             .head = f->L,
                             .tail = f->tail};
}

dkm_status dkm_krr_factor_forward(const dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                                  dkm_idx from, const dkm_idx *first, dkm_dmat *B)
{
    dkm_factor_rows L = factor_pieces(f, fitted);

    return dkm_factor_rows_solve(&L, from, first, B);
}

dkm_status dkm_krr_factor_back(const dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                               dkm_dmat *B)
{
    dkm_factor_rows L = factor_pieces(f, fitted);

    return dkm_factor_rows_solve_back(&L, B);
}

dkm_status dkm_krr_factor_matrix(const dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                                 dkm_dmat **L)
{
    dkm_status status = DKM_OK;
    dkm_factor_rows rows = factor_pieces(f, fitted);

    DKM_TRY(dkm_dmat_create(fitted->grid, rows.n, rows.n, fitted->nb, fitted->nb, DKM_F64, L));
    DKM_TRY(dkm_factor_rows_copy(&rows, *L));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(L);
    return status;
}

dkm_status dkm_krr_project(const dkm_dmat *Q, dkm_dmat *B)
{
    dkm_status status = DKM_OK;
    dkm_dmat *C = NULL, part;

    if (!Q)
        return DKM_OK;
    part = dkm_krr_leading(B, B->m, Q->n);
    DKM_TRY(dkm_dmat_create_like(B, Q->m, Q->mb, DKM_F64, &C));
    dkm_la_gemm('N', 'T', 1.0, &part, Q, 0.0, C);
    dkm_la_gemm('N', 'N', -1.0, C, Q, 1.0, &part);
out:
    dkm_dmat_destroy(&C);
    return status;
}

dkm_status dkm_krr_transpose_of(const dkm_fitted_kernel *fitted, const dkm_data *rows, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL;

    DKM_TRY(dkm_krr_matrix_of(fitted, rows, &V));
    DKM_TRY(dkm_dmat_create(fitted->grid, V->n, V->m, fitted->nb, fitted->nb, DKM_F64, A));
    dkm_la_transpose(V, *A);
out:
    dkm_dmat_destroy(&V);
    return status;
}

dkm_status dkm_krr_base_take(const dkm_krr_base *b, const dkm_dmat *A, dkm_multivec *V)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = b->fitted;
    dkm_dmat *T = NULL;
    dkm_data *rows = NULL, *narrow = NULL;

    DKM_TRY(dkm_dmat_create(fitted->grid, A->n, A->m, fitted->nb, fitted->nb, DKM_F64, &T));
    dkm_la_transpose(A, T);
    DKM_TRY(dkm_krr_rows_of(T, &rows));
    DKM_TRY(base_narrow(b, rows, &narrow));
    dkm_multivec_unpack(dkm_data_values_const(narrow), V);
out:
    dkm_data_destroy(&narrow);
    dkm_data_destroy(&rows);
    dkm_dmat_destroy(&T);
    return status;
}

dkm_status dkm_krr_base_give(const dkm_krr_base *b, const dkm_multivec *V, dkm_data **wide)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    *wide = NULL;
    DKM_TRY(dkm_data_create_dense(V->ctx, b->m, V->cols, &rows));
    dkm_multivec_pack(V, dkm_data_values(rows));
    DKM_TRY(base_widen(b, rows, wide));
out:
    dkm_data_destroy(&rows);
    return status;
}

dkm_status dkm_krr_factor_apply_inverse(const dkm_krr_factor *f, const dkm_krr_base *b,
                                        dkm_multivec *V)
{
    dkm_status status = DKM_OK;
    dkm_data *wide = NULL;
    dkm_dmat *B = NULL;

    DKM_TRY(dkm_krr_base_give(b, V, &wide));
    DKM_TRY(dkm_krr_transpose_of(b->fitted, wide, &B));
    DKM_TRY(dkm_krr_factor_forward(f, b->fitted, 0, NULL, B));
    DKM_TRY(dkm_krr_project(f->Q, B));
    DKM_TRY(dkm_krr_factor_back(f, b->fitted, B));
    DKM_TRY(dkm_krr_base_take(b, B, V));
out:
    dkm_dmat_destroy(&B);
    dkm_data_destroy(&wide);
    return status;
}
