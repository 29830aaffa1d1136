/* C = A W A by outer products of panels, SUMMA (van de Geijn and Watts 1997, Concurrency 9(4):255-274) with both
 * factors from one symmetric matrix: for the columns k of a panel
 *
 *   C(I, J) += [A(I, k) W_k] A(k, J)
 *
 * where a rank gets A(I, k), for its rows I, from its grid row, and A(k, J) = A(J, k)', for its columns J, from
 * its grid column, so that nothing is transposed on the way. Panels are wide enough for the rate of large
 * products, whatever the blocks are.
 *
 * Cost for order n on P x Q ranks: n^3 / (P Q) flops per rank; n^2 / P + n^2 / Q words received. Held: panels, 2 PANEL
 * (n / P + n / Q) numbers. Nothing is replicated. */
#include "linalg/symm/symm_square.h"

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"

#define PANEL 256 /* columns at a time */
#define STRIP 256 /* columns of C: above the diagonal of each of them products are wasted */

typedef struct square_ws {
    const dkm_dmat *A;
    const double *w;
    int p, q, P, Q;
    dkm_idx at, width;      /* the panel */
    double *gathered, *own; /* as ranks give it */
    double *rows, *cols;    /* A(I, k) W_k and A(J, k), a column for each k in turn */
    int *counts, *starts;
} square_ws;

static dkm_local square_open(square_ws *s, const dkm_dmat *A, const double *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_idx most = dkm_idx_max(A->m_loc, A->n_loc) + 1;

    *s = (square_ws){.A = A,
                     .w = w,
                     .p = dkm_grid_row(A->grid),
                     .q = dkm_grid_col(A->grid),
                     .P = dkm_grid_rows(A->grid),
                     .Q = dkm_grid_cols(A->grid)};
    if (s->p < 0)
        return local;
    dkm_blas_use_threads(ctx);
    DKM_STEP(dkm_alloc(ctx, most * PANEL, &s->own));
    DKM_STEP(dkm_alloc(ctx, most * PANEL, &s->gathered));
    DKM_STEP(dkm_alloc(ctx, most * PANEL, &s->rows));
    DKM_STEP(dkm_alloc(ctx, most * PANEL, &s->cols));
    DKM_STEP(dkm_alloc(ctx, s->P + s->Q, &s->counts));
    DKM_STEP(dkm_alloc(ctx, s->P + s->Q, &s->starts));
out:
    return local;
}

static void square_close(square_ws *s)
{
    DKM_FREE(s->starts);
    DKM_FREE(s->counts);
    DKM_FREE(s->cols);
    DKM_FREE(s->rows);
    DKM_FREE(s->gathered);
    DKM_FREE(s->own);
}

/* Rows or columns of the panel that part @p part of @p parts has. */
static dkm_idx square_share(const square_ws *s, int part, int parts)
{
    dkm_idx nb = s->A->nb;

    return dkm_cyclic_count(s->at + s->width, nb, part, parts) -
           dkm_cyclic_count(s->at, nb, part, parts);
}

/* What each of @p parts has of the panel, @p length numbers a column, to all of them; then in the order of
 * the columns, scaled if @p w is given. */
static void square_gather(square_ws *s, MPI_Comm comm, int parts, dkm_idx length, const double *w,
                          double *panel)
{
    const dkm_idx nb = s->A->nb;
    int me;

    MPI_Comm_rank(comm, &me);
    for (int part = 0, start = 0; part < parts; part++) {
        s->counts[part] = (int)(square_share(s, part, parts) * length);
        s->starts[part] = start;
        start += s->counts[part];
    }
    if (parts > 1)
        MPI_Allgatherv(s->own, s->counts[me], MPI_DOUBLE, s->gathered, s->counts, s->starts,
                       MPI_DOUBLE, comm);
    for (dkm_idx k = 0; k < s->width; k++) {
        int owner = dkm_cyclic_owner(s->at + k, nb, parts);
        dkm_idx place =
            dkm_cyclic_local(s->at + k, nb, parts) - dkm_cyclic_count(s->at, nb, owner, parts);
        const double *from = (parts > 1 ? s->gathered + s->starts[owner] : s->own) + place * length;
        double *to = panel + k * length;
        if (!w)
            memcpy(to, from, (size_t)length * sizeof *to);
        for (dkm_idx i = 0; w && i < length; i++)
            to[i] = w[s->at + k] * from[i];
    }
}

static void square_load(square_ws *s)
{
    const dkm_dmat *A = s->A;
    dkm_idx jl = dkm_cyclic_count(s->at, A->nb, s->q, s->Q), n = square_share(s, s->q, s->Q);
    dkm_idx il = dkm_cyclic_count(s->at, A->mb, s->p, s->P), m = square_share(s, s->p, s->P);

    for (dkm_idx k = 0; k < n; k++)
        memcpy(s->own + k * A->m_loc, A->a.f64 + (jl + k) * A->ld,
               (size_t)A->m_loc * sizeof *s->own);
    square_gather(s, dkm_grid_row_comm(A->grid), s->Q, A->m_loc, s->w, s->rows);
    for (dkm_idx j = 0; j < A->n_loc; j++)
        for (dkm_idx k = 0; k < m; k++)
            s->own[j + k * A->n_loc] = A->a.f64[il + k + j * A->ld];
    square_gather(s, dkm_grid_col_comm(A->grid), s->P, A->n_loc, NULL, s->cols);
}

/* The panel's part of C, strip by strip from the first row that counts. */
static void square_add(const square_ws *s, dkm_dmat *C)
{
    const dkm_dmat *A = s->A;

    for (dkm_idx jl = 0; jl < A->n_loc; jl += STRIP) {
        dkm_idx n = dkm_idx_min(STRIP, A->n_loc - jl);
        dkm_idx il = dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, s->p, s->P);
        if (il < A->m_loc)
            dkm_blas_gemm(DKM_F64, 'N', 'T', A->m_loc - il, n, s->width, 1.0, s->rows + il,
                          A->m_loc, s->cols + jl, A->n_loc, s->at > 0 ? 1.0 : 0.0,
                          C->a.f64 + il + jl * C->ld, C->ld);
    }
}

dkm_status dkm_la_symm_square(const dkm_dmat *A, const double *w, dkm_dmat *C)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    double n = (double)A->n;
    square_ws s;

    DKM_AGREE(ctx, square_open(&s, A, w));
    for (; s.p >= 0 && s.at < A->n; s.at += s.width) {
        s.width = dkm_idx_min(PANEL, A->n - s.at);
        square_load(&s);
        square_add(&s, C);
    }
    dkm_phase_flops(ctx, n * n * n / dkm_ctx_size(ctx));
out:
    square_close(&s);
    return status;
}
