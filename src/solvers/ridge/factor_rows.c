/* Forward and back substitution with many right-hand sides by a lower triangle that is read in row
 * panels: left-looking and right-looking by blocks (Golub and Van Loan 2013, Matrix Computations, 3.1.4),
 * out of core (Toledo 1999, A survey of out-of-core algorithms in numerical linear algebra).
 *
 * Right-hand sides are the rows of B, which is block-cyclic with its columns where L has those of its
 * rows. For the rows [i, i + w) of L, of which every rank takes the columns that are its own,
 *
 *   forward    B_i <- (B_i - sum_{j < i} B_j L_ij') L_ii^-T     the sum over ranks of a grid row
 *   back       B_i <- B_i L_ii^-1,  B_j <- B_j - B_i L_ij       for j < i, from the last rows on
 *
 * so that L is read once per solve, in the order of its rows, and B alone is written. Panels of about as
 * many rows as B has go through the matrix product at once, which packs B once per panel; blocks of nb
 * within them one after the other. Rows of B that begin with zeros take part from there on, to COLUMNS.
 *
 * Cost for n columns and k rows of B on R x C ranks: n^2 k / (R C) flops per rank, a third of that where
 * the zeros are spread evenly. Read per grid row, n^2 / (2 R) numbers, by one of its rows of ranks for
 * each panel in turn; sent within grid columns, n^2 / (2 C) words per rank where R > 1, and along grid
 * rows k n / R. Held per rank: a panel of w rows, w n / C numbers, and (w + nb) k / R. Nothing is
 * replicated but along grid columns the panel. */
#include "solvers/ridge/factor_rows.h"

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"

#define PANEL_MIN 256 /* rows of L at a time: as many as B has, within these bounds */
#define PANEL_MAX 1024
#define COLUMNS   512  /* of a rank, in which the same rows of B take part */
#define RUN_WORTH 384  /* numbers that are read in passing rather than by a read of their own */
#define BULK      4096 /* numbers of a buffer for whole rows, no less than a row */

typedef struct rows_ws {
    const dkm_factor_rows *L;
    dkm_ctx *ctx;
    int p, q, P, Q;
    dkm_idx step; /* rows of a panel, the last one apart */
    dkm_rows_file file;
    dkm_local failed; /* the first failure to read; the loop goes on, as others do */
    dkm_idx at, w;    /* rows of the panel */
    dkm_idx ld;       /* its columns of this rank */
    double *panel;    /* a row of it is contiguous */
    double *bulk;     /* a row as the file has it */
    double *part;     /* local rows of B x rows of the panel */
    double *sum;    /* of the parts of one block over a grid row: no sum in place (rank_update.c) */
    double *corner; /* a diagonal block, column-major */
} rows_ws;

/* Local columns before global column @p j. */
static dkm_idx cols_before(const rows_ws *s, dkm_idx j)
{
    return dkm_cyclic_count(j, s->L->nb, s->q, s->Q);
}

/* The end of the rows from @p i on that one grid row has, and whose diagonal lies in one block. */
static dkm_idx block_end(const dkm_factor_rows *L, dkm_idx i)
{
    dkm_idx end = dkm_idx_min((i / L->nb + 1) * L->nb, L->n);

    if (i < L->h)
        return dkm_idx_min(end, L->h);
    return dkm_idx_min(end, L->h + ((i - L->h) / L->nb + 1) * L->nb);
}

/* Whole blocks of rows. */
static dkm_idx rows_step(const dkm_factor_rows *L, dkm_idx k)
{
    dkm_idx wanted = dkm_idx_min(dkm_idx_max(k, PANEL_MIN), PANEL_MAX);

    return dkm_idx_max(wanted / L->nb, 1) * L->nb;
}

/* To solve for k rows, @p rows of which are this rank's. */
static dkm_local rows_open(rows_ws *s, const dkm_factor_rows *L, dkm_idx k, dkm_idx rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx w = rows_step(L, k), cols;

    *s = (rows_ws){.L = L,
                   .ctx = dkm_grid_ctx(L->grid),
                   .p = dkm_grid_row(L->grid),
                   .q = dkm_grid_col(L->grid),
                   .P = dkm_grid_rows(L->grid),
                   .Q = dkm_grid_cols(L->grid),
                   .step = w,
                   .file.fd = -1,
                   .failed = DKM_LOCAL_OK};
    if (s->p < 0)
        return local;
    cols = cols_before(s, L->n);
    dkm_blas_use_threads(s->ctx);
    DKM_STEP(dkm_alloc(s->ctx, w * cols + 1, &s->panel));
    DKM_STEP(dkm_alloc(s->ctx, dkm_idx_max(L->h, BULK), &s->bulk));
    DKM_STEP(dkm_alloc(s->ctx, w * rows + 1, &s->part));
    DKM_STEP(dkm_alloc(s->ctx, L->nb * rows + 1, &s->sum));
    DKM_STEP(dkm_alloc(s->ctx, L->nb * L->nb, &s->corner));
    if (L->file && L->h > 0)
        DKM_STEP(dkm_rows_file_open(&s->file, s->ctx, L->file));
out:
    return local;
}

static void rows_close(rows_ws *s)
{
    dkm_rows_file_close(&s->file);
    DKM_FREE(s->corner);
    DKM_FREE(s->sum);
    DKM_FREE(s->part);
    DKM_FREE(s->bulk);
    DKM_FREE(s->panel);
}

/* Numbers [0, i] of row i, of which this rank takes those of its columns; the others of it are zero. */
static dkm_local read_row(const rows_ws *s, dkm_idx i, double *row)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_idx nb = s->L->nb, before = dkm_matrix_entry_before(s->L->file, i);
    const int whole = (s->Q - 1) * nb <= RUN_WORTH;

    if (whole)
        DKM_STEP(dkm_rows_file_read(&s->file, before, i + 1, s->bulk));
    for (dkm_idx j = s->q * nb, jl = 0; j <= i; j += nb * s->Q, jl += nb) {
        dkm_idx width = dkm_idx_min(nb, i + 1 - j);
        if (whole)
            memcpy(row + jl, s->bulk + j, (size_t)width * sizeof *row);
        else
            DKM_STEP(dkm_rows_file_read(&s->file, before + j, width, row + jl));
    }
out:
    return local;
}

/* Rows [i, i + w) of a matrix that begins with row @p origin, as rows of the panel. */
static void take_rows(const rows_ws *s, const dkm_dmat *A, dkm_idx i, dkm_idx w, dkm_idx origin,
                      double *rows)
{
    dkm_idx il = dkm_cyclic_local(i - origin, A->mb, s->P);

    for (dkm_idx r = 0; r < w; r++)
        memset(rows + r * s->ld, 0, (size_t)s->ld * sizeof *rows);
    for (dkm_idx jl = 0; jl < s->ld; jl++) {
        dkm_idx jg = dkm_dmat_global_col(A, jl);
        for (dkm_idx r = jg > i ? jg - i : 0; r < w; r++)
            rows[r * s->ld + jl] = dkm_dmat_at(A, il + r, jl);
    }
}

/* Rows [i, i + w), which one grid row brings to its grid columns. */
static void load_block(rows_ws *s, dkm_idx i, dkm_idx w, double *rows)
{
    const dkm_factor_rows *L = s->L;
    const dkm_dmat *A = i < L->h ? L->head : L->tail;
    dkm_idx origin = i < L->h ? 0 : L->h;
    int owner = A ? dkm_cyclic_owner(i - origin, A->mb, s->P) : (int)(i / L->nb % s->P);

    if (s->p == owner && A)
        take_rows(s, A, i, w, origin, rows);
    for (dkm_idx r = 0; s->p == owner && !A && r < w; r++) {
        memset(rows + r * s->ld, 0, (size_t)s->ld * sizeof *rows);
        if (s->failed.code == DKM_OK)
            s->failed = read_row(s, i + r, rows + r * s->ld);
    }
    if (s->P > 1)
        MPI_Bcast(rows, (int)(w * s->ld), MPI_DOUBLE, owner, dkm_grid_col_comm(L->grid));
}

/* Rows [at, at + w) to the panel. */
static void load_panel(rows_ws *s, dkm_idx at, dkm_idx w)
{
    s->at = at;
    s->w = w;
    s->ld = cols_before(s, at + w);
    for (dkm_idx i = at, end; i < at + w; i = end) {
        end = dkm_idx_min(block_end(s->L, i), at + w);
        load_block(s, i, end - i, s->panel + (i - at) * s->ld);
    }
}

/* The diagonal block of rows [i, i + w) on the ranks that have its columns. */
static void take_corner(rows_ws *s, dkm_idx i, dkm_idx w)
{
    dkm_idx jl = cols_before(s, i);

    for (dkm_idx r = 0; r < w; r++)
        for (dkm_idx c = 0; c <= r; c++)
            s->corner[r + c * w] = s->panel[(i - s->at + r) * s->ld + jl + c];
}

/* Rows of B that are not zero in its first @p end columns: they come first. */
static dkm_idx rows_begun(const dkm_dmat *B, const dkm_idx *first, dkm_idx end)
{
    dkm_idx k = B->m_loc;

    while (first && k > 0 && first[dkm_dmat_global_row(B, k - 1)] >= end)
        k--;
    return k;
}

/* part <- sum over this rank's columns before the panel of B_j L_ij', for the first k rows of B: by
 * columns, so that the panel is packed once, with the rows that have begun. */
static void sum_before(rows_ws *s, const dkm_dmat *B, const dkm_idx *first, dkm_idx k)
{
    dkm_idx end = cols_before(s, s->at), step = first ? COLUMNS : dkm_idx_max(end, 1);

    memset(s->part, 0, (size_t)(k * s->w) * sizeof *s->part);
    for (dkm_idx j = 0; j < end; j += step) {
        dkm_idx cols = dkm_idx_min(step, end - j);
        dkm_idx rows = rows_begun(B, first, dkm_dmat_global_col(B, j + cols - 1) + 1);
        if (rows > 0)
            dkm_blas_gemm(DKM_F64, 'N', 'N', rows, s->w, cols, 1.0, B->a.f64 + j * B->ld, B->ld,
                          s->panel + j, s->ld, 1.0, s->part, k);
    }
}

/* Rows [i, i + w) of the panel: B_i is final. */
static void solve_block(rows_ws *s, dkm_dmat *B, dkm_idx k, dkm_idx i, dkm_idx w)
{
    int owner = dkm_cyclic_owner(i, s->L->nb, s->Q);
    dkm_idx from = cols_before(s, s->at), jl = cols_before(s, i);
    double *part = s->part + (i - s->at) * k, *block = B->a.f64 + jl * B->ld;
    const double *sum = s->Q > 1 ? s->sum : part;

    if (jl > from)
        dkm_blas_gemm(DKM_F64, 'N', 'N', k, w, jl - from, 1.0, B->a.f64 + from * B->ld, B->ld,
                      s->panel + (i - s->at) * s->ld + from, s->ld, 1.0, part, k);
    if (s->Q > 1)
        MPI_Reduce(part, s->sum, (int)(k * w), MPI_DOUBLE, MPI_SUM, owner,
                   dkm_grid_row_comm(s->L->grid));
    if (s->q != owner)
        return;
    for (dkm_idx c = 0; c < w; c++)
        for (dkm_idx r = 0; r < k; r++)
            block[r + c * B->ld] -= sum[r + c * k];
    take_corner(s, i, w);
    dkm_blas_trsm_right(DKM_F64, 'T', k, w, s->corner, w, block, B->ld);
}

dkm_status dkm_factor_rows_solve(const dkm_factor_rows *L, dkm_idx from, const dkm_idx *first,
                                 dkm_dmat *B)
{
    dkm_status status = DKM_OK;
    rows_ws s;

    DKM_AGREE(dkm_grid_ctx(L->grid), rows_open(&s, L, B->m, B->m_loc));
    for (dkm_idx at = from; s.p >= 0 && at < L->n; at += s.step) {
        dkm_idx w = dkm_idx_min(s.step, L->n - at), k = rows_begun(B, first, at + w);
        if (first && first[0] >= at + w) /* on all ranks */
            continue;
        load_panel(&s, at, w);
        if (k == 0)
            continue;
        sum_before(&s, B, first, k);
        for (dkm_idx i = at, end; i < at + w; i = end) {
            end = dkm_idx_min(block_end(L, i), at + w);
            solve_block(&s, B, k, i, end - i);
        }
    }
    DKM_AGREE(s.ctx, s.failed);
    dkm_phase_flops(s.ctx, ((double)L->n * (double)L->n - (double)from * (double)from) *
                               (double)B->m / dkm_ctx_size(s.ctx));
out:
    rows_close(&s);
    return status;
}

/* Rows [i, i + w) of the panel: B_i is final, and what it takes from the columns of the panel before
 * it is taken. B_i stays in its place of @p part. */
static void solve_block_back(rows_ws *s, dkm_dmat *B, dkm_idx i, dkm_idx w)
{
    int owner = dkm_cyclic_owner(i, s->L->nb, s->Q);
    dkm_idx k = B->m_loc, from = cols_before(s, s->at), jl = cols_before(s, i);
    double *part = s->part + (i - s->at) * k, *block = B->a.f64 + jl * B->ld;

    if (s->q == owner) {
        take_corner(s, i, w);
        dkm_blas_trsm_right(DKM_F64, 'N', k, w, s->corner, w, block, B->ld);
        for (dkm_idx c = 0; c < w; c++)
            memcpy(part + c * k, block + c * B->ld, (size_t)k * sizeof *part);
    }
    if (s->Q > 1)
        MPI_Bcast(part, (int)(k * w), MPI_DOUBLE, owner, dkm_grid_row_comm(s->L->grid));
    if (jl > from)
        dkm_blas_gemm(DKM_F64, 'N', 'T', k, jl - from, w, -1.0, part, k,
                      s->panel + (i - s->at) * s->ld + from, s->ld, 1.0, B->a.f64 + from * B->ld,
                      B->ld);
}

/* Blocks of the panel, the last one first. */
static void solve_panel_back(rows_ws *s, dkm_dmat *B)
{
    dkm_idx end = s->at + s->w, before = cols_before(s, s->at);

    while (end > s->at) {
        dkm_idx i = s->at;
        while (block_end(s->L, i) < end)
            i = block_end(s->L, i);
        solve_block_back(s, B, i, end - i);
        end = i;
    }
    if (before > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'T', B->m_loc, before, s->w, -1.0, s->part, B->m_loc, s->panel,
                      s->ld, 1.0, B->a.f64, B->ld);
}

dkm_status dkm_factor_rows_solve_back(const dkm_factor_rows *L, dkm_dmat *B)
{
    dkm_status status = DKM_OK;
    rows_ws s;

    DKM_AGREE(dkm_grid_ctx(L->grid), rows_open(&s, L, B->m, B->m_loc));
    for (dkm_idx at = (L->n - 1) / s.step * s.step; s.p >= 0 && at >= 0; at -= s.step) {
        load_panel(&s, at, dkm_idx_min(s.step, L->n - at));
        if (B->m_loc > 0)
            solve_panel_back(&s, B);
    }
    DKM_AGREE(s.ctx, s.failed);
    dkm_phase_flops(s.ctx, (double)L->n * (double)L->n * (double)B->m / dkm_ctx_size(s.ctx));
out:
    rows_close(&s);
    return status;
}

dkm_status dkm_factor_rows_copy(const dkm_factor_rows *L, dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    rows_ws s;

    DKM_AGREE(dkm_grid_ctx(L->grid), rows_open(&s, L, 0, 0));
    for (dkm_idx at = 0; s.p >= 0 && at < L->n; at += L->nb) {
        dkm_idx w = dkm_idx_min(L->nb, L->n - at), il = dkm_cyclic_local(at, A->mb, s.P);
        load_panel(&s, at, w);
        if (s.p != dkm_cyclic_owner(at, A->mb, s.P))
            continue;
        for (dkm_idx jl = 0; jl < s.ld; jl++) {
            dkm_idx jg = dkm_dmat_global_col(A, jl);
            for (dkm_idx r = jg > at ? jg - at : 0; r < w; r++)
                A->a.f64[il + r + jl * A->ld] = s.panel[r * s.ld + jl];
        }
    }
    DKM_AGREE(s.ctx, s.failed);
out:
    rows_close(&s);
    return status;
}
