/* X <- (L L')^-1 X for at most DKM_NRHS_BLOCK right-hand sides, L stationary (SLATE: trsmA).
 *
 * For few right-hand sides, p?trsm spends more time on communication than on arithmetic. Here X is
 * replicated, DKM_NRHS_BLOCK numbers per row, and solved for panel after panel of about 256 rows,
 * forward with L and backward with L'. The contributions of the panels already solved are summed
 * over the ranks together with the panel's own small triangle, and every rank solves with that
 * triangle; then all ranks at once multiply their parts of L by the new part of X.
 *
 * Cost per rank: 2 n^2 DKM_NRHS_BLOCK / (P Q) flops plus 2 n 256 DKM_NRHS_BLOCK replicated ones; 2
 * n / 256 allreduces over all ranks, in all n (256 + 2 DKM_NRHS_BLOCK) words. Replicated: X and the
 * triangles of all panels, n (256 + 3 DKM_NRHS_BLOCK) numbers, of which the DKM_NRHS_BLOCK gathered
 * columns are double. */
#include <assert.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

#define PANEL_COLS 256 /* rows solved for at a time, about */
#define PIECE_ROWS 512 /* whose products are added up before they are added to others */

typedef struct potrs_ws {
    const dkm_dmat *L;
    dkm_ctx *ctx;
    size_t size; /* bytes of a number */
    MPI_Datatype type;
    dkm_idx strip;
    dkm_idx at, width;      /* the panel at hand */
    dkm_idx r0, r1, c0, c1; /* local rows and columns in it */
    void *x;                /* all rows of X */
    void *sums;             /* of the panel, behind its triangle */
    void *triangles;        /* of all panels, each followed by room for sums */
    void *mine;             /* for this rank's rows: what they owe, later X itself */
    void *part;             /* the same for its columns of the panel */
    void *gain; /* a sum over one panel, or over some rows, before it is added to others */
    double *all;
    int *counts, *starts;
} potrs_ws;

static void *potrs_offset(const potrs_ws *s, void *a, dkm_idx by)
{
    return (char *)a + by * (dkm_idx)s->size;
}

static void *potrs_row_of(const potrs_ws *s, void *a, dkm_idx i)
{
    return potrs_offset(s, a, i * DKM_NRHS_BLOCK);
}

static dkm_idx potrs_triangle_size(const potrs_ws *s)
{
    return s->strip * (s->strip + DKM_NRHS_BLOCK);
}

static dkm_local potrs_open(potrs_ws *s, const dkm_dmat *L)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx strips;
    int ranks;

    *s = (potrs_ws){.L = L, .ctx = dkm_grid_ctx(L->grid)};
    ranks = dkm_ctx_size(s->ctx);
    s->size = L->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    s->type = L->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    s->strip = (PANEL_COLS + L->nb - 1) / L->nb * L->nb;
    strips = (L->n + s->strip - 1) / s->strip;
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, L->n * DKM_NRHS_BLOCK, s->size, &s->x));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, strips * potrs_triangle_size(s), s->size,
                          &s->triangles));
    DKM_STEP(
        dkm_calloc_at(s->ctx, __FILE__, __LINE__, L->m_loc * DKM_NRHS_BLOCK, s->size, &s->mine));
    DKM_STEP(
        dkm_alloc_at(s->ctx, __FILE__, __LINE__, s->strip * DKM_NRHS_BLOCK, s->size, &s->part));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, (L->m_loc + s->strip) * DKM_NRHS_BLOCK,
                          s->size, &s->gain));
    DKM_STEP(dkm_alloc(s->ctx, L->n * DKM_NRHS_BLOCK, &s->all));
    DKM_STEP(dkm_alloc(s->ctx, ranks, &s->counts));
    DKM_STEP(dkm_alloc(s->ctx, ranks, &s->starts));
out:
    return local;
}

static void potrs_close(potrs_ws *s)
{
    DKM_FREE(s->starts);
    DKM_FREE(s->counts);
    DKM_FREE(s->all);
    DKM_FREE(s->gain);
    DKM_FREE(s->part);
    DKM_FREE(s->mine);
    DKM_FREE(s->triangles);
    DKM_FREE(s->x);
}

/* X <- the slabs of all ranks, with zeros in the lanes that are not used. */
static void potrs_allgather_rhs(potrs_ws *s, dkm_idx p, const double *rows)
{
    int ranks = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx);
    double *to;

    for (int r = 0; r < ranks; r++) {
        s->counts[r] = (int)(dkm_slab_count(s->L->n, r, ranks) * p);
        s->starts[r] = (int)(dkm_slab_first(s->L->n, r, ranks) * p);
    }
    to = s->all + s->starts[rank];
    memcpy(to, rows, (size_t)s->counts[rank] * sizeof *rows);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->all, s->counts, s->starts, MPI_DOUBLE,
                   dkm_ctx_comm(s->ctx));
    memset(s->x, 0, (size_t)(s->L->n * DKM_NRHS_BLOCK) * s->size);
    for (dkm_idx i = 0; i < s->L->n; i++)
        for (dkm_idx k = 0; k < p; k++) {
            if (s->L->precision == DKM_F64)
                ((double *)s->x)[i * DKM_NRHS_BLOCK + k] = s->all[i * p + k];
            else
                ((float *)s->x)[i * DKM_NRHS_BLOCK + k] = (float)s->all[i * p + k];
        }
}

static void potrs_scatter_solution(const potrs_ws *s, dkm_idx p, double *rows)
{
    int ranks = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx);
    dkm_idx first = dkm_slab_first(s->L->n, rank, ranks), n = dkm_slab_count(s->L->n, rank, ranks);

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < p; k++)
            rows[i * p + k] = s->L->precision == DKM_F64
                                  ? ((double *)s->x)[(first + i) * DKM_NRHS_BLOCK + k]
                                  : (double)((float *)s->x)[(first + i) * DKM_NRHS_BLOCK + k];
}

static void potrs_enter_panel(potrs_ws *s, dkm_idx at)
{
    const dkm_dmat *L = s->L;
    int p = dkm_grid_row(L->grid), q = dkm_grid_col(L->grid);
    int P = dkm_grid_rows(L->grid), Q = dkm_grid_cols(L->grid);
    dkm_idx end = dkm_idx_min(at + s->strip, L->n);
    int inside = p >= 0;

    s->at = at;
    s->width = end - at;
    s->r0 = inside ? dkm_cyclic_count(at, L->mb, p, P) : 0;
    s->r1 = inside ? dkm_cyclic_count(end, L->mb, p, P) : 0;
    s->c0 = inside ? dkm_cyclic_count(at, L->nb, q, Q) : 0;
    s->c1 = inside ? dkm_cyclic_count(end, L->nb, q, Q) : 0;
    s->sums = potrs_offset(s, s->triangles, at / s->strip * potrs_triangle_size(s));
    s->sums = potrs_offset(s, s->sums, s->width * s->width);
}

static void *potrs_triangle(const potrs_ws *s)
{
    return potrs_offset(s, s->sums, -s->width * s->width);
}

static const void *potrs_in_factor(const potrs_ws *s, dkm_idx il, dkm_idx jl)
{
    return potrs_offset(s, s->L->a.any, il + jl * s->L->ld);
}

/* What this rank has of the panel's triangle, a stretch of rows of a block at a time. */
static void potrs_load_triangle(potrs_ws *s)
{
    const dkm_dmat *L = s->L;
    dkm_idx w = s->width;

    memset(potrs_triangle(s), 0, (size_t)(w * w) * s->size);
    for (dkm_idx il = s->r0, count; il < s->r1; il += count) {
        dkm_idx i = dkm_dmat_global_row(L, il) - s->at;
        count = dkm_idx_min(L->mb, s->r1 - il);
        for (dkm_idx jl = s->c0; jl < s->c1; jl++) {
            dkm_idx j = dkm_dmat_global_col(L, jl) - s->at,
                    above = j > i ? dkm_idx_min(j - i, count) : 0;
            memcpy(potrs_offset(s, potrs_triangle(s), i + above + j * w),
                   potrs_in_factor(s, il + above, jl), (size_t)(count - above) * s->size);
        }
    }
}

/* to <- to + sign from, for some rows. Sums are made of sums, as long ones round more. */
static void potrs_add_block(const potrs_ws *s, dkm_idx rows, int sign, const void *from, void *to)
{
    for (dkm_idx k = 0; k < rows * DKM_NRHS_BLOCK; k++) {
        if (s->L->precision == DKM_F64)
            ((double *)to)[k] += sign * ((const double *)from)[k];
        else
            ((float *)to)[k] += (float)sign * ((const float *)from)[k];
    }
}

/* mine += L X for the rows below the panel. */
static void potrs_gemm_below_n(potrs_ws *s)
{
    const dkm_dmat *L = s->L;
    dkm_idx rows = L->m_loc - s->r1;
    dkm_ts_tile t = {L->precision, rows, s->c1 - s->c0, L->ld, potrs_in_factor(s, s->r1, s->c0)};

    memset(s->gain, 0, (size_t)(rows * DKM_NRHS_BLOCK) * s->size);
    dkm_ts_gemm_n(&t, DKM_NRHS_BLOCK, s->part, s->gain);
    potrs_add_block(s, rows, 1, s->gain, potrs_row_of(s, s->mine, s->r1));
}

/* part += L'X from the rows below the panel. */
static void potrs_gemm_below_t(potrs_ws *s)
{
    const dkm_dmat *L = s->L;
    dkm_idx cols = s->c1 - s->c0;

    for (dkm_idx il = s->r1; il < L->m_loc; il += PIECE_ROWS) {
        dkm_ts_tile t = {L->precision, dkm_idx_min(PIECE_ROWS, L->m_loc - il), cols, L->ld,
                         potrs_in_factor(s, il, s->c0)};
        memset(s->gain, 0, (size_t)(cols * DKM_NRHS_BLOCK) * s->size);
        dkm_ts_gemm_t(&t, DKM_NRHS_BLOCK, potrs_row_of(s, s->mine, il), s->gain);
        potrs_add_block(s, cols, 1, s->gain, s->part);
    }
}

static void potrs_forward(potrs_ws *s)
{
    const dkm_dmat *L = s->L;
    size_t bytes = DKM_NRHS_BLOCK * s->size;
    dkm_idx w = s->width;

    potrs_load_triangle(s);
    memset(s->sums, 0, (size_t)w * bytes);
    for (dkm_idx il = s->r0; il < s->r1; il++)
        memcpy(potrs_row_of(s, s->sums, dkm_dmat_global_row(L, il) - s->at),
               potrs_row_of(s, s->mine, il), bytes);
    MPI_Allreduce(MPI_IN_PLACE, potrs_triangle(s), (int)(w * (w + DKM_NRHS_BLOCK)), s->type,
                  MPI_SUM, dkm_ctx_comm(s->ctx));
    potrs_add_block(s, w, -1, s->sums, potrs_row_of(s, s->x, s->at));
    dkm_blas_trsm_right(L->precision, 'T', DKM_NRHS_BLOCK, w, potrs_triangle(s), w,
                        potrs_row_of(s, s->x, s->at), DKM_NRHS_BLOCK);
    for (dkm_idx jl = s->c0; jl < s->c1; jl++)
        memcpy(potrs_row_of(s, s->part, jl - s->c0),
               potrs_row_of(s, s->x, dkm_dmat_global_col(L, jl)), bytes);
    potrs_gemm_below_n(s);
}

/* From here on `mine` holds X in this rank's rows, as far as it is known. */
static void potrs_backward(potrs_ws *s)
{
    const dkm_dmat *L = s->L;
    size_t bytes = DKM_NRHS_BLOCK * s->size;
    dkm_idx w = s->width;

    memset(s->part, 0, (size_t)(s->c1 - s->c0) * bytes);
    memset(s->sums, 0, (size_t)w * bytes);
    potrs_gemm_below_t(s);
    for (dkm_idx jl = s->c0; jl < s->c1; jl++)
        memcpy(potrs_row_of(s, s->sums, dkm_dmat_global_col(L, jl) - s->at),
               potrs_row_of(s, s->part, jl - s->c0), bytes);
    MPI_Allreduce(MPI_IN_PLACE, s->sums, (int)(w * DKM_NRHS_BLOCK), s->type, MPI_SUM,
                  dkm_ctx_comm(s->ctx));
    potrs_add_block(s, w, -1, s->sums, potrs_row_of(s, s->x, s->at));
    dkm_blas_trsm_right(L->precision, 'N', DKM_NRHS_BLOCK, w, potrs_triangle(s), w,
                        potrs_row_of(s, s->x, s->at), DKM_NRHS_BLOCK);
    for (dkm_idx il = s->r0; il < s->r1; il++)
        memcpy(potrs_row_of(s, s->mine, il), potrs_row_of(s, s->x, dkm_dmat_global_row(L, il)),
               bytes);
}

dkm_status dkm_la_potrs_multivec(const dkm_dmat *L, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    potrs_ws s = {0};
    dkm_idx last;

    assert(L->m == L->n && L->mb == L->nb && p <= DKM_NRHS_BLOCK);
    DKM_AGREE(dkm_grid_ctx(L->grid), potrs_open(&s, L));
    last = L->n > 0 ? (L->n - 1) / s.strip * s.strip : -1;
    potrs_allgather_rhs(&s, p, rows);
    for (dkm_idx at = 0; at <= last; at += s.strip) {
        potrs_enter_panel(&s, at);
        potrs_forward(&s);
    }
    for (dkm_idx at = last; at >= 0; at -= s.strip) {
        potrs_enter_panel(&s, at);
        potrs_backward(&s);
    }
    potrs_scatter_solution(&s, p, rows);
out:
    potrs_close(&s);
    return status;
}
