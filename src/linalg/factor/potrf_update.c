/* Trailing update of the right-looking Cholesky factorization: A22 <- A22 - L21 L21', lower
 * triangle, by pieces.
 *
 * The columns of the next panel are updated at once; the rest is deferred and done in pieces of
 * PIECE_ROWS x PIECE_COLS while this process would otherwise wait for messages of the next panel.
 * The pieces are the same whenever they are done, so the factor does not depend on timing. Below
 * the diagonal a piece is a gemm; at the diagonal the recursion halves blocks of columns down to
 * syrk.
 *
 * Cost per rank: n^3 / (3 P Q) flops over a whole factorization, no communication of its own. */
#include "linalg/factor/potrf_update.h"

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"

#define PANEL_COLS 256  /* columns whose product is taken off at a time */
#define PIECE_COLS 1024 /* local columns of a piece of the trailing triangle */
#define PIECE_ROWS 2048 /* and its rows */

static dkm_local potrf_panel_open(const dkm_potrf_ws *e, dkm_potrf_panel *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *A = e->A;

    DKM_STEP(
        dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->m_loc * e->panel_cols, e->size, &s->rows));
    DKM_STEP(
        dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * e->panel_cols, e->size, &s->cols));
out:
    return local;
}

dkm_local dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx nb = A->nb, blocks = dkm_idx_min((PANEL_COLS + nb - 1) / nb, (A->n + nb - 1) / nb);

    *e = (dkm_potrf_ws){.A = A, .ctx = dkm_grid_ctx(A->grid)};
    e->p = dkm_grid_row(A->grid);
    e->q = dkm_grid_col(A->grid);
    e->P = dkm_grid_rows(A->grid);
    e->Q = dkm_grid_cols(A->grid);
    e->panel_cols = blocks * nb;
    e->size = A->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    e->type = A->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    DKM_STEP(potrf_panel_open(e, &e->panel));
    DKM_STEP(potrf_panel_open(e, &e->last_panel));
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, A->m_loc * nb, e->size, &e->sent));
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * nb, e->size, &e->got));
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, nb * nb, e->size, &e->corner));
    DKM_STEP(dkm_alloc(e->ctx, blocks, &e->infos));
    DKM_STEP(dkm_alloc(e->ctx, 2 * blocks, &e->requests));
    DKM_STEP(dkm_alloc(e->ctx, e->P, &e->counts));
    DKM_STEP(dkm_alloc(e->ctx, e->P, &e->starts));
out:
    return local;
}

void dkm_potrf_ws_close(dkm_potrf_ws *e)
{
    DKM_FREE(e->starts);
    DKM_FREE(e->counts);
    DKM_FREE(e->requests);
    DKM_FREE(e->infos);
    DKM_FREE(e->corner);
    DKM_FREE(e->got);
    DKM_FREE(e->sent);
    DKM_FREE(e->last_panel.cols);
    DKM_FREE(e->last_panel.rows);
    DKM_FREE(e->panel.cols);
    DKM_FREE(e->panel.rows);
}

static void *potrf_offset(const dkm_potrf_ws *e, void *a, dkm_idx by)
{
    return (char *)a + (size_t)by * e->size;
}

void *dkm_potrf_in_matrix(const dkm_potrf_ws *e, dkm_idx il, dkm_idx jl)
{
    return potrf_offset(e, e->A->a.any, il + jl * e->A->ld);
}

void *dkm_potrf_in_panel_rows(const dkm_potrf_ws *e, const dkm_potrf_panel *s, dkm_idx il,
                              dkm_idx k)
{
    return potrf_offset(e, s->rows, il - s->row0 + k * dkm_potrf_panel_rows_ld(e, s));
}

void *dkm_potrf_in_panel_cols(const dkm_potrf_ws *e, const dkm_potrf_panel *s, dkm_idx jl,
                              dkm_idx k)
{
    return potrf_offset(e, s->cols, jl - s->col0 + k * dkm_potrf_panel_cols_ld(e, s));
}

/* Rows [row, edge) of local columns [jl, jl + n) are updated. */
static void potrf_update_gemm(dkm_potrf_ws *e, const dkm_potrf_panel_part *x, dkm_idx row,
                              dkm_idx edge, dkm_idx jl, dkm_idx n)
{
    dkm_blas_gemm(e->A->precision, 'N', 'T', edge - row, n, x->w, -1.0,
                  dkm_potrf_in_panel_rows(e, x->s, row, x->c), dkm_potrf_panel_rows_ld(e, x->s),
                  dkm_potrf_in_panel_cols(e, x->s, jl, x->c), dkm_potrf_panel_cols_ld(e, x->s), 1.0,
                  dkm_potrf_in_matrix(e, row, jl), e->A->ld);
}

static dkm_idx potrf_columns_of(const dkm_potrf_ws *e, dkm_idx b, dkm_idx end)
{
    return dkm_idx_min(end * e->A->nb, e->A->n_loc) - b * e->A->nb;
}

/* The first local row below the diagonal block of local block of columns b. */
static dkm_idx potrf_rows_above(const dkm_potrf_ws *e, dkm_idx b)
{
    const dkm_dmat *A = e->A;
    dkm_idx last = b * A->nb + potrf_columns_of(e, b, b + 1) - 1;

    return dkm_cyclic_count(dkm_dmat_global_col(A, last) + 1, A->mb, e->p, e->P);
}

/* Local blocks of columns [b, end), from the diagonal down to the last one's diagonal block, are
 * updated: two halves of the same kind, and a rectangle below the first. */
static void potrf_update_syrk(dkm_potrf_ws *e, const dkm_potrf_panel_part *x, dkm_idx b,
                              dkm_idx end)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = b * A->nb, above, below;

    if (end - b > 1) {
        dkm_idx middle = b + (end - b) / 2;
        above = potrf_rows_above(e, middle - 1);
        below = potrf_rows_above(e, end - 1);
        if (above < below)
            potrf_update_gemm(e, x, above, below, jl, potrf_columns_of(e, b, middle));
        potrf_update_syrk(e, x, b, middle);
        potrf_update_syrk(e, x, middle, end);
        return;
    }
    above = dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, e->p, e->P);
    if (above < potrf_rows_above(e, b))
        dkm_blas_syrk(A->precision, 'N', potrf_columns_of(e, b, end), x->w, -1.0,
                      dkm_potrf_in_panel_rows(e, x->s, above, x->c),
                      dkm_potrf_panel_rows_ld(e, x->s), 1.0, dkm_potrf_in_matrix(e, above, jl),
                      A->ld);
}

/* Local blocks of columns before global column j, a multiple of the block or the end. */
static dkm_idx potrf_blocks_before(const dkm_potrf_ws *e, dkm_idx j)
{
    dkm_idx nb = e->A->nb;

    return (dkm_cyclic_count(j, nb, e->q, e->Q) + nb - 1) / nb;
}

/* The next piece of a region: of some columns first what is at the diagonal, then some rows after
 * others. */
static void potrf_update_piece(dkm_potrf_ws *e, dkm_potrf_deferred *r)
{
    dkm_idx nb = e->A->nb,
            end = dkm_idx_min(r->b + (nb < PIECE_COLS ? PIECE_COLS / nb : 1), r->end), edge;

    if (r->row < 0) {
        potrf_update_syrk(e, &r->product, r->b, end);
        r->row = potrf_rows_above(e, end - 1);
    } else {
        edge = dkm_idx_min(r->row + PIECE_ROWS, e->A->m_loc);
        potrf_update_gemm(e, &r->product, r->row, edge, r->b * nb, potrf_columns_of(e, r->b, end));
        r->row = edge;
    }
    if (r->row == e->A->m_loc) {
        r->row = -1;
        r->b = end;
    }
}

static dkm_potrf_deferred potrf_deferred_of(const dkm_potrf_ws *e, const dkm_potrf_panel_part *x,
                                            dkm_idx from, dkm_idx to)
{
    return (dkm_potrf_deferred){*x, potrf_blocks_before(e, from), potrf_blocks_before(e, to), -1};
}

static void potrf_update_all(dkm_potrf_ws *e, dkm_potrf_deferred *r)
{
    while (r->b < r->end)
        potrf_update_piece(e, r);
}

void dkm_potrf_update_columns(dkm_potrf_ws *e, const dkm_potrf_panel_part *x, dkm_idx from,
                              dkm_idx to)
{
    dkm_potrf_deferred r = potrf_deferred_of(e, x, from, to);

    potrf_update_all(e, &r);
}

void dkm_potrf_update_schedule(dkm_potrf_ws *e)
{
    dkm_potrf_panel spare = e->last_panel;
    dkm_idx from = e->panel.at + e->panel.width, to = dkm_idx_min(from + e->panel_cols, e->A->n);
    dkm_potrf_panel_part all = {&e->last_panel, 0, e->panel.width};

    e->last_panel = e->panel;
    e->panel = (dkm_potrf_panel){.rows = spare.rows, .cols = spare.cols};
    dkm_potrf_update_columns(e, &all, from, to);
    e->deferred = potrf_deferred_of(e, &all, to, e->A->n);
}

void dkm_potrf_update_drain(dkm_potrf_ws *e)
{
    potrf_update_all(e, &e->deferred);
}

void dkm_potrf_update_overlap(dkm_potrf_ws *e, int count, MPI_Request *requests)
{
    int done = 0;

    while (!done && e->deferred.b < e->deferred.end) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done)
            potrf_update_piece(e, &e->deferred);
    }
    if (!done)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}
