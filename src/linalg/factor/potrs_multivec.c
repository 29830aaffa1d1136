/* X <- (L L')^-1 X for at most DKM_NRHS_BLOCK right-hand sides, L stationary (SLATE: trsmA).
 *
 * Block row k of L lies in grid row k mod R, block column k in grid column k mod C. Forward, with
 * L Y = B:
 *   s_k = sum over j < k of L_kj Y_j - B_k   summed along the grid row of block k, to the rank that
 *                                            holds L_kk
 *   Y_k = -L_kk^-1 s_k                       solved there, sent down the grid column
 * and backward, with L'X = Y:
 *   t_k = sum over i > k of L_ik' X_i        summed along the grid column, to the rank of L_kk
 *   X_k = L_kk^-T (Y_k - t_k)                solved there, sent along the grid row
 * L never moves. Blocks are taken in panels that reach over all grid columns: within a panel block
 * after block depends on the one before; then all ranks multiply by their parts of L beyond the
 * panel at once. B enters and X leaves at the homes of matrix/multivec_map.h.
 *
 * Cost per rank for p right-hand sides of n rows, padded to w = 8 or 16 in the products: 2 n^2 w /
 * (R C) flops. Sent: 2 n p (1/R + 1/C) words within rows and columns and 2 n p / (R C) between
 * slabs and grid, in 2 (n / nb) (1/R + 1/C) messages, times log where the broadcast is a tree.
 * Held: n w (1/R + 1/C) numbers and two panels of them; nothing is replicated over all ranks, and
 * the factor needs no preparation, so that every solve costs the same. */
#include <assert.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/parallel_products.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "matrix/multivec_map.h"

#define PANEL_COLS 256 /* columns of a panel, at least, where there are as many */
#define PIECE_ROWS 512 /* whose products are added up before they are added to others */

typedef struct potrs_ws {
    const dkm_dmat *L;
    dkm_ctx *ctx;
    size_t size; /* bytes of a number */
    MPI_Datatype type;
    dkm_idx p, width;       /* right-hand sides, and with padding */
    dkm_idx panel;          /* columns of a panel */
    dkm_idx at, end;        /* the panel at hand */
    dkm_idx r0, r1, c0, c1; /* local rows and columns in it */
    dkm_multivec_map map;
    double *home;
    void *rows;       /* per local row: s, later X */
    void *cols;       /* per local column: Y */
    void *part;       /* per local column of the panel: t */
    void *gain;       /* a sum over one panel, or over some rows, before it is added to others */
    void *sent, *sum; /* p numbers per row of a block, on their way */
} potrs_ws;

static void *potrs_row_of(const potrs_ws *s, void *a, dkm_idx i)
{
    return (char *)a + (size_t)(i * s->width) * s->size;
}

static const void *potrs_in_factor(const potrs_ws *s, dkm_idx il, dkm_idx jl)
{
    return (const char *)s->L->a.any + (size_t)(il + jl * s->L->ld) * s->size;
}

static dkm_local potrs_open(potrs_ws *s, const dkm_dmat *L, dkm_idx p)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx line = L->nb * dkm_grid_cols(L->grid), block = L->nb * DKM_NRHS_BLOCK;

    *s = (potrs_ws){.L = L, .ctx = dkm_grid_ctx(L->grid), .p = p, .width = dkm_ts_nrhs_pad(p)};
    s->size = L->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    s->type = L->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    s->panel = (PANEL_COLS + line - 1) / line * line;
    DKM_STEP(dkm_multivec_map_init(&s->map, L, 'R', p));
    DKM_STEP(dkm_alloc(s->ctx, s->map.count * p, &s->home));
    DKM_STEP(dkm_calloc_at(s->ctx, __FILE__, __LINE__, L->m_loc * s->width, s->size, &s->rows));
    DKM_STEP(dkm_calloc_at(s->ctx, __FILE__, __LINE__, L->n_loc * s->width, s->size, &s->cols));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, s->panel * s->width, s->size, &s->part));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, (L->m_loc + s->panel) * s->width, s->size,
                          &s->gain));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, block, s->size, &s->sent));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, block, s->size, &s->sum));
out:
    return local;
}

static void potrs_close(potrs_ws *s)
{
    DKM_FREE(s->sum);
    DKM_FREE(s->sent);
    DKM_FREE(s->gain);
    DKM_FREE(s->part);
    DKM_FREE(s->cols);
    DKM_FREE(s->rows);
    DKM_FREE(s->home);
    dkm_multivec_map_free(&s->map);
}

/* s <- -B at the homes of its rows, and 0 elsewhere. */
static void potrs_load_rhs(potrs_ws *s, const double *rows)
{
    const dkm_multivec_map *map = &s->map;

    dkm_multivec_map_to_homes(&s->map, rows, s->p, s->home);
    for (dkm_idx i = 0; i < map->count; i++)
        for (dkm_idx k = 0; k < s->p; k++) {
            dkm_idx to = (map->first + i) * s->width + k;
            if (s->L->precision == DKM_F64)
                ((double *)s->rows)[to] = -s->home[i * s->p + k];
            else
                ((float *)s->rows)[to] = (float)-s->home[i * s->p + k];
        }
}

static void potrs_store_solution(potrs_ws *s, double *rows)
{
    const dkm_multivec_map *map = &s->map;

    for (dkm_idx i = 0; i < map->count; i++)
        for (dkm_idx k = 0; k < s->p; k++) {
            dkm_idx from = (map->first + i) * s->width + k;
            s->home[i * s->p + k] = s->L->precision == DKM_F64 ? ((double *)s->rows)[from]
                                                               : (double)((float *)s->rows)[from];
        }
    dkm_multivec_map_from_homes(&s->map, s->home, 0, rows, s->p);
}

/* A block of rows without the padding, to be sent; and back. */
static void potrs_pack(const potrs_ws *s, dkm_idx n, const void *from, void *to)
{
    size_t bytes = (size_t)s->p * s->size;

    for (dkm_idx i = 0; i < n; i++)
        memcpy((char *)to + (size_t)i * bytes,
               (const char *)from + (size_t)(i * s->width) * s->size, bytes);
}

static void potrs_unpack(const potrs_ws *s, dkm_idx n, const void *from, void *to)
{
    size_t bytes = (size_t)s->p * s->size;

    for (dkm_idx i = 0; i < n; i++)
        memcpy(potrs_row_of(s, to, i), (const char *)from + (size_t)i * bytes, bytes);
}

/* to <- to + from, for some rows. Sums are made of sums, as long ones round more. */
static void potrs_add_block(const potrs_ws *s, dkm_idx rows, const void *from, void *to)
{
    for (dkm_idx k = 0; k < rows * s->width; k++) {
        if (s->L->precision == DKM_F64)
            ((double *)to)[k] += ((const double *)from)[k];
        else
            ((float *)to)[k] += ((const float *)from)[k];
    }
}

/* X <- scale X + Y for n packed rows; Y may be NULL. */
static void potrs_combine_packed(const potrs_ws *s, dkm_idx n, double scale, void *X, const void *Y)
{
    for (dkm_idx k = 0; k < n * s->p; k++) {
        if (s->L->precision == DKM_F64)
            ((double *)X)[k] = scale * ((double *)X)[k] + (Y ? ((const double *)Y)[k] : 0.0);
        else
            ((float *)X)[k] = (float)scale * ((float *)X)[k] + (Y ? ((const float *)Y)[k] : 0.0f);
    }
}

/* s += L Y for local rows [i0, i1) and columns [j0, j1). */
static void potrs_gemm_n(potrs_ws *s, dkm_idx i0, dkm_idx i1, dkm_idx j0, dkm_idx j1)
{
    const dkm_dmat *L = s->L;
    dkm_ts_tile t = {L->precision, i1 - i0, j1 - j0, L->ld, potrs_in_factor(s, i0, j0)};

    if (i1 <= i0 || j1 <= j0)
        return;
    memset(s->gain, 0, (size_t)((i1 - i0) * s->width) * s->size);
    dkm_ts_gemm_n_parallel(dkm_ctx_threads(s->ctx), &t, s->width, potrs_row_of(s, s->cols, j0),
                           s->gain);
    potrs_add_block(s, i1 - i0, s->gain, potrs_row_of(s, s->rows, i0));
}

/* t += L'X for the same. */
static void potrs_gemm_t(potrs_ws *s, dkm_idx i0, dkm_idx i1, dkm_idx j0, dkm_idx j1)
{
    const dkm_dmat *L = s->L;

    for (dkm_idx il = i0; il < i1 && j1 > j0; il += PIECE_ROWS) {
        dkm_ts_tile t = {L->precision, dkm_idx_min(PIECE_ROWS, i1 - il), j1 - j0, L->ld,
                         potrs_in_factor(s, il, j0)};
        memset(s->gain, 0, (size_t)((j1 - j0) * s->width) * s->size);
        dkm_ts_gemm_t_parallel(dkm_ctx_threads(s->ctx), &t, s->width, potrs_row_of(s, s->rows, il),
                               s->gain);
        potrs_add_block(s, j1 - j0, s->gain, potrs_row_of(s, s->part, j0 - s->c0));
    }
}

static void potrs_enter_panel(potrs_ws *s, dkm_idx at)
{
    const dkm_dmat *L = s->L;
    int p = dkm_grid_row(L->grid), q = dkm_grid_col(L->grid);
    int P = dkm_grid_rows(L->grid), Q = dkm_grid_cols(L->grid);

    s->at = at;
    s->end = dkm_idx_min(at + s->panel, L->n);
    s->r0 = dkm_cyclic_count(at, L->mb, p, P);
    s->r1 = dkm_cyclic_count(s->end, L->mb, p, P);
    s->c0 = dkm_cyclic_count(at, L->nb, q, Q);
    s->c1 = dkm_cyclic_count(s->end, L->nb, q, Q);
}

/* Block k of L, where it lies, and what this rank has to do with it. */
typedef struct potrs_block {
    dkm_idx n;
    int row, col;       /* of the grid, where L_kk is */
    int in_row, in_col; /* whether this rank is in them */
    dkm_idx il, jl;     /* its first local row and column, where this rank is in them */
    dkm_idx below;      /* first local row beyond the block */
} potrs_block;

static potrs_block potrs_block_at(const potrs_ws *s, dkm_idx ig)
{
    const dkm_dmat *L = s->L;
    int P = dkm_grid_rows(L->grid), Q = dkm_grid_cols(L->grid), p = dkm_grid_row(L->grid);
    potrs_block b = {.n = dkm_idx_min(L->nb, L->n - ig),
                     .row = dkm_cyclic_owner(ig, L->mb, P),
                     .col = dkm_cyclic_owner(ig, L->nb, Q),
                     .il = dkm_cyclic_local(ig, L->mb, P),
                     .jl = dkm_cyclic_local(ig, L->nb, Q)};

    b.in_row = p == b.row;
    b.in_col = dkm_grid_col(L->grid) == b.col;
    b.below = dkm_cyclic_count(ig + b.n, L->mb, p, P);
    return b;
}

static void potrs_forward_block(potrs_ws *s, dkm_idx ig)
{
    const dkm_dmat *L = s->L;
    potrs_block b = potrs_block_at(s, ig);
    int count = (int)(b.n * s->p);

    if (b.in_row) {
        potrs_pack(s, b.n, potrs_row_of(s, s->rows, b.il), s->sent);
        MPI_Reduce(s->sent, s->sum, count, s->type, MPI_SUM, b.col, dkm_grid_row_comm(L->grid));
    }
    if (b.in_row && b.in_col) { /* Y_k = -L_kk^-1 s_k */
        potrs_combine_packed(s, b.n, -1.0, s->sum, NULL);
        dkm_blas_trsm_right(L->precision, 'T', s->p, b.n, potrs_in_factor(s, b.il, b.jl), L->ld,
                            s->sum, s->p);
    }
    if (b.in_col) {
        MPI_Bcast(s->sum, count, s->type, b.row, dkm_grid_col_comm(L->grid));
        potrs_unpack(s, b.n, s->sum, potrs_row_of(s, s->cols, b.jl));
        potrs_gemm_n(s, b.below, s->r1, b.jl, b.jl + b.n);
    }
}

static void potrs_forward(potrs_ws *s)
{
    for (dkm_idx ig = s->at; ig < s->end; ig += s->L->nb)
        potrs_forward_block(s, ig);
    potrs_gemm_n(s, s->r1, s->L->m_loc, s->c0, s->c1);
}

static void potrs_backward_block(potrs_ws *s, dkm_idx ig)
{
    const dkm_dmat *L = s->L;
    potrs_block b = potrs_block_at(s, ig);
    int count = (int)(b.n * s->p);

    if (b.in_col) {
        potrs_gemm_t(s, b.below, s->r1, b.jl, b.jl + b.n);
        potrs_pack(s, b.n, potrs_row_of(s, s->part, b.jl - s->c0), s->sent);
        MPI_Reduce(s->sent, s->sum, count, s->type, MPI_SUM, b.row, dkm_grid_col_comm(L->grid));
    }
    if (b.in_row && b.in_col) { /* X_k = L_kk^-T (Y_k - t_k) */
        potrs_pack(s, b.n, potrs_row_of(s, s->cols, b.jl), s->sent);
        potrs_combine_packed(s, b.n, -1.0, s->sum, s->sent);
        dkm_blas_trsm_right(L->precision, 'N', s->p, b.n, potrs_in_factor(s, b.il, b.jl), L->ld,
                            s->sum, s->p);
    }
    if (b.in_row) {
        MPI_Bcast(s->sum, count, s->type, b.col, dkm_grid_row_comm(L->grid));
        potrs_unpack(s, b.n, s->sum, potrs_row_of(s, s->rows, b.il));
    }
}

/* From the last row up `rows` holds X, as far as it is known. */
static void potrs_backward(potrs_ws *s)
{
    memset(s->part, 0, (size_t)((s->c1 - s->c0) * s->width) * s->size);
    potrs_gemm_t(s, s->r1, s->L->m_loc, s->c0, s->c1);
    for (dkm_idx ig = (s->end - 1) / s->L->nb * s->L->nb; ig >= s->at; ig -= s->L->nb)
        potrs_backward_block(s, ig);
}

/* A block of columns. */
static dkm_status potrs_solve_block(const dkm_dmat *L, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    potrs_ws s = {0};
    dkm_idx last;

    DKM_AGREE(dkm_grid_ctx(L->grid), potrs_open(&s, L, p));
    last = L->n > 0 ? (L->n - 1) / s.panel * s.panel : -1;
    potrs_load_rhs(&s, rows);
    for (dkm_idx at = 0; at <= last; at += s.panel) {
        potrs_enter_panel(&s, at);
        potrs_forward(&s);
    }
    for (dkm_idx at = last; at >= 0; at -= s.panel) {
        potrs_enter_panel(&s, at);
        potrs_backward(&s);
    }
    potrs_store_solution(&s, rows);
out:
    potrs_close(&s);
    return status;
}

/* Columns [c, c + w) of p, to rows of their own or back. */
static void potrs_copy_columns(double *rows, dkm_idx n, dkm_idx p, dkm_idx c, dkm_idx w,
                               double *few, int back)
{
    for (dkm_idx i = 0; i < n; i++) {
        double *in = rows + i * p + c, *out = few + i * w;
        memcpy(back ? in : out, back ? out : in, (size_t)w * sizeof *rows);
    }
}

dkm_status dkm_la_potrs_multivec(const dkm_dmat *L, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(L->grid);
    dkm_idx n = dkm_slab_count(L->n, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double *few = NULL;

    assert(L->m == L->n && L->mb == L->nb);
    if (p == 0)
        return DKM_OK;
    if (p <= DKM_NRHS_BLOCK)
        return potrs_solve_block(L, p, rows);
    DKM_AGREE(ctx, dkm_alloc(ctx, n * DKM_NRHS_BLOCK, &few));
    for (dkm_idx c = 0; c < p; c += DKM_NRHS_BLOCK) {
        dkm_idx w = dkm_idx_min(DKM_NRHS_BLOCK, p - c);
        potrs_copy_columns(rows, n, p, c, w, few, 0);
        DKM_TRY(potrs_solve_block(L, w, few));
        potrs_copy_columns(rows, n, p, c, w, few, 1);
    }
out:
    DKM_FREE(few);
    return status;
}
