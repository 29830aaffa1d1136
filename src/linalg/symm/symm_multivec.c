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
#define CACHE_ROWS   256         /* of a block of K that stays in cache for its second use */
#define CACHE_COLS   128
#define STRIP        8    /* blocks from left to right whose parts of V and W stay in cache */
#define STRIP_MORE   16   /* per thread that follows another from left to right */
#define CORNER       64   /* most rows and columns of a tile on the diagonal */
#define ROWS_AT_ONCE 1024 /* of V or W that a thread copies at a time */

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

/* Whether V and W hold what moves between ranks as it is: double numbers without padding. */
static int symm_is_direct(const dkm_symm *s)
{
    return s->shape->precision == DKM_F64 && s->width == s->p;
}

/* The numbers of V or W that move: these, or copies. */
static double *symm_moving(const dkm_symm *s, void *buffer)
{
    return symm_is_direct(s) ? buffer : s->local;
}

static dkm_local symm_alloc(dkm_symm *s, const dkm_dmat *K)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    dkm_idx p = s->width;
    size_t size = K->precision == DKM_F64 ? sizeof(double) : sizeof(float);

    DKM_STEP(dkm_multivec_map_init(&s->rows, K, 'R', s->p));
    DKM_STEP(dkm_multivec_map_init(&s->cols, K, 'C', s->p));
    if (!symm_is_direct(s))
        DKM_STEP(dkm_alloc(ctx, dkm_idx_max(K->m_loc, K->n_loc) * s->p, &s->local));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, K->m_loc * p, size, &s->V_rows));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, K->n_loc * p, size, &s->V_cols));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, K->m_loc * p, size, &s->W_rows));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, K->n_loc * p, size, &s->W_cols));
out:
    return local;
}

void dkm_symm_free(dkm_symm *s)
{
    DKM_FREE(s->W_cols);
    DKM_FREE(s->W_rows);
    DKM_FREE(s->V_cols);
    DKM_FREE(s->V_rows);
    DKM_FREE(s->local);
    dkm_multivec_map_free(&s->cols);
    dkm_multivec_map_free(&s->rows);
    s->shape = NULL;
}

/* Local rows or columns on their way between double numbers without gaps and V or W, which have the
 * precision of K and the padding of the kernels. */
typedef struct symm_copy {
    const dkm_symm *s;
    dkm_idx count;
    void *V, *W;
} symm_copy;

/* V, and zeros in W. */
static void symm_pad_rows(void *user, dkm_idx part, int thread)
{
    const symm_copy *c = user;
    const dkm_symm *s = c->s;
    dkm_idx first = part * ROWS_AT_ONCE, end = dkm_idx_min(first + ROWS_AT_ONCE, c->count);

    (void)thread;
    if (end > first) {
        size_t bytes = (size_t)((end - first) * s->width) * symm_element_size(s);
        memset(symm_numbers_of(s, c->W, first), 0, bytes);
        if (symm_is_direct(s))
            return;
        memset(symm_numbers_of(s, c->V, first), 0, bytes);
    }
    for (dkm_idx k = first; k < end; k++) {
        const double *from = s->local + k * s->p;
        void *to = symm_numbers_of(s, c->V, k);
        for (dkm_idx j = 0; j < s->p; j++) {
            if (s->shape->precision == DKM_F64)
                ((double *)to)[j] = from[j];
            else
                ((float *)to)[j] = (float)from[j];
        }
    }
}

static void symm_unpad_rows(void *user, dkm_idx part, int thread)
{
    const symm_copy *c = user;
    const dkm_symm *s = c->s;
    dkm_idx first = part * ROWS_AT_ONCE, end = dkm_idx_min(first + ROWS_AT_ONCE, c->count);

    (void)thread;
    for (dkm_idx k = first; k < end; k++) {
        const void *from = symm_numbers_of(s, c->W, k);
        double *to = s->local + k * s->p;
        for (dkm_idx j = 0; j < s->p; j++)
            to[j] = s->shape->precision == DKM_F64 ? ((const double *)from)[j]
                                                   : (double)((const float *)from)[j];
    }
}

static void symm_copy_rows(const dkm_symm *s, dkm_idx count, void *V, void *W,
                           dkm_parallel_body *body)
{
    symm_copy c = {s, count, V, W};

    dkm_parallel_for(symm_threads(s), (count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, body, &c);
}

/* V of the local rows or columns, and W = 0. */
static void symm_load_rhs(dkm_symm *s, dkm_multivec_map *map, const double *rows, dkm_idx ld,
                          void *V, void *W)
{
    double *local = symm_moving(s, V);

    dkm_multivec_map_to_homes(map, rows, ld, dkm_multivec_map_home(map, local));
    dkm_multivec_map_allgather(map, local);
    symm_copy_rows(s, map->local, V, W, symm_pad_rows);
}

/* The sums of the local rows or columns, added up over the line, into (or added to) the slabs. */
static void symm_store_result(dkm_symm *s, dkm_multivec_map *map, void *W, int add, double *rows,
                              dkm_idx ld)
{
    double *local = symm_moving(s, W);

    if (!symm_is_direct(s))
        symm_copy_rows(s, map->local, NULL, W, symm_unpad_rows);
    dkm_multivec_map_reduce_scatter(map, local);
    dkm_multivec_map_from_homes(map, dkm_multivec_map_home(map, local), add, rows, ld);
}

dkm_status dkm_symm_begin(dkm_symm *s, const dkm_dmat *shape, dkm_idx p, const double *rows,
                          dkm_idx ld)
{
    dkm_status status = DKM_OK;

    if (s->shape != shape || s->p != p) {
        dkm_symm_free(s);
        *s = (dkm_symm){.p = p, .width = p};
        s->width = symm_is_skinny(s) ? dkm_ts_nrhs_pad(p) : p;
        s->shape = shape;
        DKM_AGREE(dkm_grid_ctx(shape->grid), symm_alloc(s, shape));
    }
    symm_load_rhs(s, &s->rows, rows, ld, s->V_rows, s->W_rows);
    symm_load_rhs(s, &s->cols, rows, ld, s->V_cols, s->W_cols);
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

/* What a product over a matrix that is held takes from it: the triangle @p uplo of local columns
 * [col, col + nb) and local rows [row, row + na), in blocks of tall x wide. */
typedef struct symm_strip {
    dkm_symm *s;
    const dkm_dmat *K;
    char uplo;
    dkm_idx row, col, na, nb, tall, wide;
} symm_strip;

/* Local rows [r0, r1) and columns [c0, c1) of K. */
typedef struct symm_box {
    dkm_idx r0, r1, c0, c1;
} symm_box;

static const void *symm_element(const dkm_dmat *K, dkm_idx il, dkm_idx jl)
{
    dkm_idx k = il + jl * K->ld;

    return K->precision == DKM_F64 ? (const void *)(K->a.f64 + k) : (const void *)(K->a.f32 + k);
}

/* All of a box, which is on one side of the diagonal. */
static void symm_add_box(const symm_strip *t, const symm_box *b)
{
    dkm_ts_tile tile = {t->K->precision, b->r1 - b->r0, b->c1 - b->c0, t->K->ld,
                        symm_element(t->K, b->r0, b->c0)};

    symm_tile_t(t->s, 1, b->r0, b->c0, &tile);
    symm_tile_n(t->s, 1, b->r0, b->c0, &tile);
}

/* A box within a block of columns, at most CORNER of them, whose rows are on the diagonal of these
 * columns: the other triangle is replaced by zeros. */
static void symm_add_corner(const symm_strip *t, const symm_box *b)
{
    _Alignas(64) double corner[CORNER * CORNER];
    const dkm_dmat *K = t->K;
    size_t size = symm_element_size(t->s);
    int p = dkm_grid_row(K->grid), P = dkm_grid_rows(K->grid);
    dkm_idx na = b->r1 - b->r0, nb = b->c1 - b->c0;
    dkm_ts_tile tile = {K->precision, na, nb, na, corner};

    memset(corner, 0, (size_t)(na * nb) * size);
    for (dkm_idx j = 0; j < nb; j++) {
        dkm_idx diagonal = dkm_cyclic_count(dkm_dmat_global_col(K, b->c0 + j), K->mb, p, P) - b->r0;
        dkm_idx from = t->uplo == 'L' ? dkm_idx_max(diagonal, 0) : 0;
        dkm_idx to = t->uplo == 'L' ? na : dkm_idx_min(diagonal + 1, na);
        if (to > from)
            memcpy((char *)corner + (size_t)(from + j * na) * size,
                   symm_element(K, b->r0 + from, b->c0 + j), (size_t)(to - from) * size);
    }
    symm_tile_n(t->s, 1, b->r0, b->c0, &tile);
    symm_clear_diagonal(t->s, b->r0, b->c0, na, nb, corner, na);
    symm_tile_t(t->s, 1, b->r0, b->c0, &tile);
}

/* A column between c0 and c1 that begins a block of K, or the middle of a part of one block. */
static dkm_idx symm_middle(const symm_box *b, dkm_idx nb)
{
    dkm_idx first = b->c0 / nb, last = (b->c1 - 1) / nb;

    return last > first ? (first + last + 1) / 2 * nb : b->c0 + (b->c1 - b->c0) / 2;
}

/* The triangle's part of a box: what lies beyond the diagonal of all its columns is a rectangle,
 * what is left of the rows is two halves of the same kind. */
static void symm_add_triangle(const symm_strip *t, symm_box b)
{
    const dkm_dmat *K = t->K;
    int p = dkm_grid_row(K->grid), P = dkm_grid_rows(K->grid), lower = t->uplo == 'L';
    dkm_idx first = dkm_dmat_global_col(K, b.c0), last = dkm_dmat_global_col(K, b.c1 - 1);
    dkm_idx above = dkm_cyclic_count(first, K->mb, p, P);
    dkm_idx below = dkm_cyclic_count(last + 1, K->mb, p, P);
    dkm_idx rest0 = dkm_idx_max(b.r0, above), rest1 = dkm_idx_min(b.r1, below);
    symm_box all = {lower ? dkm_idx_max(b.r0, below) : b.r0,
                    lower ? b.r1 : dkm_idx_min(b.r1, above), b.c0, b.c1};
    symm_box left = {rest0, rest1, b.c0, b.c1}, right = left;

    if (all.r1 > all.r0)
        symm_add_box(t, &all);
    if (rest1 <= rest0)
        return;
    if (b.c1 - b.c0 <= CORNER && b.c0 / K->nb == (b.c1 - 1) / K->nb) {
        symm_add_corner(t, &left);
        return;
    }
    left.c1 = right.c0 = symm_middle(&b, K->nb);
    symm_add_triangle(t, left);
    symm_add_triangle(t, right);
}

static void symm_add_block(void *user, dkm_idx i, dkm_idx j)
{
    const symm_strip *t = user;
    dkm_idx row = i * t->tall, col = j * t->wide;

    symm_add_triangle(t, (symm_box){t->row + row, t->row + dkm_idx_min(row + t->tall, t->na),
                                    t->col + col, t->col + dkm_idx_min(col + t->wide, t->nb)});
}

/* The rows of the strip that reach into the triangle. */
static void symm_bound_strip(symm_strip *t)
{
    const dkm_dmat *K = t->K;
    int p = dkm_grid_row(K->grid), P = dkm_grid_rows(K->grid);
    dkm_idx first = dkm_dmat_global_col(K, t->col);
    dkm_idx last = dkm_dmat_global_col(K, t->col + t->nb - 1);

    t->row = t->uplo == 'L' ? dkm_cyclic_count(first, K->mb, p, P) : 0;
    t->na = t->uplo == 'L' ? K->m_loc - t->row : dkm_cyclic_count(last + 1, K->mb, p, P);
}

/* Strips from left to right, in blocks on the threads of the rank; the BLAS library's own threads
 * would wait on the cores that these need. */
void dkm_symm_accumulate(dkm_symm *s, char uplo, const dkm_dmat *K)
{
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    int threads = symm_threads(s), before = dkm_blas_set_serial(ctx, 1);
    dkm_idx wide = CACHE_COLS * (threads > 1 ? STRIP_MORE * (dkm_idx)threads : STRIP);
    symm_strip t = {.s = s, .K = K, .uplo = uplo, .tall = CACHE_ROWS, .wide = CACHE_COLS};

    for (t.col = 0; t.col < K->n_loc; t.col += wide) {
        t.nb = dkm_idx_min(wide, K->n_loc - t.col);
        symm_bound_strip(&t);
        dkm_wavefront(threads, (t.na + t.tall - 1) / t.tall, (t.nb + t.wide - 1) / t.wide,
                      symm_add_block, &t);
    }
    dkm_blas_set_serial(ctx, before);
}

dkm_status dkm_symm_apply_again(dkm_symm *s, char uplo, const dkm_dmat *K, const dkm_multivec *V,
                                dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_idx p = V->cols, each = dkm_symm_max_cols(K->m);

    W->cols = p;
    for (dkm_idx c = 0; c < p; c += each) {
        DKM_TRY(dkm_symm_begin(s, K, dkm_idx_min(each, p - c), V->a + c, V->ld));
        dkm_symm_accumulate(s, uplo, K);
        dkm_symm_finish(s, W->a + c, W->ld);
    }
out:
    return status;
}

dkm_status dkm_symm_apply(char uplo, const dkm_dmat *K, const dkm_multivec *V, dkm_multivec *W)
{
    dkm_symm s = {0};
    dkm_status status = dkm_symm_apply_again(&s, uplo, K, V, W);

    dkm_symm_free(&s);
    return status;
}

dkm_status dkm_symm_multivec(char uplo, const dkm_dmat *K, dkm_idx p, double *rows)
{
    dkm_multivec V = dkm_multivec_view(dkm_grid_ctx(K->grid), K->m, p, rows);

    return dkm_symm_apply(uplo, K, &V, &V);
}
