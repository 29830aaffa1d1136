/* V is at hand on every rank, a bounded number of columns at a time, in the order of the rank's own
 * rows and columns of K, so that a tile meets consecutive parts of it. V and W are kept transposed,
 * p numbers an object. */
#include "scalapack/sweep.h"

#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "dmat/dmat_impl.h"
#include "scalapack/blas.h"
#include "scalapack/narrow.h"

#define COLUMN_BYTES (128 << 20) /* of V at a time, on every rank */
#define TILE         1024        /* rows and columns of a tile of a matrix that is held */
#define NEAR_ROWS    256         /* of a part of it that stays in cache for its second use */
#define NEAR_COLS    128

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static size_t number_size(const dkm_sweep *s)
{
    return s->shape->precision == DKM_F64 ? sizeof(double) : sizeof(float);
}

/* Address of what a buffer holds for local row or column k. */
static void *numbers_of(const dkm_sweep *s, void *buffer, dkm_idx k)
{
    return (char *)buffer + (size_t)(k * s->width) * number_size(s);
}

dkm_idx dkm_sweep_most(dkm_idx m)
{
    dkm_idx most = COLUMN_BYTES / ((m > 0 ? m : 1) * (dkm_idx)sizeof(double));

    return most > 0 ? most : 1;
}

/* A few columns, but not one, which gemv does well. */
static int is_narrow(const dkm_sweep *s)
{
    return s->p > 1 && s->p <= DKM_LANES_MOST;
}

static dkm_local make_room(dkm_sweep *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *K = s->shape;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    dkm_idx p = s->width;
    size_t size = number_size(s);

    DKM_STEP(dkm_alloc(ctx, K->m * s->p, &s->all));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->m_loc * p, size, &s->V_rows));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->n_loc * p, size, &s->V_cols));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->m_loc * p, size, &s->W_rows));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->n_loc * p, size, &s->W_cols));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, K->nb * K->nb, size, &s->corner));
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_size(ctx), &s->counts));
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_size(ctx), &s->starts));
out:
    return local;
}

void dkm_sweep_close(dkm_sweep *s)
{
    DKM_FREE(s->starts);
    DKM_FREE(s->counts);
    DKM_FREE(s->corner);
    DKM_FREE(s->W_cols);
    DKM_FREE(s->W_rows);
    DKM_FREE(s->V_cols);
    DKM_FREE(s->V_rows);
    DKM_FREE(s->all);
}

/* p numbers from double to the precision of the buffers, and added the other way. */
static void load(const dkm_sweep *s, const double *from, void *buffer, dkm_idx k)
{
    void *to = numbers_of(s, buffer, k);

    for (dkm_idx j = 0; j < s->p; j++) {
        if (s->shape->precision == DKM_F64)
            ((double *)to)[j] = from[j];
        else
            ((float *)to)[j] = (float)from[j];
    }
}

static void add(const dkm_sweep *s, void *buffer, dkm_idx k, double *to)
{
    const void *from = numbers_of(s, buffer, k);

    for (dkm_idx j = 0; j < s->p; j++)
        to[j] += s->shape->precision == DKM_F64 ? ((const double *)from)[j]
                                                : (double)((const float *)from)[j];
}

static dkm_status spread(dkm_sweep *s, const double *rows, dkm_idx ld)
{
    dkm_status status = DKM_OK;
    const dkm_dmat *K = s->shape;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx);
    dkm_idx p = s->p;

    for (int r = 0; r < size; r++) {
        s->counts[r] = dkm_slab_count(K->m, r, size) * p;
        s->starts[r] = dkm_slab_first(K->m, r, size) * p;
    }
    for (dkm_idx i = 0; i < s->counts[rank] / p; i++)
        memcpy(s->all + s->starts[rank] + i * p, rows + i * ld, (size_t)p * sizeof *rows);
    DKM_TRY(dkm_mpi_allgatherv(ctx, NULL, s->all, s->counts, s->starts, MPI_DOUBLE));
    for (dkm_idx il = 0; il < K->m_loc; il++)
        load(s, s->all + dkm_dmat_global_row(K, il) * p, s->V_rows, il);
    for (dkm_idx jl = 0; jl < K->n_loc; jl++)
        load(s, s->all + dkm_dmat_global_col(K, jl) * p, s->V_cols, jl);
out:
    return status;
}

dkm_status dkm_sweep_open(dkm_sweep *s, const dkm_dmat *shape, dkm_idx p, const double *rows,
                          dkm_idx ld)
{
    dkm_status status = DKM_OK;

    *s = (dkm_sweep){.shape = shape, .p = p, .width = p};
    if (is_narrow(s))
        s->width = dkm_narrow_lanes(p);
    DKM_AGREE(dkm_grid_ctx(shape->grid), make_room(s));
    DKM_TRY(spread(s, rows, ld));
out:
    return status;
}

void dkm_sweep_take(dkm_sweep *s, double *rows, dkm_idx ld)
{
    const dkm_dmat *K = s->shape;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    int rank = dkm_ctx_rank(ctx);
    dkm_idx p = s->p;

    memset(s->all, 0, (size_t)(K->m * p) * sizeof *s->all);
    for (dkm_idx il = 0; il < K->m_loc; il++)
        add(s, s->W_rows, il, s->all + dkm_dmat_global_row(K, il) * p);
    for (dkm_idx jl = 0; jl < K->n_loc; jl++)
        add(s, s->W_cols, jl, s->all + dkm_dmat_global_col(K, jl) * p);
    dkm_mpi_allreduce(s->all, K->m * p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < s->counts[rank] / p; i++)
        memcpy(rows + i * ld, s->all + s->starts[rank] + i * p, (size_t)p * sizeof *rows);
}

/* W_I += T V_J, and W_J += T'V_I, for the tile T from local place (il, jl) on. */
static void add_rows(dkm_sweep *s, dkm_idx il, dkm_idx jl, const dkm_narrow *t)
{
    const void *V = numbers_of(s, s->V_cols, jl);
    void *W = numbers_of(s, s->W_rows, il);

    if (is_narrow(s))
        dkm_narrow_rows(t, s->width, V, W);
    else
        dkm_blas_gemm(t->precision, 'N', 'T', s->p, t->na, t->nb, 1.0, V, s->p, t->T, t->ld, 1.0, W,
                      s->p);
}

static void add_cols(dkm_sweep *s, dkm_idx il, dkm_idx jl, const dkm_narrow *t)
{
    const void *V = numbers_of(s, s->V_rows, il);
    void *W = numbers_of(s, s->W_cols, jl);

    if (is_narrow(s))
        dkm_narrow_cols(t, s->width, V, W);
    else
        dkm_blas_gemm(t->precision, 'N', 'N', s->p, t->nb, t->na, 1.0, V, s->p, t->T, t->ld, 1.0, W,
                      s->p);
}

static void clear_diagonal(const dkm_sweep *s, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb,
                           void *T, dkm_idx ld)
{
    const dkm_dmat *K = s->shape;
    int P = dkm_grid_rows(K->grid);

    for (dkm_idx j = 0; j < nb; j++) {
        dkm_idx jg = dkm_dmat_global_col(K, jl + j), i = dkm_cyclic_local(jg, K->mb, P) - il;
        if (dkm_cyclic_owner(jg, K->mb, P) == dkm_grid_row(K->grid) && i >= 0 && i < na)
            memset((char *)T + (size_t)(i + j * ld) * number_size(s), 0, number_size(s));
    }
}

void dkm_sweep_tile(dkm_sweep *s, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb, void *tile,
                    dkm_idx ld)
{
    dkm_narrow t = {s->shape->precision, na, nb, ld, tile};

    add_rows(s, il, jl, &t);
    clear_diagonal(s, il, jl, na, nb, tile, ld);
    add_cols(s, il, jl, &t);
}

static const void *place(const dkm_dmat *K, dkm_idx il, dkm_idx jl)
{
    dkm_idx k = il + jl * K->ld;

    return K->precision == DKM_F64 ? (const void *)(K->a.f64 + k) : (const void *)(K->a.f32 + k);
}

/* Local rows [from, to) of local columns [jl, jl + nb): all on one side of the diagonal. */
static void add_rectangle(dkm_sweep *s, const dkm_dmat *K, dkm_idx from, dkm_idx to, dkm_idx jl,
                          dkm_idx nb)
{
    dkm_idx tall = is_narrow(s) ? NEAR_ROWS : TILE, wide = is_narrow(s) ? NEAR_COLS : TILE;

    for (dkm_idx j = jl; j < jl + nb; j += wide)
        for (dkm_idx il = from; il < to; il += tall) {
            dkm_narrow t = {K->precision, least(tall, to - il), least(wide, jl + nb - j), K->ld,
                            place(K, il, j)};
            add_cols(s, il, j, &t);
            add_rows(s, il, j, &t);
        }
}

/* The block on the diagonal in local columns from jl on, n x n at local row il. */
static void add_corner(dkm_sweep *s, char uplo, const dkm_dmat *K, dkm_idx il, dkm_idx jl,
                       dkm_idx n)
{
    size_t size = number_size(s);

    memset(s->corner, 0, (size_t)(n * n) * size);
    for (dkm_idx j = 0; j < n; j++) {
        dkm_idx from = uplo == 'L' ? j : 0, to = uplo == 'L' ? n : j + 1;
        memcpy((char *)s->corner + (size_t)(from + j * n) * size, place(K, il + from, jl + j),
               (size_t)(to - from) * size);
    }
    dkm_sweep_tile(s, il, jl, n, n, s->corner, n);
}

/* Local blocks of columns [b, end), from the diagonal to local row @p edge: what lies beyond the
 * diagonal blocks of all of them is a rectangle, the rest is two halves of the same kind. */
static void add_columns(dkm_sweep *s, char uplo, const dkm_dmat *K, dkm_idx b, dkm_idx end,
                        dkm_idx edge)
{
    int p = dkm_grid_row(K->grid), P = dkm_grid_rows(K->grid);
    dkm_idx jl = b * K->nb, n = least(end * K->nb, K->n_loc) - jl;
    dkm_idx first = dkm_dmat_global_col(K, jl), last = dkm_dmat_global_col(K, jl + n - 1);
    dkm_idx above = dkm_cyclic_count(first, K->mb, p, P);
    dkm_idx below = dkm_cyclic_count(last + 1, K->mb, p, P);

    if (uplo == 'L')
        add_rectangle(s, K, below, edge, jl, n);
    else
        add_rectangle(s, K, edge, above, jl, n);
    if (end - b > 1) {
        dkm_idx middle = b + (end - b) / 2;
        add_columns(s, uplo, K, b, middle, uplo == 'L' ? below : above);
        add_columns(s, uplo, K, middle, end, uplo == 'L' ? below : above);
    } else if (below > above) {
        add_corner(s, uplo, K, above, jl, n);
    }
}

void dkm_sweep_matrix(dkm_sweep *s, char uplo, const dkm_dmat *K)
{
    dkm_idx blocks = (K->n_loc + K->nb - 1) / K->nb, each = K->nb < TILE ? TILE / K->nb : 1;

    for (dkm_idx b = 0; b < blocks; b += each)
        add_columns(s, uplo, K, b, least(b + each, blocks), uplo == 'L' ? K->m_loc : 0);
}

dkm_status dkm_sweep_rows(char uplo, const dkm_dmat *K, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_idx each = dkm_sweep_most(K->m);
    dkm_sweep s = {0};

    for (dkm_idx c = 0; c < p; c += each) {
        DKM_TRY(dkm_sweep_open(&s, K, least(each, p - c), rows + c, p));
        dkm_sweep_matrix(&s, uplo, K);
        dkm_sweep_take(&s, rows + c, p);
        dkm_sweep_close(&s);
    }
out:
    dkm_sweep_close(&s);
    return status;
}
