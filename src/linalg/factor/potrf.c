/* Cholesky factorization A = L L', right-looking with look-ahead, lower triangle, in place.
 *
 * The algorithm of p?potrf (Choi, Dongarra, Ostrouchov, Petitet, Walker and Whaley 1996, Scientific
 * Programming 5(3):173-184, doi:10.1155/1996/483083) with aggregated panels and a trailing update
 * that is deferred and overlapped with communication (look-ahead; Gates et al. 2019, SLATE, SC '19,
 * doi:10.1145/3295500.3356223). Within a panel of about 256 columns, one block of columns after the
 * other is factored by the grid column that owns it: the diagonal block by LAPACK, the rows below
 * by a triangular solve. The finished block is broadcast along grid rows, then gathered within grid
 * columns for its transpose. Meanwhile the other ranks subtract the product of the last panel from
 * the trailing triangle (potrf_update.h).
 *
 * Cost per rank: n^3 / (3 P Q) flops; about n^2 / (2 P) + n^2 / (2 Q) words received, n / nb
 * broadcasts and gathers. Held beside A: two panels, 2 (m_loc + n_loc) x 256 numbers. Nothing of
 * order n^2 is replicated. The order of the sums does not depend on timing. */
#include <assert.h>
#include <string.h>

#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/factor/potrf_update.h"
#include "linalg/linalg.h"

static void potrf_copy_block(const dkm_potrf_ws *e, dkm_idx m, dkm_idx n, const void *from,
                             dkm_idx ldf, void *to, dkm_idx ldt)
{
    for (dkm_idx j = 0; j < n; j++)
        memcpy((char *)to + (size_t)(j * ldt) * e->size,
               (const char *)from + (size_t)(j * ldf) * e->size, (size_t)m * e->size);
}

/* Columns [k, k + w) of A on the processes that own them: L(k, k) to the corner, what is below
 * solved with it and copied to the rows. */
static int potrf_factor_block(dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = dkm_cyclic_local(k, A->nb, e->Q);
    dkm_idx below = dkm_cyclic_count(k + w, A->mb, e->p, e->P);
    int owner = dkm_cyclic_owner(k, A->mb, e->P), block_info = 0;
    MPI_Request requests[2];

    if (e->p == owner) {
        dkm_idx il = dkm_cyclic_local(k, A->mb, e->P);
        block_info = dkm_blas_potrf(A->precision, w, dkm_potrf_in_matrix(e, il, jl), A->ld);
        potrf_copy_block(e, w, w, dkm_potrf_in_matrix(e, il, jl), A->ld, e->corner, w);
    }
    MPI_Ibcast(&block_info, 1, MPI_INT, owner, dkm_grid_col_comm(A->grid), &requests[0]);
    MPI_Ibcast(e->corner, (int)(w * w), e->type, owner, dkm_grid_col_comm(A->grid), &requests[1]);
    dkm_potrf_update_overlap(e, 2, requests);
    if (block_info == 0 && below < A->m_loc) {
        dkm_blas_trsm_right(A->precision, 'T', A->m_loc - below, w, e->corner, w,
                            dkm_potrf_in_matrix(e, below, jl), A->ld);
        potrf_copy_block(e, A->m_loc - below, w, dkm_potrf_in_matrix(e, below, jl), A->ld,
                         dkm_potrf_in_panel_rows(e, &e->panel, below, k - e->panel.at),
                         dkm_potrf_panel_rows_ld(e, &e->panel));
    }
    return block_info;
}

/* Send columns [k, k + w) of the panel along the grid row, or get them. The sender goes on at
 * once: its requests stay pending. */
static int potrf_bcast_block(dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    MPI_Comm comm = dkm_grid_row_comm(e->A->grid);
    int owner = dkm_cyclic_owner(k, e->A->nb, e->Q);
    int *block_info = &e->infos[(k - e->panel.at) / e->A->nb];
    MPI_Request *requests = e->requests + e->pending;

    if (e->q == owner)
        *block_info = potrf_factor_block(e, k, w);
    MPI_Ibcast(block_info, 1, MPI_INT, owner, comm, &requests[0]);
    MPI_Ibcast(dkm_potrf_in_panel_rows(e, &e->panel, e->panel.row0, k - e->panel.at),
               (int)(dkm_potrf_panel_rows_ld(e, &e->panel) * w), e->type, owner, comm,
               &requests[1]);
    if (e->q == owner)
        e->pending += 2;
    else
        dkm_potrf_update_overlap(e, 2, requests);
    return *block_info;
}

/* The next block of columns of this grid column that is not before block b. */
static dkm_idx potrf_next_own_block(const dkm_potrf_ws *e, dkm_idx b)
{
    return b + (e->q - b % e->Q + e->Q) % e->Q;
}

static dkm_idx potrf_block_height(const dkm_potrf_ws *e, dkm_idx b)
{
    return dkm_idx_min(e->A->nb, e->A->n - b * e->A->nb);
}

static void potrf_plan_transpose(dkm_potrf_ws *e, dkm_idx first, dkm_idx blocks, dkm_idx w)
{
    memset(e->counts, 0, (size_t)e->P * sizeof *e->counts);
    for (dkm_idx b = first; b < blocks; b += e->Q)
        e->counts[b % e->P] += (int)(potrf_block_height(e, b) * w);
    for (int r = 0, at = 0; r < e->P; at += e->counts[r++])
        e->starts[r] = at;
}

/* Columns [k, k + w) of L, at hand in the rows, to the columns: block b of it is in grid row
 * b mod P, and this grid column needs those with b mod Q = q. */
static void potrf_transpose_block(dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    const dkm_potrf_panel *s = &e->panel;
    dkm_idx blocks = (A->n + A->nb - 1) / A->nb, first = potrf_next_own_block(e, k / A->nb + 1),
            at = 0;
    MPI_Request request;

    potrf_plan_transpose(e, first, blocks, w);
    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = potrf_block_height(e, b);
        if (b % e->P != e->p)
            continue;
        potrf_copy_block(e, h, w, dkm_potrf_in_panel_rows(e, s, b / e->P * A->mb, k - s->at),
                         dkm_potrf_panel_rows_ld(e, s), (char *)e->sent + (size_t)at * e->size, h);
        at += h * w;
    }
    MPI_Iallgatherv(e->sent, (int)at, e->type, e->got, e->counts, e->starts, e->type,
                    dkm_grid_col_comm(A->grid), &request);
    dkm_potrf_update_overlap(e, 1, &request);
    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = potrf_block_height(e, b);
        int *from = &e->starts[b % e->P];
        potrf_copy_block(e, h, w, (char *)e->got + (size_t)*from * e->size, h,
                         dkm_potrf_in_panel_cols(e, s, b / e->Q * A->nb, k - s->at),
                         dkm_potrf_panel_cols_ld(e, s));
        *from += (int)(h * w);
    }
}

/* After block k of the panel, its d-th: with g the largest power of two that divides d, the next g
 * blocks are updated with the last g. So each is complete when its turn comes, by products as
 * wide as can be. */
static void potrf_update_panel(dkm_potrf_ws *e, dkm_idx k, dkm_idx end)
{
    dkm_idx nb = e->A->nb, d = (k - e->panel.at) / nb + 1, g = d & -d;
    dkm_potrf_panel_part last = {&e->panel, (d - g) * nb, g * nb};

    if (k + nb < end)
        dkm_potrf_update_columns(e, &last, k + nb, dkm_idx_min(k + nb + g * nb, end));
}

/* Factor the panel; the order of a bad minor within it, or 0. */
static int potrf_factor_panel(dkm_potrf_ws *e)
{
    dkm_dmat *A = e->A;
    dkm_potrf_panel *s = &e->panel;
    dkm_idx end = s->at + s->width;
    int info = 0;

    s->row0 = dkm_cyclic_count(s->at, A->mb, e->p, e->P);
    s->col0 = dkm_cyclic_count(s->at, A->nb, e->q, e->Q);
    for (dkm_idx k = s->at; k < end; k += A->nb) {
        dkm_idx w = dkm_idx_min(A->nb, end - k);
        int block_info = potrf_bcast_block(e, k, w);
        if (block_info != 0) {
            info = (int)(k - s->at) + block_info;
            break;
        }
        potrf_transpose_block(e, k, w);
        potrf_update_panel(e, k, end);
    }
    dkm_potrf_update_drain(e);
    MPI_Waitall(e->pending, e->requests, MPI_STATUSES_IGNORE);
    e->pending = 0;
    return info;
}

/* The one that any rank knows of: those outside the grid do not see what fails in it. */
static dkm_idx potrf_allreduce_info(dkm_ctx *ctx, dkm_idx info)
{
    MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(ctx));
    return info;
}

/* Factor columns [at, done) and begin to update what is right of them. */
static void potrf_eliminate_panel(dkm_potrf_ws *e, dkm_idx at, dkm_idx done, dkm_idx *info)
{
    int block_info;

    e->panel.at = at;
    e->panel.width = done - at;
    block_info = potrf_factor_panel(e);
    if (block_info != 0)
        *info = at + block_info;
    else
        dkm_potrf_update_schedule(e);
}

/* Let the watch see the state after a panel, if it wants to. */
static dkm_status potrf_call_monitor(dkm_potrf_ws *e, const dkm_la_monitor *monitor, dkm_idx done)
{
    if (!monitor->want(monitor->user, done))
        return DKM_OK;
    dkm_potrf_update_drain(e);
    return monitor->on_panel(monitor->user, done);
}

dkm_status dkm_la_potrf_from(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                             dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_potrf_ws e = {0};
    double n = (double)A->n, rest = n - (double)from;

    assert(A->m == A->n && A->mb == A->nb && from % A->nb == 0);
    *info = 0;
    DKM_AGREE(ctx, dkm_potrf_ws_open(&e, A));
    dkm_blas_use_threads(ctx);
    for (dkm_idx at = from; at < A->n && *info == 0; at += e.panel_cols) {
        dkm_idx done = dkm_idx_min(at + e.panel_cols, A->n);
        double left = n - (double)done;

        if (e.p >= 0)
            potrf_eliminate_panel(&e, at, done, info);
        dkm_progress(ctx, 1.0 - left * left * left / (n * n * n), 1.0);
        if (monitor)
            *info = potrf_allreduce_info(ctx, *info);
        if (monitor && *info == 0)
            DKM_TRY(potrf_call_monitor(&e, monitor, done));
    }
    *info = potrf_allreduce_info(ctx, *info);
    dkm_phase_flops(ctx, rest * rest * rest / 3.0 / dkm_ctx_size(ctx));
out:
    dkm_potrf_ws_close(&e);
    return status;
}

dkm_status dkm_la_potrf(dkm_dmat *A, dkm_idx *info)
{
    return dkm_la_potrf_from(A, 0, NULL, info);
}
