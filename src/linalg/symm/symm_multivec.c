/* Distributed symmetric product W = K V with a multivector, K stationary (SLATE: hemmA).
 *
 * Every tile T of one triangle, in rows I and columns J, is used twice where it is stored, W_I += T
 * V_J and W_J += T'V_I, so K never moves. This is the stationary-A variant of Schatz, van de Geijn
 * and Poulson 2016, SIAM J. Sci. Comput. 38(6):C748-C781, doi:10.1137/140993478. V and W are stored
 * transposed, p numbers per row of K, in the order of the rank's own rows and columns of K, so that
 * a tile uses consecutive parts of them.
 *
 * V's rows for the local rows and columns of K are allgathered within the grid row and the grid
 * column; W's are reduce-scattered within them (matrix/multivec_map.h).
 *
 * Cost per rank on R x C ranks: 2 m^2 p / (R C) flops, half of K read once. Sent: 2 m p (1/R + 1/C)
 * words within rows and columns and 4 m p / (R C) between slabs and grid, in 2 (R + C) messages and
 * those between slabs and grid. Held: 2 m p (1/R + 1/C) numbers in the precision of K and m p
 * max(1/R, 1/C) double ones. Nothing is replicated over all ranks; p is bounded by
 * dkm_symm_max_cols(). */
#include "linalg/symm/symm_multivec.h"
#include "core/minmax.h"

#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/parallel_products.h"
#include "matrix/dmat_impl.h"

#define COLUMN_BYTES (128 << 20) /* of V at a time, all of it */
#define TILE         1024        /* rows and columns of a tile of a matrix that is held */
#define CACHE_ROWS   256         /* of a part of it that stays in cache for its second use */
#define CACHE_COLS   128

static size_t symm_element_size(const dkm_symm *s)
{
    return s->shape->precision == DKM_F64 ? sizeof(double) : sizeof(float);
}

/* Address of what a buffer holds for local row or column k. */
static void *symm_numbers_of(const dkm_symm *s, void *buffer, dkm_idx k)
{
    return (char *)buffer + (size_t)(k * s->width) * symm_element_size(s);
}

dkm_idx dkm_symm_max_cols(dkm_idx m)
{
    dkm_idx most = COLUMN_BYTES / ((m > 0 ? m : 1) * (dkm_idx)sizeof(double));

    return most > 0 ? most : 1;
}

/* A few columns, but not one, which gemv does well. */
static int symm_is_skinny(const dkm_symm *s)
{
    return s->p > 1 && s->p <= DKM_NRHS_MAX;
}

static int symm_threads(const dkm_symm *s)
{
    return dkm_ctx_threads(dkm_grid_ctx(s->shape->grid));
}

static dkm_local symm_alloc(dkm_symm *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_dmat *K = s->shape;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    dkm_idx p = s->width;
    size_t size = symm_element_size(s);

    DKM_STEP(dkm_multivec_map_init(&s->rows, K, 'R', s->p));
    DKM_STEP(dkm_multivec_map_init(&s->cols, K, 'C', s->p));
    DKM_STEP(dkm_alloc(ctx, dkm_idx_max(K->m_loc, K->n_loc) * s->p, &s->local));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->m_loc * p, size, &s->V_rows));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->n_loc * p, size, &s->V_cols));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->m_loc * p, size, &s->W_rows));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, K->n_loc * p, size, &s->W_cols));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, K->nb * K->nb, size, &s->corner));
out:
    return local;
}

void dkm_symm_free(dkm_symm *s)
{
    DKM_FREE(s->corner);
    DKM_FREE(s->W_cols);
    DKM_FREE(s->W_rows);
    DKM_FREE(s->V_cols);
    DKM_FREE(s->V_rows);
    DKM_FREE(s->local);
    dkm_multivec_map_free(&s->cols);
    dkm_multivec_map_free(&s->rows);
}

/* V of the local rows or columns, in the precision of K and with the padding of the kernels. */
static void symm_load_rhs(dkm_symm *s, dkm_multivec_map *map, const double *rows, dkm_idx ld,
                          void *V)
{
    dkm_multivec_map_to_homes(map, rows, ld, dkm_multivec_map_home(map, s->local));
    dkm_multivec_map_allgather(map, s->local);
    for (dkm_idx k = 0; k < map->local; k++) {
        const double *from = s->local + k * s->p;
        void *to = symm_numbers_of(s, V, k);
        for (dkm_idx j = 0; j < s->p; j++) {
            if (s->shape->precision == DKM_F64)
                ((double *)to)[j] = from[j];
            else
                ((float *)to)[j] = (float)from[j];
        }
    }
}

/* The sums of the local rows or columns, added up over the line, into (or added to) the slabs. */
static void symm_store_result(dkm_symm *s, dkm_multivec_map *map, void *W, int add, double *rows,
                              dkm_idx ld)
{
    for (dkm_idx k = 0; k < map->local; k++) {
        const void *from = symm_numbers_of(s, W, k);
        double *to = s->local + k * s->p;
        for (dkm_idx j = 0; j < s->p; j++)
            to[j] = s->shape->precision == DKM_F64 ? ((const double *)from)[j]
                                                   : (double)((const float *)from)[j];
    }
    dkm_multivec_map_reduce_scatter(map, s->local);
    dkm_multivec_map_from_homes(map, dkm_multivec_map_home(map, s->local), add, rows, ld);
}

dkm_status dkm_symm_begin(dkm_symm *s, const dkm_dmat *shape, dkm_idx p, const double *rows,
                          dkm_idx ld)
{
    dkm_status status = DKM_OK;

    *s = (dkm_symm){.shape = shape, .p = p, .width = p};
    if (symm_is_skinny(s))
        s->width = dkm_ts_nrhs_pad(p);
    DKM_AGREE(dkm_grid_ctx(shape->grid), symm_alloc(s));
    symm_load_rhs(s, &s->rows, rows, ld, s->V_rows);
    symm_load_rhs(s, &s->cols, rows, ld, s->V_cols);
out:
    return status;
}

void dkm_symm_finish(dkm_symm *s, double *rows, dkm_idx ld)
{
    symm_store_result(s, &s->rows, s->W_rows, 0, rows, ld);
    symm_store_result(s, &s->cols, s->W_cols, 1, rows, ld);
}

/* W_I += T V_J, and W_J += T'V_I, for the tile T from local place (il, jl) on, on some threads; the
 * BLAS library has its own. */
static void symm_tile_n(dkm_symm *s, int threads, dkm_idx il, dkm_idx jl, const dkm_ts_tile *t)
{
    const void *V = symm_numbers_of(s, s->V_cols, jl);
    void *W = symm_numbers_of(s, s->W_rows, il);

    if (symm_is_skinny(s))
        dkm_ts_gemm_n_parallel(threads, t, s->width, V, W);
    else
        dkm_blas_gemm(t->precision, 'N', 'T', s->p, t->na, t->nb, 1.0, V, s->p, t->T, t->ld, 1.0, W,
                      s->p);
}

static void symm_tile_t(dkm_symm *s, int threads, dkm_idx il, dkm_idx jl, const dkm_ts_tile *t)
{
    const void *V = symm_numbers_of(s, s->V_rows, il);
    void *W = symm_numbers_of(s, s->W_cols, jl);

    if (symm_is_skinny(s))
        dkm_ts_gemm_t_parallel(threads, t, s->width, V, W);
    else
        dkm_blas_gemm(t->precision, 'N', 'N', s->p, t->nb, t->na, 1.0, V, s->p, t->T, t->ld, 1.0, W,
                      s->p);
}

static void symm_clear_diagonal(const dkm_symm *s, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb,
                                void *T, dkm_idx ld)
{
    const dkm_dmat *K = s->shape;
    int P = dkm_grid_rows(K->grid);

    for (dkm_idx j = 0; j < nb; j++) {
        dkm_idx jg = dkm_dmat_global_col(K, jl + j), i = dkm_cyclic_local(jg, K->mb, P) - il;
        if (dkm_cyclic_owner(jg, K->mb, P) == dkm_grid_row(K->grid) && i >= 0 && i < na)
            memset((char *)T + (size_t)(i + j * ld) * symm_element_size(s), 0,
                   symm_element_size(s));
    }
}

void dkm_symm_accumulate_tile(dkm_symm *s, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb,
                              void *tile, dkm_idx ld)
{
    dkm_ts_tile t = {s->shape->precision, na, nb, ld, tile};

    symm_tile_n(s, symm_threads(s), il, jl, &t);
    symm_clear_diagonal(s, il, jl, na, nb, tile, ld);
    symm_tile_t(s, symm_threads(s), il, jl, &t);
}

static const void *symm_scatter_result(const dkm_dmat *K, dkm_idx il, dkm_idx jl)
{
    dkm_idx k = il + jl * K->ld;

    return K->precision == DKM_F64 ? (const void *)(K->a.f64 + k) : (const void *)(K->a.f32 + k);
}

/* Part of K on one side of the diagonal, in blocks of tall x wide. */
typedef struct symm_rectangle {
    dkm_symm *s;
    const dkm_dmat *K;
    dkm_idx il, jl, na, nb, tall, wide;
} symm_rectangle;

static void symm_add_block(void *user, dkm_idx i, dkm_idx j)
{
    const symm_rectangle *r = user;
    dkm_idx row = i * r->tall, col = j * r->wide, il = r->il + row, jl = r->jl + col;
    dkm_ts_tile t = {r->K->precision, dkm_idx_min(r->tall, r->na - row),
                     dkm_idx_min(r->wide, r->nb - col), r->K->ld,
                     symm_scatter_result(r->K, il, jl)};

    symm_tile_t(r->s, 1, il, jl, &t);
    symm_tile_n(r->s, 1, il, jl, &t);
}

/* Local rows [from, to) of local columns [jl, jl + nb): all on one side of the diagonal. */
static void symm_add_rectangle(dkm_symm *s, const dkm_dmat *K, dkm_idx from, dkm_idx to, dkm_idx jl,
                               dkm_idx nb)
{
    int skinny = symm_is_skinny(s);
    symm_rectangle r = {
        s, K, from, jl, to - from, nb, skinny ? CACHE_ROWS : TILE, skinny ? CACHE_COLS : TILE};

    if (to > from)
        dkm_wavefront(skinny ? symm_threads(s) : 1, (r.na + r.tall - 1) / r.tall,
                      (nb + r.wide - 1) / r.wide, symm_add_block, &r);
}

/* The block on the diagonal in local columns from jl on, n x n at local row il. */
static void symm_add_diagonal_tile(dkm_symm *s, char uplo, const dkm_dmat *K, dkm_idx il,
                                   dkm_idx jl, dkm_idx n)
{
    size_t size = symm_element_size(s);

    memset(s->corner, 0, (size_t)(n * n) * size);
    for (dkm_idx j = 0; j < n; j++) {
        dkm_idx from = uplo == 'L' ? j : 0, to = uplo == 'L' ? n : j + 1;
        memcpy((char *)s->corner + (size_t)(from + j * n) * size,
               symm_scatter_result(K, il + from, jl + j), (size_t)(to - from) * size);
    }
    dkm_symm_accumulate_tile(s, il, jl, n, n, s->corner, n);
}

/* Local blocks of columns [b, end), from the diagonal to local row @p edge: what lies beyond the
 * diagonal blocks of all of them is a rectangle, the rest is two halves of the same kind. */
static void symm_add_columns(dkm_symm *s, char uplo, const dkm_dmat *K, dkm_idx b, dkm_idx end,
                             dkm_idx edge)
{
    int p = dkm_grid_row(K->grid), P = dkm_grid_rows(K->grid);
    dkm_idx jl = b * K->nb, n = dkm_idx_min(end * K->nb, K->n_loc) - jl;
    dkm_idx first = dkm_dmat_global_col(K, jl), last = dkm_dmat_global_col(K, jl + n - 1);
    dkm_idx above = dkm_cyclic_count(first, K->mb, p, P);
    dkm_idx below = dkm_cyclic_count(last + 1, K->mb, p, P);

    if (uplo == 'L')
        symm_add_rectangle(s, K, below, edge, jl, n);
    else
        symm_add_rectangle(s, K, edge, above, jl, n);
    if (end - b > 1) {
        dkm_idx middle = b + (end - b) / 2;
        symm_add_columns(s, uplo, K, b, middle, uplo == 'L' ? below : above);
        symm_add_columns(s, uplo, K, middle, end, uplo == 'L' ? below : above);
    } else if (below > above) {
        symm_add_diagonal_tile(s, uplo, K, above, jl, n);
    }
}

void dkm_symm_accumulate(dkm_symm *s, char uplo, const dkm_dmat *K)
{
    dkm_idx blocks = (K->n_loc + K->nb - 1) / K->nb, each = K->nb < TILE ? TILE / K->nb : 1;

    for (dkm_idx b = 0; b < blocks; b += each)
        symm_add_columns(s, uplo, K, b, dkm_idx_min(b + each, blocks), uplo == 'L' ? K->m_loc : 0);
}

dkm_status dkm_symm_apply(char uplo, const dkm_dmat *K, const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_idx p = V->cols, each = dkm_symm_max_cols(K->m);
    dkm_symm s = {0};

    W->cols = p;
    for (dkm_idx c = 0; c < p; c += each) {
        DKM_TRY(dkm_symm_begin(&s, K, dkm_idx_min(each, p - c), V->a + c, V->ld));
        dkm_symm_accumulate(&s, uplo, K);
        dkm_symm_finish(&s, W->a + c, W->ld);
        dkm_symm_free(&s);
    }
out:
    dkm_symm_free(&s);
    return status;
}

dkm_status dkm_symm_multivec(char uplo, const dkm_dmat *K, dkm_idx p, double *rows)
{
    dkm_multivec V = dkm_multivec_view(dkm_grid_ctx(K->grid), K->m, p, rows);

    return dkm_symm_apply(uplo, K, &V, &V);
}
