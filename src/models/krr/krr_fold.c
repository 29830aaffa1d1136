/* A factor without some of its rows, the gaps closed.
 *
 * Without rows and columns r of A = L L', A = L(keep, keep) L(keep, keep)' + V V' with V = L(keep, r), which
 * is an update of a factor by a sum (linalg/factor/rank_update.c). The leading part ends where a round
 * of blocks over the grid ends, so that it stays where it is.
 *
 * Cost for n rows, k of which go: at most 2 k n^2 flops, a third of it for rows drawn at random; n^2 / 2
 * words to bring the factor here, and 3 n^2 / ranks to close the gaps. Held per rank: two factors, and two
 * copies more of the rows from the first removed one on. Replicated: n indices. */
#include "models/krr/krr_fold.h"

#include <string.h>

#include "core/alloc.h"
#include "linalg/factor/rank_update.h"
#include "matrix/dmat_impl.h"
#include "models/krr/krr_inverse.h"

/* A part of a matrix that begins at multiples of nb P and nb Q: its blocks lie as those of a matrix
 * of its own. */
static dkm_dmat fold_view(const dkm_dmat *A, dkm_idx i, dkm_idx j, dkm_idx m, dkm_idx n)
{
    dkm_dmat view = *A;
    int p = dkm_grid_row(A->grid), q = dkm_grid_col(A->grid);
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);

    view.m = m;
    view.n = n;
    if (p < 0)
        return view;
    view.m_loc = dkm_cyclic_count(m, A->mb, p, P);
    view.n_loc = dkm_cyclic_count(n, A->nb, q, Q);
    view.a.f64 = A->a.f64 + i / P + j / Q * A->ld;
    return view;
}

/* The end of the last full round of blocks over the grid before row @p m. */
static dkm_idx fold_aligned(const dkm_dmat *L, dkm_idx m)
{
    dkm_idx P = dkm_grid_rows(L->grid), Q = dkm_grid_cols(L->grid), lcm = P;

    while (lcm % Q != 0)
        lcm += P;
    return m / (L->nb * lcm) * (L->nb * lcm);
}

/* B <- A, of the same shape. */
static void fold_copy(const dkm_dmat *A, dkm_dmat *B)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        memcpy(B->a.f64 + jl * B->ld, A->a.f64 + jl * A->ld, (size_t)A->m_loc * sizeof(double));
}

/* Columns @p cols of the rows of @p from, as a matrix. */
static dkm_status fold_take_columns(const dkm_data *from, dkm_idx count, const dkm_idx *cols,
                                    dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(from);
    dkm_idx n = dkm_data_local_rows(from), m = dkm_data_cols(from);
    const double *values = dkm_data_values_const(from);
    double *rows = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * count, &rows));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < count; j++)
            rows[i * count + j] = values[i * m + cols[j]];
    DKM_TRY(dkm_dmat_from_rows(A, rows));
out:
    DKM_FREE(rows);
    return status;
}

/* Rows of the factor that stay, and that go, both ascending. */
typedef struct split {
    dkm_idx retained, gone;
    dkm_idx *keep;
    const dkm_idx *go;
} split;

static dkm_local fold_split(split *z, dkm_ctx *ctx, dkm_idx n, dkm_idx gone, const dkm_idx *rows)
{
    dkm_local local = DKM_LOCAL_OK;

    *z = (split){.gone = gone, .go = rows};
    DKM_STEP(dkm_alloc(ctx, n, &z->keep));
    for (dkm_idx i = 0, k = 0; i < n; i++) {
        if (k < gone && rows[k] == i)
            k++;
        else
            z->keep[z->retained++] = i;
    }
out:
    return local;
}

/* The rows of L from @p from on that stay, in slabs; zero above the diagonal. */
static dkm_status fold_kept_rows(const dkm_dmat *L, dkm_idx from, const split *z,
                                 dkm_data **retained)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(L->grid);
    dkm_idx m = L->m, *indices = NULL;
    dkm_dmat below = fold_view(L, from, 0, m - from, m);
    dkm_data *rows = NULL;

    *retained = NULL;
    DKM_TRY(dkm_data_create_dense(ctx, m - from, m, &rows));
    DKM_TRY(dkm_dmat_to_rows(&below, dkm_data_values(rows)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(rows); i++) {
        dkm_idx ig = from + dkm_data_local_first(rows) + i;
        memset(dkm_data_values(rows) + i * m + ig + 1, 0, (size_t)(m - ig - 1) * sizeof(double));
    }
    DKM_AGREE(ctx, dkm_alloc(ctx, z->retained - from, &indices));
    for (dkm_idx i = from; i < z->retained; i++)
        indices[i - from] = z->keep[i] - from;
    DKM_TRY(dkm_data_select(rows, z->retained - from, indices, retained));
out:
    DKM_FREE(indices);
    dkm_data_destroy(&rows);
    return status;
}

/* Where each of the columns V that go begins: at the rows below the one that went. */
static void fold_first(const split *z, dkm_idx from, dkm_idx *first)
{
    for (dkm_idx c = 0, at = 0; c < z->gone; c++) {
        while (at < z->retained && z->keep[at] < z->go[c])
            at++;
        first[c] = at - from;
    }
}

/* The gaps of @p was are closed in L, and what their columns held is added. */
static dkm_status fold_close(const dkm_dmat *was, const split *z, dkm_dmat *L)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(L->grid);
    dkm_idx from = fold_aligned(L, z->go[0]), n = z->retained, *first = NULL;
    dkm_dmat *V = NULL, top = fold_view(L, 0, 0, from, from),
             above = fold_view(was, 0, 0, from, from), below, last;
    dkm_data *rows = NULL;

    fold_copy(&above, &top);
    if (n == from)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_alloc(ctx, z->gone, &first));
    DKM_TRY(fold_kept_rows(was, from, z, &rows));
    DKM_TRY(dkm_dmat_create(L->grid, n - from, z->gone, L->nb, 1, DKM_F64, &V));
    DKM_TRY(fold_take_columns(rows, z->gone, z->go, V));
    below = fold_view(L, from, 0, n - from, n);
    DKM_TRY(fold_take_columns(rows, n, z->keep, &below));
    fold_first(z, from, first);
    last = fold_view(L, from, from, n - from, n - from);
    DKM_TRY(dkm_la_rank_update(&last, V, first));
out:
    dkm_data_destroy(&rows);
    dkm_dmat_destroy(&V);
    DKM_FREE(first);
    return status;
}

dkm_status dkm_krr_fold(const dkm_krr_factor *f, const dkm_fitted_kernel *fitted, dkm_idx gone,
                        const dkm_idx *rows, dkm_dmat **L)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_krr_factor_order(f);
    dkm_dmat *was = NULL;
    split z = {0};

    *L = NULL;
    DKM_AGREE(fitted->ctx, fold_split(&z, fitted->ctx, n, gone, rows));
    DKM_TRY(dkm_krr_factor_matrix(f, fitted, &was));
    DKM_TRY(dkm_dmat_create(fitted->grid, n - gone, n - gone, fitted->nb, fitted->nb, DKM_F64, L));
    DKM_TRY(fold_close(was, &z, *L));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(L);
    dkm_dmat_destroy(&was);
    DKM_FREE(z.keep);
    return status;
}
