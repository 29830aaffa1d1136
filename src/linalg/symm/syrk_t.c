/* C = A'A + beta C by outer products of panels of rows, C stationary (SUMMA; van de Geijn and Watts 1997,
 * Concurrency 9(4):255-274): for the rows k of a panel
 *
 *   C(I, J) += A(k, I)' A(k, J)
 *
 * where a rank gets A(k, J), for its columns J, from its grid column, and A(k, I), for its rows I, from
 * its grid row, each of whose ranks has some of these columns. The triangle is cut by halves into
 * rectangles as large as can be.
 *
 * Cost for m x n on P x Q ranks: m n^2 / (P Q) flops per rank; m n / P + m n / Q words received, none in a
 * direction with one rank. Held: 2 PANEL (n / P + n / Q) numbers. Nothing is replicated. */
#include "linalg/symm/syrk_t.h"

#include <assert.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"

#define PANEL 512 /* rows at a time */
#define LEAST 96  /* columns of a part on the diagonal, above which products are wasted */

typedef struct syrk_ws {
    const dkm_dmat *A;
    dkm_dmat *C;
    double beta;
    int p, q, P, Q;
    dkm_idx at, width;      /* the panel */
    double *own, *gathered; /* as ranks give it */
    double *rows, *cols;    /* A(k, I) and A(k, J), a column of `width` numbers for each */
    const double *I, *J;    /* where they are: there, or in A */
    dkm_idx ld_i, ld_j;     /* numbers from one column to the next */
    int *counts, *starts;
    dkm_idx *cursor;
} syrk_ws;

static dkm_local syrk_open(syrk_ws *s, const dkm_dmat *A, double beta, dkm_dmat *C)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);
    dkm_idx panel = dkm_idx_min(PANEL, A->m), most = dkm_idx_max(C->m_loc, A->n_loc);

    *s = (syrk_ws){.A = A, .C = C, .beta = beta, .P = P, .Q = Q};
    s->p = dkm_grid_row(A->grid);
    s->q = dkm_grid_col(A->grid);
    if (s->p < 0)
        return local;
    dkm_blas_use_threads(ctx);
    DKM_STEP(dkm_alloc(ctx, P > 1 ? panel * A->n_loc : 0, &s->cols));
    DKM_STEP(dkm_alloc(ctx, P * Q > 1 ? panel * C->m_loc : 0, &s->rows));
    DKM_STEP(dkm_alloc(ctx, P * Q > 1 ? panel * A->n_loc : 0, &s->own));
    DKM_STEP(dkm_alloc(ctx, P * Q > 1 ? panel * most : 0, &s->gathered));
    DKM_STEP(dkm_alloc(ctx, P + Q, &s->counts));
    DKM_STEP(dkm_alloc(ctx, P + Q, &s->starts));
    DKM_STEP(dkm_alloc(ctx, P + Q, &s->cursor));
out:
    return local;
}

static void syrk_close(syrk_ws *s)
{
    DKM_FREE(s->cursor);
    DKM_FREE(s->starts);
    DKM_FREE(s->counts);
    DKM_FREE(s->gathered);
    DKM_FREE(s->own);
    DKM_FREE(s->rows);
    DKM_FREE(s->cols);
}

static void syrk_gather(syrk_ws *s, MPI_Comm comm, int parts)
{
    int me;

    MPI_Comm_rank(comm, &me);
    for (int part = 0, start = 0; part < parts; start += s->counts[part++])
        s->starts[part] = start;
    MPI_Allgatherv(s->own, s->counts[me], MPI_DOUBLE, s->gathered, s->counts, s->starts, MPI_DOUBLE,
                   comm);
}

/* A(k, J): the rows of the panel that each rank of the grid column has, put in their order. */
static void syrk_load_cols(syrk_ws *s)
{
    const dkm_dmat *A = s->A;
    dkm_idx il = dkm_cyclic_count(s->at, A->mb, s->p, s->P);

    s->J = A->a.f64 + il;
    s->ld_j = A->ld;
    if (s->P == 1)
        return;
    for (int part = 0; part < s->P; part++)
        s->counts[part] = (int)((dkm_cyclic_count(s->at + s->width, A->mb, part, s->P) -
                                 dkm_cyclic_count(s->at, A->mb, part, s->P)) *
                                A->n_loc);
    for (dkm_idx j = 0, n = A->n_loc > 0 ? s->counts[s->p] / A->n_loc : 0; j < A->n_loc; j++)
        memcpy(s->own + j * n, s->J + j * s->ld_j, (size_t)n * sizeof *s->own);
    syrk_gather(s, dkm_grid_col_comm(A->grid), s->P);
    for (dkm_idx k = 0; k < s->width; k++) {
        int owner = dkm_cyclic_owner(s->at + k, A->mb, s->P);
        dkm_idx place =
            dkm_cyclic_local(s->at + k, A->mb, s->P) - dkm_cyclic_count(s->at, A->mb, owner, s->P);
        dkm_idx n = A->n_loc > 0 ? s->counts[owner] / A->n_loc : 0;
        for (dkm_idx j = 0; j < A->n_loc; j++)
            s->cols[k + j * s->width] = s->gathered[s->starts[owner] + place + j * n];
    }
    s->J = s->cols;
    s->ld_j = s->width;
}

/* A(k, I): those of the columns J that stand in this grid row's rows of C, from all of the grid row. */
static void syrk_load_rows(syrk_ws *s)
{
    const dkm_dmat *A = s->A;
    size_t bytes = (size_t)s->width * sizeof *s->own;
    dkm_idx n = 0;

    s->I = s->J;
    s->ld_i = s->ld_j;
    if (s->P * s->Q == 1)
        return;
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        if (dkm_cyclic_owner(dkm_dmat_global_col(A, jl), A->nb, s->P) == s->p)
            memcpy(s->own + s->width * n++, s->J + jl * s->ld_j, bytes);
    memset(s->counts, 0, (size_t)s->Q * sizeof *s->counts);
    for (dkm_idx il = 0; il < s->C->m_loc; il++)
        s->counts[dkm_cyclic_owner(dkm_dmat_global_row(s->C, il), A->nb, s->Q)] += (int)s->width;
    syrk_gather(s, dkm_grid_row_comm(A->grid), s->Q);
    for (int q = 0; q < s->Q; q++)
        s->cursor[q] = s->starts[q];
    for (dkm_idx il = 0; il < s->C->m_loc; il++) {
        int q = dkm_cyclic_owner(dkm_dmat_global_row(s->C, il), A->nb, s->Q);
        memcpy(s->rows + il * s->width, s->gathered + s->cursor[q], bytes);
        s->cursor[q] += s->width;
    }
    s->I = s->rows;
    s->ld_i = s->width;
}

/* Local rows [i0, i1) and columns [j0, j1) of C. */
static void syrk_add(const syrk_ws *s, dkm_idx i0, dkm_idx i1, dkm_idx j0, dkm_idx j1)
{
    if (i1 > i0 && j1 > j0)
        dkm_blas_gemm(DKM_F64, 'T', 'N', i1 - i0, j1 - j0, s->width, 1.0, s->I + i0 * s->ld_i,
                      s->ld_i, s->J + j0 * s->ld_j, s->ld_j, s->at > 0 ? 1.0 : s->beta,
                      s->C->a.f64 + i0 + j0 * s->C->ld, s->C->ld);
}

/* The first local row that is below the diagonal of local column jl. */
static dkm_idx syrk_below(const syrk_ws *s, dkm_idx jl)
{
    return dkm_cyclic_count(dkm_dmat_global_col(s->C, jl) + 1, s->C->mb, s->p, s->P);
}

/* Columns [j0, j1) from the diagonal down to that of the last one: a rectangle and two halves. */
static void syrk_add_triangle(const syrk_ws *s, dkm_idx j0, dkm_idx j1)
{
    dkm_idx middle = j0 + (j1 - j0) / 2;

    if (j1 - j0 <= LEAST) {
        syrk_add(s, dkm_cyclic_count(dkm_dmat_global_col(s->C, j0), s->C->mb, s->p, s->P),
                 syrk_below(s, j1 - 1), j0, j1);
        return;
    }
    syrk_add_triangle(s, j0, middle);
    syrk_add(s, syrk_below(s, middle - 1), syrk_below(s, j1 - 1), j0, middle);
    syrk_add_triangle(s, middle, j1);
}

dkm_status dkm_la_syrk_t(const dkm_dmat *A, double beta, dkm_dmat *C)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    syrk_ws s;

    assert(C->m == A->n && C->n == A->n && C->nb == A->nb && C->mb == A->nb);
    DKM_AGREE(ctx, syrk_open(&s, A, beta, C));
    for (; s.p >= 0 && s.at < A->m; s.at += s.width) {
        s.width = dkm_idx_min(PANEL, A->m - s.at);
        syrk_load_cols(&s);
        syrk_load_rows(&s);
        if (C->n_loc > 0) {
            syrk_add_triangle(&s, 0, C->n_loc);
            syrk_add(&s, syrk_below(&s, C->n_loc - 1), C->m_loc, 0, C->n_loc);
        }
    }
    dkm_phase_flops(ctx, (double)A->m * (double)A->n * (double)A->n / dkm_ctx_size(ctx));
out:
    syrk_close(&s);
    return status;
}
