/* A = L L' by strips of columns, right-looking, on the tiles each process has.
 *
 * Within a strip one block of columns after the other is factored by the grid column that owns it:
 * its diagonal block by LAPACK, what is below by a triangular solve. The finished block travels
 * along grid rows, and from there, within grid columns, to the places of its transpose. Meanwhile
 * the others take the product of the strip before off the trailing triangle: once a strip, with an
 * inner dimension that suits gemm. */
#include <assert.h>
#include <string.h>

#include "scalapack/blas.h"
#include "scalapack/elimination.h"
#include "scalapack/linalg.h"

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static void copy(const dkm_elimination *e, dkm_idx m, dkm_idx n, const void *from, dkm_idx ldf,
                 void *to, dkm_idx ldt)
{
    for (dkm_idx j = 0; j < n; j++)
        memcpy((char *)to + (size_t)(j * ldt) * e->size,
               (const char *)from + (size_t)(j * ldf) * e->size, (size_t)m * e->size);
}

/* Columns [k, k + w) of A on the processes that own them: L(k, k) to the corner, what is below
 * solved with it and copied to the rows. */
static int factor_block(dkm_elimination *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = dkm_cyclic_local(k, A->nb, e->Q);
    dkm_idx below = dkm_cyclic_count(k + w, A->mb, e->p, e->P);
    int owner = dkm_cyclic_owner(k, A->mb, e->P), info = 0;
    MPI_Request requests[2];

    if (e->p == owner) {
        dkm_idx il = dkm_cyclic_local(k, A->mb, e->P);
        info = dkm_blas_potrf(A->precision, w, dkm_in_matrix(e, il, jl), A->ld);
        copy(e, w, w, dkm_in_matrix(e, il, jl), A->ld, e->corner, w);
    }
    MPI_Ibcast(&info, 1, MPI_INT, owner, dkm_grid_col_comm(A->grid), &requests[0]);
    MPI_Ibcast(e->corner, (int)(w * w), e->type, owner, dkm_grid_col_comm(A->grid), &requests[1]);
    dkm_backlog_wait(e, 2, requests);
    if (info == 0 && below < A->m_loc) {
        dkm_blas_lower_solve_right(A->precision, 'T', A->m_loc - below, w, e->corner, w,
                                   dkm_in_matrix(e, below, jl), A->ld);
        copy(e, A->m_loc - below, w, dkm_in_matrix(e, below, jl), A->ld,
             dkm_in_rows(e, &e->now, below, k - e->now.at), dkm_rows_ld(e, &e->now));
    }
    return info;
}

/* Send columns [k, k + w) of the strip along the grid row, or get them. The sender goes on at
 * once: its requests stay pending. */
static int share_block(dkm_elimination *e, dkm_idx k, dkm_idx w)
{
    MPI_Comm comm = dkm_grid_row_comm(e->A->grid);
    int owner = dkm_cyclic_owner(k, e->A->nb, e->Q);
    int *info = &e->infos[(k - e->now.at) / e->A->nb];
    MPI_Request *requests = e->requests + e->pending;

    if (e->q == owner)
        *info = factor_block(e, k, w);
    MPI_Ibcast(info, 1, MPI_INT, owner, comm, &requests[0]);
    MPI_Ibcast(dkm_in_rows(e, &e->now, e->now.row0, k - e->now.at),
               (int)(dkm_rows_ld(e, &e->now) * w), e->type, owner, comm, &requests[1]);
    if (e->q == owner)
        e->pending += 2;
    else
        dkm_backlog_wait(e, 2, requests);
    return *info;
}

/* The next block of columns of this grid column that is not before block b. */
static dkm_idx own_block(const dkm_elimination *e, dkm_idx b)
{
    return b + (e->q - b % e->Q + e->Q) % e->Q;
}

static dkm_idx block_height(const dkm_elimination *e, dkm_idx b)
{
    return least(e->A->nb, e->A->n - b * e->A->nb);
}

static void plan_transpose(dkm_elimination *e, dkm_idx first, dkm_idx blocks, dkm_idx w)
{
    memset(e->counts, 0, (size_t)e->P * sizeof *e->counts);
    for (dkm_idx b = first; b < blocks; b += e->Q)
        e->counts[b % e->P] += (int)(block_height(e, b) * w);
    for (int r = 0, at = 0; r < e->P; at += e->counts[r++])
        e->starts[r] = at;
}

/* Columns [k, k + w) of L, at hand in the rows, to the columns: block b of it is in grid row
 * b mod P, and this grid column needs those with b mod Q = q. */
static void transpose_block(dkm_elimination *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    const dkm_strip *s = &e->now;
    dkm_idx blocks = (A->n + A->nb - 1) / A->nb, first = own_block(e, k / A->nb + 1), at = 0;
    MPI_Request request;

    plan_transpose(e, first, blocks, w);
    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = block_height(e, b);
        if (b % e->P != e->p)
            continue;
        copy(e, h, w, dkm_in_rows(e, s, b / e->P * A->mb, k - s->at), dkm_rows_ld(e, s),
             (char *)e->sent + (size_t)at * e->size, h);
        at += h * w;
    }
    MPI_Iallgatherv(e->sent, (int)at, e->type, e->got, e->counts, e->starts, e->type,
                    dkm_grid_col_comm(A->grid), &request);
    dkm_backlog_wait(e, 1, &request);
    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = block_height(e, b);
        int *from = &e->starts[b % e->P];
        copy(e, h, w, (char *)e->got + (size_t)*from * e->size, h,
             dkm_in_cols(e, s, b / e->Q * A->nb, k - s->at), dkm_cols_ld(e, s));
        *from += (int)(h * w);
    }
}

/* After block k of the strip, its d-th: with g the largest power of two that divides d, the next g
 * blocks lose the product of the last g. So each is complete when its turn comes, by products as
 * wide as can be. */
static void update_within(dkm_elimination *e, dkm_idx k, dkm_idx end)
{
    dkm_idx nb = e->A->nb, d = (k - e->now.at) / nb + 1, g = d & -d;
    dkm_product_part last = {&e->now, (d - g) * nb, g * nb};

    if (k + nb < end)
        dkm_update_columns(e, &last, k + nb, least(k + nb + g * nb, end));
}

/* Factor the strip; the order of a bad minor within it, or 0. */
static int factor_strip(dkm_elimination *e)
{
    dkm_dmat *A = e->A;
    dkm_strip *s = &e->now;
    dkm_idx end = s->at + s->width;
    int minor = 0;

    s->row0 = dkm_cyclic_count(s->at, A->mb, e->p, e->P);
    s->col0 = dkm_cyclic_count(s->at, A->nb, e->q, e->Q);
    for (dkm_idx k = s->at; k < end; k += A->nb) {
        dkm_idx w = least(A->nb, end - k);
        int info = share_block(e, k, w);
        if (info != 0) {
            minor = (int)(k - s->at) + info;
            break;
        }
        transpose_block(e, k, w);
        update_within(e, k, end);
    }
    dkm_backlog_finish(e);
    MPI_Waitall(e->pending, e->requests, MPI_STATUSES_IGNORE);
    e->pending = 0;
    return minor;
}

/* The one that any rank knows of: those outside the grid do not see what fails in it. */
static dkm_idx any_minor(dkm_ctx *ctx, dkm_idx minor)
{
    MPI_Allreduce(MPI_IN_PLACE, &minor, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(ctx));
    return minor;
}

/* Factor columns [at, done) and begin to update what is right of them. */
static void eliminate_strip(dkm_elimination *e, dkm_idx at, dkm_idx done, dkm_idx *minor)
{
    int info;

    e->now.at = at;
    e->now.width = done - at;
    info = factor_strip(e);
    if (info != 0)
        *minor = at + info;
    else
        dkm_backlog_begin(e);
}

/* Let the watch see the state after a strip, if it wants to. */
static dkm_status show(dkm_elimination *e, const dkm_la_watch *watch, dkm_idx done)
{
    if (!watch->due(watch->user, done))
        return DKM_OK;
    dkm_backlog_finish(e);
    return watch->after(watch->user, done);
}

dkm_status dkm_la_cholesky_from(dkm_dmat *A, dkm_idx from, const dkm_la_watch *watch,
                                dkm_idx *minor)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_elimination e = {0};
    double n = (double)A->n, rest = n - (double)from;

    assert(A->m == A->n && A->mb == A->nb && from % A->nb == 0);
    *minor = 0;
    DKM_AGREE(ctx, dkm_elimination_open(&e, A));
    dkm_blas_use_threads(ctx);
    for (dkm_idx at = from; at < A->n && *minor == 0; at += e.wide) {
        dkm_idx done = least(at + e.wide, A->n);
        double left = n - (double)done;

        if (e.p >= 0)
            eliminate_strip(&e, at, done, minor);
        dkm_progress(ctx, 1.0 - left * left * left / (n * n * n), 1.0);
        if (watch)
            *minor = any_minor(ctx, *minor);
        if (watch && *minor == 0)
            DKM_TRY(show(&e, watch, done));
    }
    *minor = any_minor(ctx, *minor);
    dkm_phase_flops(ctx, rest * rest * rest / 3.0 / dkm_ctx_size(ctx));
out:
    dkm_elimination_close(&e);
    return status;
}

dkm_status dkm_la_cholesky(dkm_dmat *A, dkm_idx *minor)
{
    return dkm_la_cholesky_from(A, 0, NULL, minor);
}
