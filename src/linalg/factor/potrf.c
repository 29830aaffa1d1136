/* Cholesky factorization A = L L', right-looking with look-ahead, lower triangle, in place.
 *
 * The algorithm of p?potrf (Choi, Dongarra, Ostrouchov, Petitet, Walker and Whaley 1996, Scientific
 * Programming 5(3):173-184, doi:10.1155/1996/483083) with aggregated panels and a trailing update
 * that is deferred and overlapped with communication (look-ahead; Gates et al. 2019, SLATE, SC '19,
 * doi:10.1145/3295500.3356223). Within a panel of 128 or 256 columns, one block of columns after
 * the other is factored by the grid column that owns it: the diagonal block by LAPACK, the rows
 * below by a triangular solve. The finished block is broadcast along grid rows, then within grid
 * columns for its transpose. Meanwhile the ranks subtract the products of the last panels from the
 * trailing triangle (potrf_update.h).
 *
 * Along grid rows a block goes by a binomial tree, whose first receiver is the grid column that
 * factors the next block. A rank sends on what it has between two pieces of its updates, so that
 * log2(Q) such delays, not Q, separate the first from the last rank; as the owners take turns, all
 * ranks send alike. Within grid columns the owners of the transpose are always the same ranks where
 * P = Q, so it goes by chains, in which each rank sends a block once; what the next block waits
 * for, the diagonal block and the first block of the transpose, goes by trees. On many ranks the
 * grid column that is next begins no piece of an update until it has what it needs.
 *
 * Cost per rank: n^3 / (3 P Q) flops; about n^2 / (2 P) + n^2 / (2 Q) words received and as many
 * sent, up to 1/8 more where that makes messages contiguous; a message per block of columns and
 * direction, where P divides Q or Q divides P, and up to P / gcd(P, Q) in the second one elsewhere.
 * Held beside A: two panels of 256 columns on fewer than 16 ranks or where they take at most half as
 * much as A, three of 128 elsewhere, each (m_loc + n_loc) numbers a column, and 2 n_loc nb numbers.
 * Nothing of order n^2 is replicated. The order of the sums does not depend on timing. */
#include <string.h>

#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/factor/factor.h"
#include "linalg/factor/potrf_update.h"

#define TAGS     16384 /* broadcasts under way have different tags */
#define FEW_ROWS 8     /* one in so many may be sent that nobody needs */

static void potrf_copy_block(const dkm_potrf_ws *e, dkm_idx m, dkm_idx n, const void *from,
                             dkm_idx ldf, void *to, dkm_idx ldt)
{
    for (dkm_idx j = 0; j < n; j++)
        memcpy((char *)to + (size_t)(j * ldt) * e->size,
               (const char *)from + (size_t)(j * ldf) * e->size, (size_t)m * e->size);
}

/* The info of a block travels with its numbers, as one of them. */
static void potrf_put_info(const dkm_potrf_ws *e, void *to, int info)
{
    if (e->A->precision == DKM_F64)
        *(double *)to = info;
    else
        *(float *)to = (float)info;
}

static int potrf_get_info(const dkm_potrf_ws *e, const void *from)
{
    return e->A->precision == DKM_F64 ? (int)*(const double *)from : (int)*(const float *)from;
}

static int potrf_next_tag(int *tag)
{
    *tag = (*tag + 1) % TAGS;
    return *tag;
}

/* Wait for what the next block of columns depends on. On many ranks without a piece of an update,
 * whose time all of them would lose. */
static void potrf_wait_critical(dkm_potrf_ws *e, const dkm_bcast *b)
{
    if (!e->prompt)
        dkm_potrf_wait_arrived(e, b);
    while (!dkm_bcast_arrived(b))
        dkm_bcast_wait_some(&e->queue);
}

/* L(k, k) in the corner on all processes of the grid column that owns it; its info. */
static int potrf_bcast_corner(dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    int owner = dkm_cyclic_owner(k, A->mb, e->P);
    char *info = (char *)e->corner + (size_t)(w * w) * e->size;

    dkm_potrf_wait_complete(e, &e->corner_bcast);
    if (e->p == owner) {
        void *block = dkm_potrf_in_matrix(e, dkm_cyclic_local(k, A->mb, e->P),
                                          dkm_cyclic_local(k, A->nb, e->Q));
        potrf_put_info(e, info, dkm_blas_potrf(A->precision, w, block, A->ld));
        potrf_copy_block(e, w, w, block, A->ld, e->corner, w);
    }
    dkm_bcast_start(&e->queue, &e->corner_bcast, DKM_BCAST_TREE,
                    &(dkm_bcast_data){e->corner, w * w + 1, 1, w * w + 1, e->type}, owner,
                    potrf_next_tag(&e->col_tag), dkm_grid_col_comm(A->grid));
    potrf_wait_critical(e, &e->corner_bcast);
    return potrf_get_info(e, info);
}

/* Columns [k, k + w) of A on the processes that own them: L(k, k) to the corner, what is below
 * solved with it and copied to the rows. */
static void potrf_factor_block(dkm_potrf_ws *e, dkm_idx k, dkm_idx w, void *info)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = dkm_cyclic_local(k, A->nb, e->Q);
    dkm_idx below = dkm_cyclic_count(k + w, A->mb, e->p, e->P);
    int block_info = potrf_bcast_corner(e, k, w);

    potrf_put_info(e, info, block_info);
    if (block_info != 0 || below == A->m_loc)
        return;
    dkm_blas_trsm_right(A->precision, 'T', A->m_loc - below, w, e->corner, w,
                        dkm_potrf_in_matrix(e, below, jl), A->ld);
    potrf_copy_block(e, A->m_loc - below, w, dkm_potrf_in_matrix(e, below, jl), A->ld,
                     dkm_potrf_in_panel_rows(e, e->panel, below, k - e->panel->at),
                     dkm_potrf_panel_rows_ld(e, e->panel));
}

/* What others need of columns [k, k + w) of the panel: the rows below their diagonal block. With the
 * few rows above these the message is contiguous, and a receiver on the same node copies it by itself;
 * one with gaps is packed in fragments, and waits for its sender between two of them. */
static dkm_bcast_data potrf_block_rows(const dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    const dkm_potrf_panel *s = e->panel;
    dkm_idx below = dkm_cyclic_count(k + w, e->A->mb, e->p, e->P), above = below - s->row0,
            rows = e->A->m_loc - below + 1;
    dkm_idx from = FEW_ROWS * above <= rows ? s->row0 : below;

    return (dkm_bcast_data){dkm_potrf_in_panel_rows(e, s, from, k - s->at), e->A->m_loc - from + 1,
                            w, dkm_potrf_panel_rows_ld(e, s), e->type};
}

/* Send columns [k, k + w) of the panel along the grid row, or get them; the info of the block. */
static int potrf_bcast_block(dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    dkm_potrf_panel *s = e->panel;
    dkm_bcast *b = &s->bcasts[(k - s->at) / e->A->nb];
    int owner = dkm_cyclic_owner(k, e->A->nb, e->Q);
    dkm_bcast_data rows = potrf_block_rows(e, k, w);
    void *info = dkm_potrf_in_panel_rows(e, s, e->A->m_loc, k - s->at);

    if (e->q == owner)
        potrf_factor_block(e, k, w, info);
    dkm_bcast_start(&e->queue, b, DKM_BCAST_TREE, &rows, owner, potrf_next_tag(&e->row_tag),
                    dkm_grid_row_comm(e->A->grid));
    if (e->q == (owner + 1) % e->Q)
        potrf_wait_critical(e, b);
    else
        dkm_potrf_wait_arrived(e, b);
    return potrf_get_info(e, info);
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

/* This process's blocks of columns [k, k + w) of L, in the place of its grid row. */
static void potrf_pack_transpose(dkm_potrf_ws *e, dkm_idx k, dkm_idx w, dkm_idx first, void *data)
{
    const dkm_potrf_panel *s = e->panel;
    dkm_idx blocks = (e->A->n + e->A->nb - 1) / e->A->nb, at = e->starts[e->p];

    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = potrf_block_height(e, b);
        if (b % e->P != e->p)
            continue;
        potrf_copy_block(e, h, w, dkm_potrf_in_panel_rows(e, s, b / e->P * e->A->mb, k - s->at),
                         dkm_potrf_panel_rows_ld(e, s), (char *)data + (size_t)at * e->size, h);
        at += h * w;
    }
}

static void potrf_unpack_transpose(dkm_potrf_ws *e, dkm_idx k, dkm_idx w, dkm_idx first, void *data)
{
    const dkm_potrf_panel *s = e->panel;
    dkm_idx blocks = (e->A->n + e->A->nb - 1) / e->A->nb;

    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = potrf_block_height(e, b);
        int *from = &e->starts[b % e->P];
        potrf_copy_block(e, h, w, (char *)data + (size_t)*from * e->size, h,
                         dkm_potrf_in_panel_cols(e, s, b / e->Q * e->A->nb, k - s->at),
                         dkm_potrf_panel_cols_ld(e, s));
        *from += (int)(h * w);
    }
}

/* Broadcast numbers [from, to) of a slot within the grid column. */
static void potrf_bcast_part(dkm_potrf_ws *e, dkm_potrf_slot *slot, dkm_bcast_shape shape, int root,
                             dkm_idx from, dkm_idx to)
{
    dkm_bcast_data part = {(char *)slot->data + (size_t)from * e->size, to - from, 1, to - from,
                           e->type};

    if (from < to)
        dkm_bcast_start(&e->queue, &slot->bcasts[slot->count++], shape, &part, root,
                        potrf_next_tag(&e->col_tag), dkm_grid_col_comm(e->A->grid));
}

/* Columns [k, k + w) of L, at hand in the rows, to the columns: block b of it is in grid row
 * b mod P, and this grid column needs those with b mod Q = q. The grid column that factors the next
 * block needs that one of them first. */
static void potrf_transpose_block(dkm_potrf_ws *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    dkm_idx blocks = (A->n + A->nb - 1) / A->nb, next = k / A->nb + 1,
            first = potrf_next_own_block(e, next);
    dkm_potrf_slot *slot = &e->slots[e->next_slot];

    if (e->P > 1)
        e->next_slot = (e->next_slot + 1) % DKM_POTRF_SLOTS;
    for (int j = 0; j < slot->count; j++)
        dkm_potrf_wait_complete(e, &slot->bcasts[j]);
    slot->count = 0;
    potrf_plan_transpose(e, first, blocks, w);
    potrf_pack_transpose(e, k, w, first, slot->data);
    for (int j = 0; j < e->P; j++) {
        int r = (int)((next + j) % e->P);
        dkm_idx urgent =
            j == 0 && first == next && next < blocks ? potrf_block_height(e, next) * w : 0;
        dkm_idx from = e->starts[r], to = from + e->counts[r];
        potrf_bcast_part(e, slot, DKM_BCAST_TREE, r, from, from + urgent);
        potrf_bcast_part(e, slot, DKM_BCAST_CHAIN, r, from + urgent, to);
    }
    for (int j = 0; j < slot->count; j++) {
        if (first == next)
            potrf_wait_critical(e, &slot->bcasts[j]);
        else
            dkm_potrf_wait_arrived(e, &slot->bcasts[j]);
    }
    potrf_unpack_transpose(e, k, w, first, slot->data);
}

/* After block k of the panel, its d-th: with g the largest power of two that divides d, the next g
 * blocks are updated with the last g. So each is complete when its turn comes, by products as
 * wide as can be. */
static void potrf_update_panel(dkm_potrf_ws *e, dkm_idx k, dkm_idx end)
{
    dkm_idx nb = e->A->nb, d = (k - e->panel->at) / nb + 1, g = d & -d;
    dkm_potrf_panel_part last = {e->panel, (d - g) * nb, g * nb};

    if (k + nb < end)
        dkm_potrf_update_columns(e, &last, k + nb, dkm_idx_min(k + nb + g * nb, end));
}

/* Factor the panel; the order of a bad minor within it, or 0. */
static int potrf_factor_panel(dkm_potrf_ws *e)
{
    dkm_dmat *A = e->A;
    dkm_potrf_panel *s = e->panel;
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
    return info;
}

/* Factor columns [at, done) and begin to update what is right of them. */
static void potrf_eliminate_panel(dkm_potrf_ws *e, dkm_idx at, dkm_idx done, dkm_idx *info)
{
    int block_info;

    e->panel->at = at;
    e->panel->width = done - at;
    block_info = potrf_factor_panel(e);
    if (block_info != 0)
        *info = at + block_info;
    else
        dkm_potrf_update_schedule(e);
}

/* Let the monitor see the state after a panel, if it wants to. */
static dkm_status potrf_call_monitor(dkm_potrf_ws *e, const dkm_la_monitor *monitor, dkm_idx done)
{
    if (!monitor->want(monitor->user, done))
        return DKM_OK;
    dkm_potrf_update_drain(e);
    return monitor->on_panel(monitor->user, done);
}

static dkm_status potrf_factorize(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                                  dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_potrf_ws e = {0};
    double n = (double)A->n;

    DKM_AGREE(ctx, dkm_potrf_ws_open(&e, A));
    for (dkm_idx at = from; at < A->n && *info == 0; at += e.panel_cols) {
        dkm_idx done = dkm_idx_min(at + e.panel_cols, A->n);
        double left = n - (double)done;

        if (e.p >= 0)
            potrf_eliminate_panel(&e, at, done, info);
        dkm_progress(ctx, 1.0 - left * left * left / (n * n * n), 1.0);
        if (monitor)
            *info = dkm_factor_agree_info(ctx, *info);
        if (monitor && *info == 0)
            DKM_TRY(potrf_call_monitor(&e, monitor, done));
    }
out:
    dkm_bcast_wait_all(&e.queue); /* what others have yet to receive */
    dkm_potrf_ws_close(&e);
    return status;
}

const dkm_factor_backend dkm_factor_own = {"own", potrf_factorize};
