/* A = L L' by strips of columns, right-looking, on the tiles each process has.
 *
 * Within a strip one block of columns after the other is factored by the grid column that owns it:
 * its diagonal block by LAPACK, what is below by a triangular solve. The finished block travels
 * along grid rows, and from there, within grid columns, to the places of its transpose. So each
 * process gathers the strip for its own rows and for its own columns, and takes their product off
 * its part of the trailing triangle: once a strip, with an inner dimension that suits gemm. */
#include <assert.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/blas.h"
#include "scalapack/linalg.h"

#define STRIP 256  /* columns whose product is taken off at a time */
#define WIDE  1024 /* columns of the trailing triangle at a time */

typedef struct elimination {
    dkm_dmat *A;
    dkm_ctx *ctx;
    int p, q, P, Q;
    dkm_idx strip;        /* columns, a multiple of the block */
    dkm_idx at;           /* where the strip at hand begins */
    dkm_idx row0, col0;   /* local rows and columns before it */
    void *rows, *cols;    /* of L, in this rank's rows and columns from there on */
    void *sent, *got;     /* a block of columns on its way to its transpose */
    void *corner;         /* the factor of a diagonal block */
    int *counts, *starts; /* one a grid row */
    size_t size;          /* bytes of a number */
    MPI_Datatype type;
} elimination;

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static dkm_local open_elimination(elimination *e, dkm_dmat *A)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx nb = A->nb;

    *e = (elimination){.A = A, .ctx = dkm_grid_ctx(A->grid)};
    e->p = dkm_grid_row(A->grid);
    e->q = dkm_grid_col(A->grid);
    e->P = dkm_grid_rows(A->grid);
    e->Q = dkm_grid_cols(A->grid);
    e->strip = least((STRIP + nb - 1) / nb, (A->n + nb - 1) / nb) * nb;
    e->size = A->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    e->type = A->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    DKM_STEP(dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->m_loc * e->strip, e->size, &e->rows));
    DKM_STEP(dkm_calloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * e->strip, e->size, &e->cols));
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, A->m_loc * nb, e->size, &e->sent));
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, A->n_loc * nb, e->size, &e->got));
    DKM_STEP(dkm_alloc_at(e->ctx, __FILE__, __LINE__, nb * nb, e->size, &e->corner));
    DKM_STEP(dkm_alloc(e->ctx, e->P, &e->counts));
    DKM_STEP(dkm_alloc(e->ctx, e->P, &e->starts));
out:
    return local;
}

static void close_elimination(elimination *e)
{
    DKM_FREE(e->starts);
    DKM_FREE(e->counts);
    DKM_FREE(e->corner);
    DKM_FREE(e->got);
    DKM_FREE(e->sent);
    DKM_FREE(e->cols);
    DKM_FREE(e->rows);
}

static void *shift(const elimination *e, void *a, dkm_idx by)
{
    return (char *)a + (size_t)by * e->size;
}

/* Addresses in A, and of column k of the strip in the local row or column. */
static void *in_matrix(const elimination *e, dkm_idx il, dkm_idx jl)
{
    return shift(e, e->A->a.any, il + jl * e->A->ld);
}

static dkm_idx rows_ld(const elimination *e)
{
    return e->A->m_loc - e->row0;
}

static dkm_idx cols_ld(const elimination *e)
{
    return e->A->n_loc - e->col0;
}

static void *in_rows(const elimination *e, dkm_idx il, dkm_idx k)
{
    return shift(e, e->rows, il - e->row0 + k * rows_ld(e));
}

static void *in_cols(const elimination *e, dkm_idx jl, dkm_idx k)
{
    return shift(e, e->cols, jl - e->col0 + k * cols_ld(e));
}

static void copy(const elimination *e, dkm_idx m, dkm_idx n, const void *from, dkm_idx ldf,
                 void *to, dkm_idx ldt)
{
    for (dkm_idx j = 0; j < n; j++)
        memcpy((char *)to + (size_t)(j * ldt) * e->size,
               (const char *)from + (size_t)(j * ldf) * e->size, (size_t)m * e->size);
}

/* Columns [k, k + w) of A on the processes that own them: L(k, k) to the corner, what is below
 * solved with it and copied to the rows. */
static int factor_block(elimination *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = dkm_cyclic_local(k, A->nb, e->Q);
    dkm_idx below = dkm_cyclic_count(k + w, A->mb, e->p, e->P);
    int owner = dkm_cyclic_owner(k, A->mb, e->P), info = 0;

    if (e->p == owner) {
        dkm_idx il = dkm_cyclic_local(k, A->mb, e->P);
        info = dkm_blas_potrf(A->precision, w, in_matrix(e, il, jl), A->ld);
        copy(e, w, w, in_matrix(e, il, jl), A->ld, e->corner, w);
    }
    MPI_Bcast(&info, 1, MPI_INT, owner, dkm_grid_col_comm(A->grid));
    if (info != 0)
        return info;
    MPI_Bcast(e->corner, (int)(w * w), e->type, owner, dkm_grid_col_comm(A->grid));
    if (below < A->m_loc) {
        dkm_blas_lower_solve_right(A->precision, 'T', A->m_loc - below, w, e->corner, w,
                                   in_matrix(e, below, jl), A->ld);
        copy(e, A->m_loc - below, w, in_matrix(e, below, jl), A->ld, in_rows(e, below, k - e->at),
             rows_ld(e));
    }
    return 0;
}

/* The next block of columns of this grid column that is not before block b. */
static dkm_idx own_block(const elimination *e, dkm_idx b)
{
    return b + (e->q - b % e->Q + e->Q) % e->Q;
}

static dkm_idx block_height(const elimination *e, dkm_idx b)
{
    return least(e->A->nb, e->A->n - b * e->A->nb);
}

static void plan_transpose(elimination *e, dkm_idx first, dkm_idx blocks, dkm_idx w)
{
    memset(e->counts, 0, (size_t)e->P * sizeof *e->counts);
    for (dkm_idx b = first; b < blocks; b += e->Q)
        e->counts[b % e->P] += (int)(block_height(e, b) * w);
    for (int r = 0, at = 0; r < e->P; at += e->counts[r++])
        e->starts[r] = at;
}

/* Columns [k, k + w) of L, at hand in the rows, to the columns: block b of it is in grid row
 * b mod P, and this grid column needs those with b mod Q = q. */
static void transpose_block(elimination *e, dkm_idx k, dkm_idx w)
{
    dkm_dmat *A = e->A;
    dkm_idx blocks = (A->n + A->nb - 1) / A->nb, first = own_block(e, k / A->nb + 1), at = 0;

    plan_transpose(e, first, blocks, w);
    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = block_height(e, b);
        if (b % e->P != e->p)
            continue;
        copy(e, h, w, in_rows(e, b / e->P * A->mb, k - e->at), rows_ld(e), shift(e, e->sent, at),
             h);
        at += h * w;
    }
    MPI_Allgatherv(e->sent, (int)at, e->type, e->got, e->counts, e->starts, e->type,
                   dkm_grid_col_comm(A->grid));
    for (dkm_idx b = first; b < blocks; b += e->Q) {
        dkm_idx h = block_height(e, b);
        int *from = &e->starts[b % e->P];
        copy(e, h, w, shift(e, e->got, *from), h, in_cols(e, b / e->Q * A->nb, k - e->at),
             cols_ld(e));
        *from += (int)(h * w);
    }
}

/* Local blocks of columns [b, end), from the diagonal down to local row @p edge, lose the product
 * of columns [c, c + w) of the strip. Below the diagonal blocks of all of them that is a rectangle;
 * the rest is two halves of the same kind. */
static void update(elimination *e, dkm_idx b, dkm_idx end, dkm_idx edge, dkm_idx c, dkm_idx w)
{
    dkm_dmat *A = e->A;
    dkm_idx jl = b * A->nb, n = least(end * A->nb, A->n_loc) - jl;
    dkm_idx above = dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, e->p, e->P);
    dkm_idx below = dkm_cyclic_count(dkm_dmat_global_col(A, jl + n - 1) + 1, A->mb, e->p, e->P);

    if (below < edge)
        dkm_blas_gemm(A->precision, 'N', 'T', edge - below, n, w, -1.0, in_rows(e, below, c),
                      rows_ld(e), in_cols(e, jl, c), cols_ld(e), 1.0, in_matrix(e, below, jl),
                      A->ld);
    if (end - b > 1) {
        dkm_idx middle = b + (end - b) / 2;
        update(e, b, middle, below, c, w);
        update(e, middle, end, below, c, w);
    } else if (above < below) {
        dkm_blas_syrk(A->precision, 'N', n, w, -1.0, in_rows(e, above, c), rows_ld(e), 1.0,
                      in_matrix(e, above, jl), A->ld);
    }
}

/* Global columns [from, to), multiples of the block or the end. */
static void update_columns(elimination *e, dkm_idx from, dkm_idx to, dkm_idx c, dkm_idx w)
{
    dkm_idx nb = e->A->nb, each = nb < WIDE ? WIDE / nb : 1;
    dkm_idx b = (dkm_cyclic_count(from, nb, e->q, e->Q) + nb - 1) / nb;
    dkm_idx end = (dkm_cyclic_count(to, nb, e->q, e->Q) + nb - 1) / nb;

    for (; b < end; b += each)
        update(e, b, least(b + each, end), e->A->m_loc, c, w);
}

/* After block k of the strip, its d-th: with g the largest power of two that divides d, the next g
 * blocks lose the product of the last g. So each is complete when its turn comes, by products as
 * wide as can be. */
static void update_within(elimination *e, dkm_idx k, dkm_idx end)
{
    dkm_idx nb = e->A->nb, d = (k - e->at) / nb + 1, g = d & -d;

    if (k + nb < end)
        update_columns(e, k + nb, least(k + nb + g * nb, end), (d - g) * nb, g * nb);
}

/* Factor the strip and update what is right of it; the order of a bad minor within it, or 0. */
static int eliminate_strip(elimination *e, dkm_idx width)
{
    dkm_dmat *A = e->A;
    dkm_idx end = e->at + width;

    e->row0 = dkm_cyclic_count(e->at, A->mb, e->p, e->P);
    e->col0 = dkm_cyclic_count(e->at, A->nb, e->q, e->Q);
    for (dkm_idx k = e->at; k < end; k += A->nb) {
        dkm_idx w = least(A->nb, end - k);
        int owner = dkm_cyclic_owner(k, A->nb, e->Q), info = 0;
        if (e->q == owner)
            info = factor_block(e, k, w);
        MPI_Bcast(&info, 1, MPI_INT, owner, dkm_grid_row_comm(A->grid));
        if (info != 0)
            return (int)(k - e->at) + info;
        MPI_Bcast(in_rows(e, e->row0, k - e->at), (int)(rows_ld(e) * w), e->type, owner,
                  dkm_grid_row_comm(A->grid));
        transpose_block(e, k, w);
        update_within(e, k, end);
    }
    update_columns(e, end, A->n, 0, width);
    return 0;
}

dkm_status dkm_la_cholesky_from(dkm_dmat *A, dkm_idx from, const dkm_la_watch *watch,
                                dkm_idx *minor)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    elimination e = {0};
    double n = (double)A->n, rest = n - (double)from;

    assert(A->m == A->n && A->mb == A->nb && from % A->nb == 0);
    *minor = 0;
    DKM_AGREE(ctx, open_elimination(&e, A));
    dkm_blas_use_threads(ctx);
    for (e.at = from; e.at < A->n; e.at += e.strip) {
        dkm_idx width = least(e.strip, A->n - e.at);
        double left = n - (double)e.at - (double)width;
        int info = e.p < 0 ? 0 : eliminate_strip(&e, width);
        MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(ctx));
        if (info != 0) {
            *minor = e.at + info;
            goto out;
        }
        dkm_progress(ctx, 1.0 - left * left * left / (n * n * n), 1.0);
        if (watch)
            DKM_TRY(watch->after(watch->user, e.at + width));
    }
    dkm_phase_flops(ctx, rest * rest * rest / 3.0 / dkm_ctx_size(ctx));
out:
    close_elimination(&e);
    return status;
}

dkm_status dkm_la_cholesky(dkm_dmat *A, dkm_idx *minor)
{
    return dkm_la_cholesky_from(A, 0, NULL, minor);
}
