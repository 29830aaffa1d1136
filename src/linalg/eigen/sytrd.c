/* One-stage reduction of a symmetric matrix to tridiagonal form, A = Q T Q', blocked.
 *
 * Dongarra, Sorensen and Hammarling 1989, J. Comput. Appl. Math. 27:215-227,
 * doi:10.1016/0377-0427(89)90367-1 (LAPACK dsytrd, ScaLAPACK pdsytrd). Column j of a panel is brought
 * up to date, a_j - V W(j,:)' - W V(j,:)', and gives the reflector I - tau v v'; then
 *
 *     w = tau (A v - V (W'v) - W (V'v)),   w <- w - tau (w'v) v / 2,
 *
 * where A is the trailing matrix as it was before the panel. After the panel A <- A - V W' - W V'.
 *
 * A v is half of the operations and reads the trailing matrix once, both triangles of it from the
 * lower one (kernels/symv_columns.h): that, in memory, is what the reduction takes. What is done with V
 * and W is shared out by rows: each rank, of the grid or not, has a slab of the rows of a panel. A
 * rank's threads share its columns; BLAS is serial meanwhile.
 *
 * Cost per rank: 4/3 n^3 / ranks flops; 2 n messages of collectives over all ranks (an allgather and an
 * allreduce a column), and in them n^2 words, with another n^2 for the panels. Held beside A: 4 b numbers
 * for each local row and column, b = PANEL columns. Replicated: a panel, n b numbers, and 6 n; so a
 * rank needs more than its share of A where there are more than n / (b + 6) ranks. Words sent do not
 * shrink with the ranks either: on many of them the libraries are for it. */
#include "linalg/eigen/sytrd.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/parallel.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"
#include "linalg/kernels/symv_columns.h"
#include "matrix/dmat_impl.h"

#define PANEL 32  /* columns; V and W of a rank's slab stay in the second cache */
#define LEAF  64  /* columns whose part of the diagonal is updated as a rectangle */
#define GROUP 256 /* columns that a thread updates at a time */

typedef struct sytrd {
    dkm_dmat *A;
    dkm_tridiagonal *t;
    dkm_ctx *ctx;
    int rank, size, p, q, P, Q, threads;
    dkm_idx n, k, w, m;        /* columns [k, k + w) of the panel, m = n - k rows */
    dkm_idx first, rows, ld;   /* slab of these rows, and the most that it has */
    dkm_idx *row_of, *col_of;  /* global row and column of a local one */
    int *counts, *starts;      /* of the slabs */
    double *panel;             /* n x w: columns of A, later W by rows; on all ranks */
    double *slab;              /* ld x 3 w: columns of A, V, W */
    double *top_V, *top_W;     /* their first w rows, w x w; on all ranks */
    double *in_rows, *in_cols; /* [V W] in local rows, [W V] in local columns */
    double *y_rows, *y_cols;   /* A v in local rows, one copy a thread, and columns */
    double *x, *y;             /* column of the panel, from its first row on; A v, V'v, W'v */
} sytrd;

double dkm_la_sytrd_replicated_bytes(const dkm_dmat *A)
{
    return 8.0 * (PANEL + 6.0) * (double)A->n;
}

double dkm_la_sytrd_bytes(const dkm_dmat *A)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    double local = (double)(A->m_loc + A->n_loc), slab = (double)A->n / dkm_ctx_size(ctx) + 1;
    double copies = (double)dkm_ctx_threads(ctx) * (double)A->m_loc;

    return 8.0 * ((2.0 * PANEL + 2.0) * local + 3.0 * PANEL * slab + copies) +
           dkm_la_sytrd_replicated_bytes(A);
}

void dkm_tridiagonal_free(dkm_tridiagonal *t)
{
    DKM_FREE(t->tau);
    DKM_FREE(t->e);
    DKM_FREE(t->d);
}

static dkm_local sytrd_open(sytrd *s, dkm_dmat *A, dkm_tridiagonal *t)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_idx n = A->n;

    *t = (dkm_tridiagonal){.n = n};
    *s = (sytrd){.A = A, .t = t, .ctx = ctx, .n = n};
    s->rank = dkm_ctx_rank(ctx);
    s->size = dkm_ctx_size(ctx);
    s->p = dkm_grid_row(A->grid);
    s->q = dkm_grid_col(A->grid);
    s->P = dkm_grid_rows(A->grid);
    s->Q = dkm_grid_cols(A->grid);
    s->threads = dkm_ctx_threads(ctx);
    s->ld = n / s->size + 1;
    DKM_STEP(dkm_calloc(ctx, n, &t->d));
    DKM_STEP(dkm_calloc(ctx, n, &t->e));
    DKM_STEP(dkm_calloc(ctx, n, &t->tau));
    DKM_STEP(dkm_alloc(ctx, A->m_loc, &s->row_of));
    DKM_STEP(dkm_alloc(ctx, A->n_loc, &s->col_of));
    DKM_STEP(dkm_alloc(ctx, s->size, &s->counts));
    DKM_STEP(dkm_alloc(ctx, s->size, &s->starts));
    DKM_STEP(dkm_alloc(ctx, n * PANEL, &s->panel));
    DKM_STEP(dkm_alloc(ctx, s->ld * 3 * PANEL, &s->slab));
    DKM_STEP(dkm_calloc(ctx, PANEL * PANEL, &s->top_V));
    DKM_STEP(dkm_calloc(ctx, PANEL * PANEL, &s->top_W));
    DKM_STEP(dkm_calloc(ctx, A->m_loc * 2 * PANEL, &s->in_rows));
    DKM_STEP(dkm_calloc(ctx, A->n_loc * 2 * PANEL, &s->in_cols));
    DKM_STEP(dkm_alloc(ctx, A->m_loc * s->threads, &s->y_rows));
    DKM_STEP(dkm_alloc(ctx, A->n_loc, &s->y_cols));
    DKM_STEP(dkm_alloc(ctx, n, &s->x));
    DKM_STEP(dkm_alloc(ctx, n + 2 * PANEL, &s->y));
    for (dkm_idx il = 0; il < A->m_loc; il++)
        s->row_of[il] = dkm_dmat_global_row(A, il);
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        s->col_of[jl] = dkm_dmat_global_col(A, jl);
out:
    return local;
}

static void sytrd_close(sytrd *s)
{
    DKM_FREE(s->y);
    DKM_FREE(s->x);
    DKM_FREE(s->y_cols);
    DKM_FREE(s->y_rows);
    DKM_FREE(s->in_cols);
    DKM_FREE(s->in_rows);
    DKM_FREE(s->top_W);
    DKM_FREE(s->top_V);
    DKM_FREE(s->slab);
    DKM_FREE(s->panel);
    DKM_FREE(s->starts);
    DKM_FREE(s->counts);
    DKM_FREE(s->col_of);
    DKM_FREE(s->row_of);
}

/* Local rows and columns before global ones; none are outside the grid. */
static dkm_idx rows_before(const sytrd *s, dkm_idx ig)
{
    return s->p < 0 ? 0 : dkm_cyclic_count(ig, s->A->mb, s->p, s->P);
}

static dkm_idx cols_before(const sytrd *s, dkm_idx jg)
{
    return s->p < 0 ? 0 : dkm_cyclic_count(jg, s->A->nb, s->q, s->Q);
}

/* The local column of a global one, or -1 where another rank has it. */
static dkm_idx own_column(const sytrd *s, dkm_idx jg)
{
    if (s->p < 0 || dkm_cyclic_owner(jg, s->A->nb, s->Q) != s->q)
        return -1;
    return dkm_cyclic_local(jg, s->A->nb, s->Q);
}

static double *slab_V(const sytrd *s, dkm_idx j)
{
    return s->slab + (PANEL + j) * s->ld;
}

static double *slab_W(const sytrd *s, dkm_idx j)
{
    return s->slab + (2 * PANEL + j) * s->ld;
}

/* y += alpha A x, or alpha A'x, of m x n elements. */
static void gemv(char trans, dkm_idx m, dkm_idx n, double alpha, const double *A, dkm_idx lda,
                 const double *x, dkm_idx incx, double *y)
{
    const int m_ = (int)m, n_ = (int)n, lda_ = (int)lda, incx_ = (int)incx, one = 1;
    const double plus = 1.0;

    if (m > 0 && n > 0)
        dgemv_(&trans, &m_, &n_, &alpha, A, &lda_, x, &incx_, &plus, y, &one);
}

/* The next panel, its columns as they are in A: all on every rank, whose slab is kept. */
static void sytrd_open_panel(sytrd *s, dkm_idx k)
{
    const dkm_dmat *A = s->A;

    s->k = k;
    s->m = s->n - k;
    s->w = dkm_idx_min(PANEL, s->m);
    s->first = dkm_slab_first(s->m, s->rank, s->size);
    s->rows = dkm_slab_first(s->m, s->rank + 1, s->size) - s->first;
    memset(s->panel, 0, (size_t)(s->m * s->w) * sizeof *s->panel);
    for (dkm_idx j = 0; j < s->w; j++) {
        dkm_idx jl = own_column(s, k + j);
        for (dkm_idx il = rows_before(s, k + j); jl >= 0 && il < A->m_loc; il++)
            s->panel[s->row_of[il] - k + j * s->m] = A->a.f64[il + jl * A->ld];
    }
    MPI_Allreduce(MPI_IN_PLACE, s->panel, (int)(s->m * s->w), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(s->ctx));
    for (dkm_idx j = 0; j < s->w; j++)
        memcpy(s->slab + j * s->ld, s->panel + s->first + j * s->m,
               (size_t)s->rows * sizeof *s->slab);
}

/* x = column j from the diagonal on, up to date, on every rank. */
static void sytrd_update_column(sytrd *s, dkm_idx j)
{
    dkm_idx skip = dkm_idx_min(dkm_idx_max(j - s->first, 0), s->rows), rows = s->rows - skip;
    double *x = s->x + s->first + skip;

    memcpy(x, s->slab + skip + j * s->ld, (size_t)rows * sizeof *x);
    gemv('N', rows, j, -1.0, slab_V(s, 0) + skip, s->ld, s->top_W + j, PANEL, x);
    gemv('N', rows, j, -1.0, slab_W(s, 0) + skip, s->ld, s->top_V + j, PANEL, x);
    for (int r = 0; r < s->size; r++) {
        dkm_idx from = dkm_idx_max(j, dkm_slab_first(s->m, r, s->size));
        s->starts[r] = (int)from;
        s->counts[r] = (int)dkm_idx_max(0, dkm_slab_first(s->m, r + 1, s->size) - from);
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->x, s->counts, s->starts, MPI_DOUBLE,
                   dkm_ctx_comm(s->ctx));
}

/* d, e, tau and v of column j; v stands in x from row j + 1 on, and is zero where tau is. */
static double sytrd_reflect(sytrd *s, dkm_idx j)
{
    dkm_idx m = s->m;
    double *x = s->x, alpha, beta, tau = 0, squares = 0, scale = 0;

    s->t->d[s->k + j] = x[j];
    if (j + 1 == m)
        return 0;
    alpha = beta = x[j + 1];
    gemv('T', m - j - 2, 1, 1.0, x + j + 2, m, x + j + 2, 1, &squares);
    if (squares > 0) {
        beta = -copysign(sqrt(alpha * alpha + squares), alpha);
        tau = (beta - alpha) / beta;
        scale = 1.0 / (alpha - beta);
    }
    for (dkm_idx r = j + 2; r < m; r++)
        x[r] *= scale;
    x[j + 1] = squares > 0 ? 1.0 : 0.0;
    s->t->e[s->k + j] = beta;
    s->t->tau[s->k + j] = tau;
    return tau;
}

/* v to where it is needed: A, the slab, the top, local rows and columns. */
static void sytrd_store_vector(sytrd *s, dkm_idx j)
{
    dkm_dmat *A = s->A;
    dkm_idx jl = own_column(s, s->k + j);
    double *rows = s->in_rows + j * A->m_loc, *cols = s->in_cols + (PANEL + j) * A->n_loc;

    for (dkm_idx r = 0; r <= j; r++)
        s->x[r] = 0;
    memcpy(slab_V(s, j), s->x + s->first, (size_t)s->rows * sizeof *s->x);
    memcpy(s->top_V + j * PANEL, s->x, (size_t)s->w * sizeof *s->x);
    for (dkm_idx il = rows_before(s, s->k); il < A->m_loc && s->p >= 0; il++)
        rows[il] = s->x[s->row_of[il] - s->k];
    for (dkm_idx i = cols_before(s, s->k); i < A->n_loc && s->p >= 0; i++)
        cols[i] = s->x[s->col_of[i] - s->k];
    if (jl >= 0)
        memcpy(A->a.f64 + rows_before(s, s->k + j + 1) + jl * A->ld,
               rows + rows_before(s, s->k + j + 1),
               (size_t)(A->m_loc - rows_before(s, s->k + j + 1)) * sizeof *rows);
}

/* What one thread adds to A v. */
typedef struct product {
    sytrd *s;
    dkm_idx j;
} product;

/* Columns [jl, jl + count) of one block, with the part of the diagonal block that is above the rest. */
static void sytrd_multiply_columns(sytrd *s, dkm_idx j, dkm_idx jl, dkm_idx count, double *y_rows)
{
    const dkm_dmat *A = s->A;
    const double *x_rows = s->in_rows + j * A->m_loc, *x_cols = s->in_cols + (PANEL + j) * A->n_loc;
    dkm_idx top = rows_before(s, s->col_of[jl]), below = rows_before(s, s->col_of[jl] + count);
    const double *a = A->a.f64 + jl * A->ld;
    const dkm_symv_tile tile = {A->m_loc - below, count, A->ld, a + below};

    for (dkm_idx c = 0; c < count && top < below; c++) {
        double sum = 0, x = x_cols[jl + c];
        y_rows[top + c] += a[top + c + c * A->ld] * x;
        for (dkm_idx i = top + c + 1; i < below; i++) {
            sum += a[i + c * A->ld] * x_rows[i];
            y_rows[i] += a[i + c * A->ld] * x;
        }
        s->y_cols[jl + c] += sum;
    }
    dkm_symv_add(&tile, x_rows + below, x_cols + jl, y_rows + below, s->y_cols + jl);
}

/* Every so manieth group of columns, from the one behind column j of the panel on. */
static void sytrd_multiply_part(void *user, dkm_idx part, int thread)
{
    const product *c = user;
    sytrd *s = c->s;
    dkm_idx jl = cols_before(s, s->k + c->j + 1), nb = s->A->nb, end;
    double *y_rows = s->y_rows + part * s->A->m_loc;

    (void)thread;
    memset(y_rows, 0, (size_t)s->A->m_loc * sizeof *y_rows);
    for (dkm_idx turn = 0; jl < s->A->n_loc; jl = end, turn++) {
        dkm_idx in_block = jl % nb / DKM_SYMV_COLUMNS * DKM_SYMV_COLUMNS + DKM_SYMV_COLUMNS;
        end = dkm_idx_min(jl / nb * nb + dkm_idx_min(in_block, nb), s->A->n_loc);
        if (turn % s->threads == part)
            sytrd_multiply_columns(s, c->j, jl, end - jl, y_rows);
    }
}

/* y = this rank's part of A v, from row j + 1 of the panel on. */
static void sytrd_multiply(sytrd *s, dkm_idx j)
{
    dkm_idx row = rows_before(s, s->k + j + 1), col = cols_before(s, s->k + j + 1);
    product c = {s, j};

    memset(s->y + j + 1, 0, (size_t)(s->m - j - 1) * sizeof *s->y);
    if (s->p < 0)
        return;
    memset(s->y_cols + col, 0, (size_t)(s->A->n_loc - col) * sizeof *s->y_cols);
    dkm_parallel_for(s->threads, s->threads, sytrd_multiply_part, &c);
    for (int k = 0; k < s->threads; k++)
        for (dkm_idx il = row; il < s->A->m_loc; il++)
            s->y[s->row_of[il] - s->k] += s->y_rows[il + k * s->A->m_loc];
    for (dkm_idx jl = col; jl < s->A->n_loc; jl++)
        s->y[s->col_of[jl] - s->k] += s->y_cols[jl];
}

/* W(:, j) in the slab and in the top from y = A v, V'v and W'v. */
static void sytrd_finish_w(sytrd *s, dkm_idx j, double tau)
{
    const double *Vv = s->y + s->m, *Wv = Vv + j;
    double *w = slab_W(s, j), vAv = 0, shift;

    gemv('T', s->m - j - 1, 1, 1.0, s->x + j + 1, s->m, s->y + j + 1, 1, &vAv);
    for (dkm_idx l = 0; l < j; l++)
        vAv -= 2.0 * Vv[l] * Wv[l];
    shift = -0.5 * tau * tau * vAv;
    for (dkm_idx i = 0; i < s->rows; i++)
        w[i] = s->first + i > j ? tau * s->y[s->first + i] + shift * s->x[s->first + i] : 0.0;
    gemv('N', s->rows, j, -tau, slab_V(s, 0), s->ld, Wv, 1, w);
    gemv('N', s->rows, j, -tau, slab_W(s, 0), s->ld, Vv, 1, w);
    w = s->top_W + j * PANEL;
    for (dkm_idx r = j + 1; r < s->w; r++)
        w[r] = tau * s->y[r] + shift * s->x[r];
    for (dkm_idx l = 0; l < j; l++)
        for (dkm_idx r = j + 1; r < s->w; r++)
            w[r] -= tau * (s->top_V[r + l * PANEL] * Wv[l] + s->top_W[r + l * PANEL] * Vv[l]);
}

static void sytrd_reduce_column(sytrd *s, dkm_idx j)
{
    double tau, *Vv = s->y + s->m;

    sytrd_update_column(s, j);
    tau = sytrd_reflect(s, j);
    if (j + 1 == s->m)
        return;
    sytrd_store_vector(s, j);
    memset(slab_W(s, j), 0, (size_t)s->rows * sizeof *s->slab);
    memset(s->top_W + j * PANEL, 0, PANEL * sizeof *s->top_W);
    if (!(tau > 0))
        return;
    sytrd_multiply(s, j);
    memset(Vv, 0, (size_t)(2 * j) * sizeof *Vv);
    gemv('T', s->rows, j, 1.0, slab_V(s, 0), s->ld, slab_V(s, j), 1, Vv);
    gemv('T', s->rows, j, 1.0, slab_W(s, 0), s->ld, slab_V(s, j), 1, Vv + j);
    MPI_Allreduce(MPI_IN_PLACE, s->y + j + 1, (int)(s->m + j - 1), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(s->ctx));
    sytrd_finish_w(s, j, tau);
}

/* W of all slabs to local rows and columns. */
static void sytrd_share_w(sytrd *s)
{
    const dkm_dmat *A = s->A;
    double *own = s->panel + s->first * s->w;

    for (dkm_idx i = 0; i < s->rows; i++)
        for (dkm_idx l = 0; l < s->w; l++)
            own[i * s->w + l] = slab_W(s, l)[i];
    for (int r = 0; r < s->size; r++) {
        dkm_idx first = dkm_slab_first(s->m, r, s->size);
        s->starts[r] = (int)(first * s->w);
        s->counts[r] = (int)((dkm_slab_first(s->m, r + 1, s->size) - first) * s->w);
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->panel, s->counts, s->starts, MPI_DOUBLE,
                   dkm_ctx_comm(s->ctx));
    for (dkm_idx l = 0; l < s->w && s->p >= 0; l++) {
        for (dkm_idx il = rows_before(s, s->k + s->w); il < A->m_loc; il++)
            s->in_rows[il + (PANEL + l) * A->m_loc] = s->panel[(s->row_of[il] - s->k) * s->w + l];
        for (dkm_idx jl = cols_before(s, s->k + s->w); jl < A->n_loc; jl++)
            s->in_cols[jl + l * A->n_loc] = s->panel[(s->col_of[jl] - s->k) * s->w + l];
    }
}

/* A <- A - [V W] [W V]' for local columns [jl, end) down to local row @p edge: a rectangle below the
 * diagonal of all of them, and two halves of the same kind; the upper triangle of what is on the
 * diagonal has no meaning. */
static void sytrd_update_columns(sytrd *s, dkm_idx jl, dkm_idx end, dkm_idx edge)
{
    dkm_dmat *A = s->A;
    dkm_idx middle = (jl + end) / 2, row = rows_before(s, s->col_of[end - 1] + 1);
    int leaf = end - jl <= LEAF && s->col_of[end - 1] - s->col_of[jl] < LEAF;

    if (leaf || end - jl == 1)
        row = rows_before(s, s->col_of[jl]);
    if (row < edge)
        dkm_blas_gemm(DKM_F64, 'N', 'T', edge - row, end - jl, 2 * PANEL, -1.0, s->in_rows + row,
                      A->m_loc, s->in_cols + jl, A->n_loc, 1.0, A->a.f64 + row + jl * A->ld, A->ld);
    if (leaf || end - jl == 1)
        return;
    sytrd_update_columns(s, jl, middle, row);
    sytrd_update_columns(s, middle, end, row);
}

static void sytrd_update_group(void *user, dkm_idx group, int thread)
{
    sytrd *s = user;
    dkm_idx jl = cols_before(s, s->k + s->w) + group * GROUP;

    (void)thread;
    sytrd_update_columns(s, jl, dkm_idx_min(jl + GROUP, s->A->n_loc), s->A->m_loc);
}

static void sytrd_update_trailing(sytrd *s)
{
    dkm_idx cols = s->A->n_loc - cols_before(s, s->k + s->w);

    if (s->p >= 0)
        dkm_parallel_for(s->threads, (cols + GROUP - 1) / GROUP, sytrd_update_group, s);
}

dkm_status dkm_la_sytrd(dkm_dmat *A, dkm_tridiagonal *t)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    int serial = dkm_blas_set_serial(ctx, 1);
    sytrd s = {0};

    assert(A->m == A->n && A->mb == A->nb && A->precision == DKM_F64);
    DKM_AGREE(ctx, sytrd_open(&s, A, t));
    for (dkm_idx k = 0; k < A->n; k += PANEL) {
        sytrd_open_panel(&s, k);
        for (dkm_idx j = 0; j < s.w; j++)
            sytrd_reduce_column(&s, j);
        sytrd_share_w(&s);
        sytrd_update_trailing(&s);
    }
out:
    dkm_blas_set_serial(ctx, serial);
    sytrd_close(&s);
    return status;
}
