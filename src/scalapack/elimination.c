#include "scalapack/elimination.h"

#include "core/alloc.h"
#include "scalapack/blas.h"

#define STRIP 256  /* columns whose product is taken off at a time */
#define WIDE  1024 /* local columns of a piece of the trailing triangle */
#define HIGH  2048 /* and its rows */

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static dkm_local open_strip(const dkm_elimination *e, dkm_strip *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *A = e->A;

    DKM_STEP(dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->m_loc * e->wide, e->size, &s->rows));
    DKM_STEP(dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * e->wide, e->size, &s->cols));
out:
    return local;
}

dkm_local dkm_elimination_open(dkm_elimination *e, dkm_dmat *A)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx nb = A->nb, blocks = least((STRIP + nb - 1) / nb, (A->n + nb - 1) / nb);

    *e = (dkm_elimination){.A = A, .ctx = dkm_grid_ctx(A->grid)};
    e->p = dkm_grid_row(A->grid);
    e->q = dkm_grid_col(A->grid);
    e->P = dkm_grid_rows(A->grid);
    e->Q = dkm_grid_cols(A->grid);
    e->wide = blocks * nb;
    e->size = A->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    e->type = A->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    DKM_STEP(open_strip(e, &e->now));
    DKM_STEP(open_strip(e, &e->before));
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

void dkm_elimination_close(dkm_elimination *e)
{
    DKM_FREE(e->starts);
    DKM_FREE(e->counts);
    DKM_FREE(e->requests);
    DKM_FREE(e->infos);
    DKM_FREE(e->corner);
    DKM_FREE(e->got);
    DKM_FREE(e->sent);
    DKM_FREE(e->before.cols);
    DKM_FREE(e->before.rows);
    DKM_FREE(e->now.cols);
    DKM_FREE(e->now.rows);
}

static void *shift(const dkm_elimination *e, void *a, dkm_idx by)
{
    return (char *)a + (size_t)by * e->size;
}

void *dkm_in_matrix(const dkm_elimination *e, dkm_idx il, dkm_idx jl)
{
    return shift(e, e->A->a.any, il + jl * e->A->ld);
}

void *dkm_in_rows(const dkm_elimination *e, const dkm_strip *s, dkm_idx il, dkm_idx k)
{
    return shift(e, s->rows, il - s->row0 + k * dkm_rows_ld(e, s));
}

void *dkm_in_cols(const dkm_elimination *e, const dkm_strip *s, dkm_idx jl, dkm_idx k)
{
    return shift(e, s->cols, jl - s->col0 + k * dkm_cols_ld(e, s));
}

/* Rows [row, edge) of local columns [jl, jl + n) lose a product. */
static void update_rectangle(dkm_elimination *e, const dkm_product_part *x, dkm_idx row,
                             dkm_idx edge, dkm_idx jl, dkm_idx n)
{
    dkm_blas_gemm(e->A->precision, 'N', 'T', edge - row, n, x->w, -1.0,
                  dkm_in_rows(e, x->s, row, x->c), dkm_rows_ld(e, x->s),
                  dkm_in_cols(e, x->s, jl, x->c), dkm_cols_ld(e, x->s), 1.0,
                  dkm_in_matrix(e, row, jl), e->A->ld);
}

static dkm_idx columns_of(const dkm_elimination *e, dkm_idx b, dkm_idx end)
{
    return least(end * e->A->nb, e->A->n_loc) - b * e->A->nb;
}

/* The first local row below the diagonal block of local block of columns b. */
static dkm_idx rows_above(const dkm_elimination *e, dkm_idx b)
{
    const dkm_dmat *A = e->A;
    dkm_idx last = b * A->nb + columns_of(e, b, b + 1) - 1;

    return dkm_cyclic_count(dkm_dmat_global_col(A, last) + 1, A->mb, e->p, e->P);
}

/* Local blocks of columns [b, end), from the diagonal down to the last one's diagonal block, lose a
 * product: two halves of the same kind, and a rectangle below the first. */
static void update_triangle(dkm_elimination *e, const dkm_product_part *x, dkm_idx b, dkm_idx end)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = b * A->nb, above, below;

    if (end - b > 1) {
        dkm_idx middle = b + (end - b) / 2;
        above = rows_above(e, middle - 1);
        below = rows_above(e, end - 1);
        if (above < below)
            update_rectangle(e, x, above, below, jl, columns_of(e, b, middle));
        update_triangle(e, x, b, middle);
        update_triangle(e, x, middle, end);
        return;
    }
    above = dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, e->p, e->P);
    if (above < rows_above(e, b))
        dkm_blas_syrk(A->precision, 'N', columns_of(e, b, end), x->w, -1.0,
                      dkm_in_rows(e, x->s, above, x->c), dkm_rows_ld(e, x->s), 1.0,
                      dkm_in_matrix(e, above, jl), A->ld);
}

/* Local blocks of columns before global column j, a multiple of the block or the end. */
static dkm_idx blocks_before(const dkm_elimination *e, dkm_idx j)
{
    dkm_idx nb = e->A->nb;

    return (dkm_cyclic_count(j, nb, e->q, e->Q) + nb - 1) / nb;
}

/* The next piece of a region: of some columns first what is at the diagonal, then some rows after
 * others. */
static void update_piece(dkm_elimination *e, dkm_region *r)
{
    dkm_idx nb = e->A->nb, end = least(r->b + (nb < WIDE ? WIDE / nb : 1), r->end), edge;

    if (r->row < 0) {
        update_triangle(e, &r->product, r->b, end);
        r->row = rows_above(e, end - 1);
    } else {
        edge = least(r->row + HIGH, e->A->m_loc);
        update_rectangle(e, &r->product, r->row, edge, r->b * nb, columns_of(e, r->b, end));
        r->row = edge;
    }
    if (r->row == e->A->m_loc) {
        r->row = -1;
        r->b = end;
    }
}

static dkm_region region_of(const dkm_elimination *e, const dkm_product_part *x, dkm_idx from,
                            dkm_idx to)
{
    return (dkm_region){*x, blocks_before(e, from), blocks_before(e, to), -1};
}

static void update_all(dkm_elimination *e, dkm_region *r)
{
    while (r->b < r->end)
        update_piece(e, r);
}

void dkm_update_columns(dkm_elimination *e, const dkm_product_part *x, dkm_idx from, dkm_idx to)
{
    dkm_region r = region_of(e, x, from, to);

    update_all(e, &r);
}

void dkm_backlog_begin(dkm_elimination *e)
{
    dkm_strip spare = e->before;
    dkm_idx from = e->now.at + e->now.width, to = least(from + e->wide, e->A->n);
    dkm_product_part all = {&e->before, 0, e->now.width};

    e->before = e->now;
    e->now = (dkm_strip){.rows = spare.rows, .cols = spare.cols};
    dkm_update_columns(e, &all, from, to);
    e->backlog = region_of(e, &all, to, e->A->n);
}

void dkm_backlog_finish(dkm_elimination *e)
{
    update_all(e, &e->backlog);
}

void dkm_backlog_wait(dkm_elimination *e, int count, MPI_Request *requests)
{
    int done = 0;

    while (!done && e->backlog.b < e->backlog.end) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done)
            update_piece(e, &e->backlog);
    }
    if (!done)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}
