/* Trailing update of the right-looking Cholesky factorization: A22 <- A22 - L21 L21', lower
 * triangle, by pieces.
 *
 * The columns of the next panel are updated at once; the rest is deferred and done in pieces while
 * this process would otherwise wait for messages of the next panels. Broadcasts advance between two
 * pieces, so where there are many ranks a piece takes about 2 ms; on few, larger pieces make better
 * use of the cache. The pieces are the same whenever they are done, and each element has the
 * products of the panels subtracted in their order, so the factor does not depend on timing. Below
 * the diagonal a piece is a gemm; at the diagonal the recursion halves blocks of columns down to
 * syrk.
 *
 * Cost per rank: n^3 / (3 P Q) flops over a full factorization, no communication of its own. */
#include "linalg/factor/potrf_update.h"

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"

/* Columns whose product is taken off at a time, the pieces of the trailing triangle, and how it is
 * scheduled. */
typedef struct potrf_shape {
    dkm_idx panel_cols, piece_rows, piece_cols;
    int depth, prompt;
} potrf_shape;

/* Whether two panels of that many columns take at most half as much memory as a rank's part of A. */
static int potrf_panels_fit(const dkm_dmat *A, double columns)
{
    double rows = (double)A->m / dkm_grid_rows(A->grid),
           cols = (double)A->n / dkm_grid_cols(A->grid);

    return 4.0 * columns * (rows + cols) <= rows * cols;
}

/* An update reads and writes the trailing triangle once per panel: a wide panel has it done less
 * often. Where there is little to update on many ranks, the time of a panel is that of its messages:
 * narrow panels and more of them ahead take less memory than two wide ones. */
static potrf_shape potrf_shape_of(const dkm_dmat *A)
{
    int ranks = dkm_grid_rows(A->grid) * dkm_grid_cols(A->grid);
    potrf_shape few = {256, 2048, 1024, 1, 0}, some = {256, 512, 512, 1, 0},
                wide = {256, 512, 256, 1, 1}, narrow = {128, 512, 512, 2, 1};

    if (ranks < 16)
        return ranks <= 2 ? few : some;
    return potrf_panels_fit(A, 256.0) ? wide : narrow;
}

static dkm_local potrf_panel_open(const dkm_potrf_ws *e, dkm_idx blocks, dkm_potrf_panel *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *A = e->A;

    DKM_STEP(dkm_calloc_at(e->ctx, __FILE__, __LINE__, (A->m_loc + 1) * e->panel_cols, e->size,
                           &s->rows));
    DKM_STEP(
        dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * e->panel_cols, e->size, &s->cols));
    DKM_STEP(dkm_calloc(e->ctx, blocks, &s->bcasts));
out:
    return local;
}

dkm_local dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A)
{
    dkm_local local = DKM_LOCAL_OK;
    potrf_shape shape = potrf_shape_of(A);
    dkm_idx nb = A->nb,
            blocks = dkm_idx_min((shape.panel_cols + nb - 1) / nb, (A->n + nb - 1) / nb);

    *e = (dkm_potrf_ws){
        .A = A, .ctx = dkm_grid_ctx(A->grid), .depth = shape.depth, .prompt = shape.prompt};
    e->p = dkm_grid_row(A->grid);
    e->q = dkm_grid_col(A->grid);
    e->P = dkm_grid_rows(A->grid);
    e->Q = dkm_grid_cols(A->grid);
    e->panel_cols = blocks * nb;
    e->piece_rows = shape.piece_rows;
    e->piece_cols = shape.piece_cols;
    e->panel = e->panels;
    e->size = A->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    e->type = A->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    for (int k = 0; k <= e->depth; k++)
        DKM_STEP(potrf_panel_open(e, blocks, &e->panels[k]));
    for (int k = 0; k < (e->P > 1 ? DKM_POTRF_SLOTS : 1); k++) {
        DKM_STEP(
            dkm_alloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * nb, e->size, &e->slots[k].data));
        DKM_STEP(dkm_calloc(e->ctx, e->P + 1, &e->slots[k].bcasts));
    }
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, nb * nb + 1, e->size, &e->corner));
    DKM_STEP(dkm_alloc(e->ctx, e->P, &e->counts));
    DKM_STEP(dkm_alloc(e->ctx, e->P, &e->starts));
    DKM_STEP(dkm_bcast_queue_open(&e->queue, e->ctx,
                                  (e->depth + 1) * blocks + DKM_POTRF_SLOTS * (e->P + 1) + 1,
                                  e->P > e->Q ? e->P : e->Q));
out:
    return local;
}

void dkm_potrf_ws_close(dkm_potrf_ws *e)
{
    dkm_bcast_queue_close(&e->queue);
    DKM_FREE(e->starts);
    DKM_FREE(e->counts);
    DKM_FREE(e->corner);
    for (int k = 0; k < DKM_POTRF_SLOTS; k++) {
        DKM_FREE(e->slots[k].bcasts);
        DKM_FREE(e->slots[k].data);
    }
    for (int k = 0; k <= DKM_POTRF_DEPTH; k++) {
        DKM_FREE(e->panels[k].bcasts);
        DKM_FREE(e->panels[k].cols);
        DKM_FREE(e->panels[k].rows);
    }
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
    dkm_idx nb = e->A->nb, stop = r->b < r->split ? r->split : r->end,
            end = dkm_idx_min(r->b + (nb < e->piece_cols ? e->piece_cols / nb : 1), stop), edge;

    if (r->row < 0) {
        potrf_update_syrk(e, &r->product, r->b, end);
        r->row = potrf_rows_above(e, end - 1);
    } else {
        edge = dkm_idx_min(r->row + e->piece_rows, e->A->m_loc);
        potrf_update_gemm(e, &r->product, r->row, edge, r->b * nb, potrf_columns_of(e, r->b, end));
        r->row = edge;
    }
    if (r->row == e->A->m_loc) {
        r->row = -1;
        r->b = end;
    }
}

/* Global columns [from, to) updated with a product; no piece reaches across column @p split. */
static dkm_potrf_deferred potrf_deferred_of(const dkm_potrf_ws *e, const dkm_potrf_panel_part *x,
                                            dkm_idx from, dkm_idx split, dkm_idx to)
{
    return (dkm_potrf_deferred){*x, potrf_blocks_before(e, from), potrf_blocks_before(e, to),
                                potrf_blocks_before(e, split), -1};
}

static void potrf_update_until(dkm_potrf_ws *e, dkm_potrf_deferred *r, dkm_idx b)
{
    while (r->b < b) {
        potrf_update_piece(e, r);
        dkm_bcast_progress(&e->queue);
    }
}

void dkm_potrf_update_columns(dkm_potrf_ws *e, const dkm_potrf_panel_part *x, dkm_idx from,
                              dkm_idx to)
{
    dkm_potrf_deferred r = potrf_deferred_of(e, x, from, to, to);

    potrf_update_until(e, &r, r.end);
}

/* The oldest deferred update, done, makes way for the next. */
static void potrf_drop_oldest(dkm_potrf_ws *e)
{
    for (int k = 1; k < e->regions; k++)
        e->deferred[k - 1] = e->deferred[k];
    e->regions--;
}

void dkm_potrf_update_schedule(dkm_potrf_ws *e)
{
    dkm_idx n = e->A->n, from = e->panel->at + e->panel->width,
            to = dkm_idx_min(from + e->panel_cols, n);
    dkm_potrf_panel_part all = {e->panel, 0, e->panel->width};
    dkm_potrf_panel *next = e->panels + (e->panel - e->panels + 1) % (e->depth + 1);
    dkm_idx blocks = (next->width + e->A->nb - 1) / e->A->nb;

    if (e->regions == e->depth) {
        potrf_update_until(e, &e->deferred[0], e->deferred[0].end);
        potrf_drop_oldest(e);
    }
    for (int k = 0; k < e->regions; k++)
        potrf_update_until(e, &e->deferred[k], potrf_blocks_before(e, to));
    dkm_potrf_update_columns(e, &all, from, to);
    e->deferred[e->regions++] =
        potrf_deferred_of(e, &all, to, e->depth > 1 ? dkm_idx_min(to + e->panel_cols, n) : to, n);
    for (dkm_idx k = 0; k < blocks; k++)
        dkm_potrf_wait_complete(e, &next->bcasts[k]);
    e->panel = next;
}

void dkm_potrf_update_drain(dkm_potrf_ws *e)
{
    while (e->regions > 0) {
        potrf_update_until(e, &e->deferred[0], e->deferred[0].end);
        potrf_drop_oldest(e);
    }
}

/* One piece of the deferred updates; whether there was one. */
static int potrf_update_deferred_piece(dkm_potrf_ws *e)
{
    for (int k = 0; k < e->regions; k++)
        if (e->deferred[k].b < e->deferred[k].end) {
            potrf_update_piece(e, &e->deferred[k]);
            return 1;
        }
    return 0;
}

static void potrf_advance(dkm_potrf_ws *e)
{
    if (!potrf_update_deferred_piece(e))
        dkm_bcast_wait_some(&e->queue);
    else
        dkm_bcast_progress(&e->queue);
}

void dkm_potrf_wait_arrived(dkm_potrf_ws *e, const dkm_bcast *b)
{
    if (!dkm_bcast_arrived(b))
        dkm_bcast_progress(&e->queue);
    while (!dkm_bcast_arrived(b))
        potrf_advance(e);
}

void dkm_potrf_wait_complete(dkm_potrf_ws *e, const dkm_bcast *b)
{
    if (!dkm_bcast_complete(b))
        dkm_bcast_progress(&e->queue);
    while (!dkm_bcast_complete(b))
        potrf_advance(e);
}
