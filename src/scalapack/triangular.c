/* (L L')^-1 on a few columns, which p?trsm is slow at: it moves more than it multiplies.
 *
 * X is at hand on every rank, DKM_LANES numbers a row. It is solved for strip after strip of rows.
 * What the rows or columns of a strip owe to those solved before is added up over the ranks,
 * together with the strip's own small triangle, and every rank solves with that; then each takes
 * the part of L it has into account, all of them at once. */
#include <assert.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/blas.h"
#include "scalapack/linalg.h"
#include "scalapack/narrow.h"

#define STRIP 256 /* rows solved for at a time, about */
#define ROWS  512 /* whose products are added up before they are added to others */

typedef struct solve {
    const dkm_dmat *L;
    dkm_ctx *ctx;
    size_t size; /* bytes of a number */
    MPI_Datatype type;
    dkm_idx strip;
    dkm_idx at, width;      /* the strip at hand */
    dkm_idx r0, r1, c0, c1; /* local rows and columns in it */
    void *x;                /* all rows of X */
    void *sums;             /* of the strip, behind its triangle */
    void *triangles;        /* of all strips, each followed by room for sums */
    void *mine;             /* for this rank's rows: what they owe, later X itself */
    void *part;             /* the same for its columns of the strip */
    void *gain; /* a sum over one strip, or over some rows, before it is added to others */
    double *all;
    int *counts, *starts;
} solve;

static void *shift(const solve *s, void *a, dkm_idx by)
{
    return (char *)a + by * (dkm_idx)s->size;
}

static void *row_of(const solve *s, void *a, dkm_idx i)
{
    return shift(s, a, i * DKM_LANES);
}

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static dkm_idx triangle_numbers(const solve *s)
{
    return s->strip * (s->strip + DKM_LANES);
}

static dkm_local open_solve(solve *s, const dkm_dmat *L)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx strips;
    int ranks;

    *s = (solve){.L = L, .ctx = dkm_grid_ctx(L->grid)};
    ranks = dkm_ctx_size(s->ctx);
    s->size = L->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    s->type = L->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;
    s->strip = (STRIP + L->nb - 1) / L->nb * L->nb;
    strips = (L->n + s->strip - 1) / s->strip;
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, L->n * DKM_LANES, s->size, &s->x));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, strips * triangle_numbers(s), s->size,
                          &s->triangles));
    DKM_STEP(dkm_calloc_at(s->ctx, __FILE__, __LINE__, L->m_loc * DKM_LANES, s->size, &s->mine));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, s->strip * DKM_LANES, s->size, &s->part));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, (L->m_loc + s->strip) * DKM_LANES, s->size,
                          &s->gain));
    DKM_STEP(dkm_alloc(s->ctx, L->n * DKM_LANES, &s->all));
    DKM_STEP(dkm_alloc(s->ctx, ranks, &s->counts));
    DKM_STEP(dkm_alloc(s->ctx, ranks, &s->starts));
out:
    return local;
}

static void close_solve(solve *s)
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
static void gather(solve *s, dkm_idx p, const double *rows)
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
    memset(s->x, 0, (size_t)(s->L->n * DKM_LANES) * s->size);
    for (dkm_idx i = 0; i < s->L->n; i++)
        for (dkm_idx k = 0; k < p; k++) {
            if (s->L->precision == DKM_F64)
                ((double *)s->x)[i * DKM_LANES + k] = s->all[i * p + k];
            else
                ((float *)s->x)[i * DKM_LANES + k] = (float)s->all[i * p + k];
        }
}

static void hand_out(const solve *s, dkm_idx p, double *rows)
{
    int ranks = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx);
    dkm_idx first = dkm_slab_first(s->L->n, rank, ranks), n = dkm_slab_count(s->L->n, rank, ranks);

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < p; k++)
            rows[i * p + k] = s->L->precision == DKM_F64
                                  ? ((double *)s->x)[(first + i) * DKM_LANES + k]
                                  : (double)((float *)s->x)[(first + i) * DKM_LANES + k];
}

static void enter_strip(solve *s, dkm_idx at)
{
    const dkm_dmat *L = s->L;
    int p = dkm_grid_row(L->grid), q = dkm_grid_col(L->grid);
    int P = dkm_grid_rows(L->grid), Q = dkm_grid_cols(L->grid);
    dkm_idx end = least(at + s->strip, L->n);
    int inside = p >= 0;

    s->at = at;
    s->width = end - at;
    s->r0 = inside ? dkm_cyclic_count(at, L->mb, p, P) : 0;
    s->r1 = inside ? dkm_cyclic_count(end, L->mb, p, P) : 0;
    s->c0 = inside ? dkm_cyclic_count(at, L->nb, q, Q) : 0;
    s->c1 = inside ? dkm_cyclic_count(end, L->nb, q, Q) : 0;
    s->sums = shift(s, s->triangles, at / s->strip * triangle_numbers(s));
    s->sums = shift(s, s->sums, s->width * s->width);
}

static void *triangle(const solve *s)
{
    return shift(s, s->sums, -s->width * s->width);
}

static const void *in_factor(const solve *s, dkm_idx il, dkm_idx jl)
{
    return shift(s, s->L->a.any, il + jl * s->L->ld);
}

/* What this rank has of the strip's triangle, a stretch of rows of a block at a time. */
static void load_triangle(solve *s)
{
    const dkm_dmat *L = s->L;
    dkm_idx w = s->width;

    memset(triangle(s), 0, (size_t)(w * w) * s->size);
    for (dkm_idx il = s->r0, count; il < s->r1; il += count) {
        dkm_idx i = dkm_dmat_global_row(L, il) - s->at;
        count = least(L->mb, s->r1 - il);
        for (dkm_idx jl = s->c0; jl < s->c1; jl++) {
            dkm_idx j = dkm_dmat_global_col(L, jl) - s->at, above = j > i ? least(j - i, count) : 0;
            memcpy(shift(s, triangle(s), i + above + j * w), in_factor(s, il + above, jl),
                   (size_t)(count - above) * s->size);
        }
    }
}

/* to <- to + sign from, for some rows. Sums are made of sums, as long ones round more. */
static void add(const solve *s, dkm_idx rows, int sign, const void *from, void *to)
{
    for (dkm_idx k = 0; k < rows * DKM_LANES; k++) {
        if (s->L->precision == DKM_F64)
            ((double *)to)[k] += sign * ((const double *)from)[k];
        else
            ((float *)to)[k] += (float)sign * ((const float *)from)[k];
    }
}

/* mine += L X for the rows below the strip. */
static void add_rows_below(solve *s)
{
    const dkm_dmat *L = s->L;
    dkm_idx rows = L->m_loc - s->r1;
    dkm_narrow t = {L->precision, rows, s->c1 - s->c0, L->ld, in_factor(s, s->r1, s->c0)};

    memset(s->gain, 0, (size_t)(rows * DKM_LANES) * s->size);
    dkm_narrow_rows(&t, DKM_LANES, s->part, s->gain);
    add(s, rows, 1, s->gain, row_of(s, s->mine, s->r1));
}

/* part += L'X from the rows below the strip. */
static void add_columns_below(solve *s)
{
    const dkm_dmat *L = s->L;
    dkm_idx cols = s->c1 - s->c0;

    for (dkm_idx il = s->r1; il < L->m_loc; il += ROWS) {
        dkm_narrow t = {L->precision, least(ROWS, L->m_loc - il), cols, L->ld,
                        in_factor(s, il, s->c0)};
        memset(s->gain, 0, (size_t)(cols * DKM_LANES) * s->size);
        dkm_narrow_cols(&t, DKM_LANES, row_of(s, s->mine, il), s->gain);
        add(s, cols, 1, s->gain, s->part);
    }
}

static void forward(solve *s)
{
    const dkm_dmat *L = s->L;
    size_t bytes = DKM_LANES * s->size;
    dkm_idx w = s->width;

    load_triangle(s);
    memset(s->sums, 0, (size_t)w * bytes);
    for (dkm_idx il = s->r0; il < s->r1; il++)
        memcpy(row_of(s, s->sums, dkm_dmat_global_row(L, il) - s->at), row_of(s, s->mine, il),
               bytes);
    MPI_Allreduce(MPI_IN_PLACE, triangle(s), (int)(w * (w + DKM_LANES)), s->type, MPI_SUM,
                  dkm_ctx_comm(s->ctx));
    add(s, w, -1, s->sums, row_of(s, s->x, s->at));
    dkm_blas_lower_solve_right(L->precision, 'T', DKM_LANES, w, triangle(s), w,
                               row_of(s, s->x, s->at), DKM_LANES);
    for (dkm_idx jl = s->c0; jl < s->c1; jl++)
        memcpy(row_of(s, s->part, jl - s->c0), row_of(s, s->x, dkm_dmat_global_col(L, jl)), bytes);
    add_rows_below(s);
}

/* From here on `mine` holds X in this rank's rows, as far as it is known. */
static void backward(solve *s)
{
    const dkm_dmat *L = s->L;
    size_t bytes = DKM_LANES * s->size;
    dkm_idx w = s->width;

    memset(s->part, 0, (size_t)(s->c1 - s->c0) * bytes);
    memset(s->sums, 0, (size_t)w * bytes);
    add_columns_below(s);
    for (dkm_idx jl = s->c0; jl < s->c1; jl++)
        memcpy(row_of(s, s->sums, dkm_dmat_global_col(L, jl) - s->at),
               row_of(s, s->part, jl - s->c0), bytes);
    MPI_Allreduce(MPI_IN_PLACE, s->sums, (int)(w * DKM_LANES), s->type, MPI_SUM,
                  dkm_ctx_comm(s->ctx));
    add(s, w, -1, s->sums, row_of(s, s->x, s->at));
    dkm_blas_lower_solve_right(L->precision, 'N', DKM_LANES, w, triangle(s), w,
                               row_of(s, s->x, s->at), DKM_LANES);
    for (dkm_idx il = s->r0; il < s->r1; il++)
        memcpy(row_of(s, s->mine, il), row_of(s, s->x, dkm_dmat_global_row(L, il)), bytes);
}

dkm_status dkm_la_narrow_solve(const dkm_dmat *L, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    solve s = {0};
    dkm_idx last;

    assert(L->m == L->n && L->mb == L->nb && p <= DKM_LANES);
    DKM_AGREE(dkm_grid_ctx(L->grid), open_solve(&s, L));
    last = L->n > 0 ? (L->n - 1) / s.strip * s.strip : -1;
    gather(&s, p, rows);
    for (dkm_idx at = 0; at <= last; at += s.strip) {
        enter_strip(&s, at);
        forward(&s);
    }
    for (dkm_idx at = last; at >= 0; at -= s.strip) {
        enter_strip(&s, at);
        backward(&s);
    }
    hand_out(&s, p, rows);
out:
    close_solve(&s);
    return status;
}
