/* Gram matrices, tile by tile into the local arrays of a distributed matrix.
 *
 * A panel of the objects of a rank's columns is kept while those of its rows stream by. How many
 * panels there are is reckoned from global sizes alone, so that all ranks join in every transfer;
 * a rank that needs nothing of a panel asks for nothing. */
#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "data/keeper.h"
#include "dmat/dmat_impl.h"
#include "kernel/gram.h"
#include "kernel/panel.h"
#include "kernel/prepare.h"
#include "scalapack/blas.h"

#define COLS_BYTES (32 << 20) /* a panel of columns may always take this much */
#define ROWS_BYTES (16 << 20)
#define ROWS_MOST  2048
#define ROWS_LEAST 16
#define WIDE       512 /* columns of a tile, about */
#define NARROW     128 /* of one that crosses the diagonal, above which all work is for nothing */

typedef struct assembly {
    dkm_ctx *ctx;
    const dkm_prepared *A, *B;
    dkm_dmat *K;
    int lower; /* only what is not above the diagonal */
    int p, P, Q;
    dkm_idx rows_each, cols_each; /* objects of a panel */
    dkm_idx wide, narrow;         /* columns of a tile */
    dkm_idx i0, c0;               /* local row and column of the first objects at hand */
    dkm_panel rows, own;
    dkm_panel *cols; /* `own`, or one that was filled before */
    dkm_idx *wanted, *first;
    void *scratch;
    dkm_visitor *visitor; /* sees each tile, which is then dropped; NULL: tiles stay in K */
    void *dropped;        /* room for a tile */
    dkm_local local;      /* of the tiles so far: agreed on at the end */
} assembly;

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static dkm_idx most(dkm_idx a, dkm_idx b)
{
    return a > b ? a : b;
}

static dkm_idx within(double wanted, dkm_idx floor, dkm_idx ceiling)
{
    return wanted < (double)floor     ? floor
           : wanted > (double)ceiling ? most(floor, ceiling)
                                      : (dkm_idx)wanted;
}

/* Local rows and columns of the process that has most. */
static dkm_idx rows_in_all(const assembly *s)
{
    return dkm_cyclic_count(dkm_dmat_rows(s->K), dkm_dmat_row_block(s->K), 0, s->P);
}

static dkm_idx cols_in_all(const assembly *s)
{
    return dkm_cyclic_count(dkm_dmat_cols(s->K), dkm_dmat_col_block(s->K), 0, s->Q);
}

/* Columns: twice a rank's share of the data, so that on few ranks all of them are one panel. */
static void plan(assembly *s)
{
    double size_a = s->A->bytes[DKM_ROWS] + 1, size_b = s->B->bytes[DKM_COLS] + 1;
    double share = 2.0 * size_b * (double)s->B->X->m / dkm_ctx_size(s->ctx);
    double room = share > COLS_BYTES ? share : COLS_BYTES;
    dkm_idx nb = dkm_dmat_col_block(s->K);

    s->cols_each = least(within(room / size_b, 1, INT64_MAX), most(cols_in_all(s), 1));
    s->rows_each = within(ROWS_BYTES / size_a, ROWS_LEAST, ROWS_MOST);
    s->rows_each = least(s->rows_each, most(rows_in_all(s), 1));
    s->narrow = least(nb * most(1, NARROW / nb), s->cols_each);
    s->wide = least(s->narrow * most(1, WIDE / s->narrow), s->cols_each);
}

static dkm_local open_assembly(assembly *s, const dkm_prepared *A, const dkm_prepared *B,
                               dkm_dmat *K, dkm_visitor *visitor, dkm_panel *kept)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_precision precision = dkm_dmat_precision(K);
    const dkm_grid *grid = dkm_dmat_grid(K);
    dkm_idx bytes = precision == DKM_F64 ? 8 : 4;

    *s = (assembly){.ctx = A->ctx, .A = A, .B = B, .K = K, .p = dkm_grid_row(grid)};
    s->visitor = visitor;
    s->cols = kept ? kept : &s->own;
    s->P = dkm_grid_rows(grid);
    s->Q = dkm_grid_cols(grid);
    plan(s);
    DKM_STEP(dkm_panel_open(&s->rows, A, A->kernel->node, DKM_ROWS, precision, s->rows_each));
    if (!kept)
        DKM_STEP(dkm_panel_open(&s->own, B, B->kernel->node, DKM_COLS, precision, s->cols_each));
    DKM_STEP(dkm_alloc(s->ctx, most(s->rows_each, s->cols_each), &s->wanted));
    DKM_STEP(dkm_alloc(s->ctx, s->wide, &s->first));
    DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__,
                          s->rows_each * s->wide * dkm_node_scratch(A->kernel->node), (size_t)bytes,
                          &s->scratch));
    if (visitor)
        DKM_STEP(dkm_alloc_at(s->ctx, __FILE__, __LINE__, s->rows_each * s->wide, (size_t)bytes,
                              &s->dropped));
    dkm_blas_use_threads(s->ctx);
out:
    return local;
}

static void close_assembly(assembly *s)
{
    DKM_FREE(s->dropped);
    dkm_panel_close(&s->rows);
    dkm_panel_close(&s->own);
    DKM_FREE(s->wanted);
    DKM_FREE(s->first);
    DKM_FREE(s->scratch);
}

/* The first local row that is not above local column jl. */
static dkm_idx first_row(const assembly *s, dkm_idx jl)
{
    if (!s->lower)
        return 0;
    return dkm_cyclic_count(dkm_dmat_global_col(s->K, jl), dkm_dmat_row_block(s->K), s->p, s->P);
}

static dkm_status fill_cols(assembly *s, dkm_idx c0)
{
    dkm_idx end = least(c0 + s->cols_each, dkm_dmat_local_cols(s->K)), n = 0;

    s->c0 = c0;
    if (s->cols != &s->own)
        return DKM_OK;
    for (dkm_idx jl = c0; jl < end; jl++)
        s->wanted[n++] = dkm_dmat_global_col(s->K, jl);
    return dkm_panel_fill(s->cols, n, s->wanted);
}

/* Bring those objects of the rows from r0 on that some tile needs. */
static dkm_status fill_rows(assembly *s, dkm_idx r0)
{
    dkm_idx end = least(r0 + s->rows_each, dkm_dmat_local_rows(s->K)), n = 0;

    s->i0 = s->cols->n > 0 ? most(r0, first_row(s, s->c0)) : end;
    for (dkm_idx il = s->i0; il < end; il++)
        s->wanted[n++] = dkm_dmat_global_row(s->K, il);
    return dkm_panel_fill(&s->rows, n, s->wanted);
}

static dkm_tile tile_at(const assembly *s, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb)
{
    dkm_tile C = {dkm_dmat_precision(s->K), na, nb, dkm_dmat_ld(s->K), NULL};

    if (s->visitor)
        return (dkm_tile){C.precision, na, nb, na, s->dropped};
    C.c = C.precision == DKM_F64 ? (void *)dkm_dmat_f64(s->K) : (void *)dkm_dmat_f32(s->K);
    C.c = dkm_tile_at(&C, il, jl);
    return C;
}

/* What a tile has above the diagonal is cleared; on it goes k(x, x), which is exact. */
static void finish_tile(const assembly *s, const dkm_tile *C, dkm_idx il, dkm_idx jl, dkm_idx b)
{
    const double *self = dkm_panel_self(s->cols, s->B->kernel->node);

    for (dkm_idx j = 0; j < C->nb; j++) {
        dkm_idx diagonal = s->first[j];
        for (dkm_idx i = 0; i < least(diagonal, C->na); i++)
            dkm_tile_put(C, i, j, 0.0);
        if (diagonal < C->na &&
            dkm_dmat_global_row(s->K, il + diagonal) == dkm_dmat_global_col(s->K, jl + j))
            dkm_tile_put(C, diagonal, j, self[b + j]);
    }
}

/* Local rows [il, end), columns [b, b + nb) of the panel at hand. */
static dkm_local do_tile(assembly *s, dkm_idx il, dkm_idx end, dkm_idx b, dkm_idx nb)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_job job = {&s->rows, s->cols, il - s->i0, b, s->first, s->scratch};
    dkm_tile C;

    if (il >= end)
        return local;
    C = tile_at(s, il, s->c0 + b, end - il, nb);
    for (dkm_idx j = 0; j < nb; j++)
        s->first[j] = most(0, first_row(s, s->c0 + b + j) - il);
    DKM_STEP(dkm_node_tile(s->A->kernel->node, &job, &C));
    if (s->lower)
        finish_tile(s, &C, il, s->c0 + b, b);
    if (s->visitor)
        s->visitor->visit(s->visitor, s->K, il, s->c0 + b, &C);
out:
    return local;
}

/* All tiles of the panels at hand: wide ones below the diagonal, narrow ones across it. */
static dkm_local do_tiles(assembly *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx end = s->i0 + s->rows.n;

    for (dkm_idx b = 0, nb; s->rows.n > 0 && b < s->cols->n; b += nb) {
        nb = least(s->wide, s->cols->n - b);
        dkm_idx below = most(s->i0, first_row(s, s->c0 + b + nb - 1));
        for (dkm_idx c = b; c < b + nb; c += s->narrow)
            DKM_STEP(do_tile(s, most(s->i0, first_row(s, s->c0 + c)), least(below, end), c,
                             least(s->narrow, b + nb - c)));
        DKM_STEP(do_tile(s, below, end, b, nb));
    }
out:
    return local;
}

/* The first panel of rows that some process needs for its columns from c0 on. */
static dkm_idx first_panel(const assembly *s, dkm_idx c0)
{
    dkm_idx jg = dkm_cyclic_global(c0, dkm_dmat_col_block(s->K), 0, s->Q), il = INT64_MAX;

    for (int p = 0; p < s->P && s->lower; p++)
        il = least(il, dkm_cyclic_count(jg, dkm_dmat_row_block(s->K), p, s->P));
    return s->lower ? il / s->rows_each * s->rows_each : 0;
}

static dkm_status do_panels(assembly *s)
{
    dkm_status status = DKM_OK;
    dkm_idx rows = rows_in_all(s), cols = cols_in_all(s);

    for (dkm_idx c0 = 0; c0 < cols; c0 += s->cols_each) {
        DKM_TRY(fill_cols(s, c0));
        for (dkm_idx r0 = first_panel(s, c0); r0 < rows; r0 += s->rows_each) {
            DKM_TRY(fill_rows(s, r0));
            if (s->local.code == DKM_OK)
                s->local = do_tiles(s);
            dkm_progress(s->ctx, (double)c0 * (double)rows + (double)r0 * (double)s->cols_each,
                         (double)cols * (double)rows);
        }
    }
    DKM_AGREE(s->ctx, s->local);
out:
    return status;
}

dkm_status dkm_gram_fill(const dkm_prepared *A, const dkm_prepared *B, int lower, dkm_dmat *K,
                         dkm_visitor *visitor, dkm_panel *kept)
{
    dkm_status status = DKM_OK;
    assembly s = {0};

    dkm_phase_begin(A->ctx, "gram");
    DKM_AGREE(A->ctx, open_assembly(&s, A, B, K, visitor, kept));
    s.lower = lower;
    DKM_TRY(do_panels(&s));
out:
    close_assembly(&s);
    dkm_phase_end(A->ctx);
    return status;
}

dkm_status dkm_gram_keep(const dkm_prepared *B, dkm_dmat *shape, dkm_panel *cols)
{
    dkm_status status = DKM_OK;
    assembly s = {0};

    *cols = (dkm_panel){0};
    dkm_phase_begin(B->ctx, "gram");
    DKM_AGREE(B->ctx, open_assembly(&s, B, B, shape, NULL, NULL));
    if (s.cols_each < cols_in_all(&s))
        goto out;
    DKM_TRY(fill_cols(&s, 0));
    *cols = s.own;
    s.own = (dkm_panel){0};
out:
    close_assembly(&s);
    dkm_phase_end(B->ctx);
    return status;
}

dkm_local dkm_gram_check(const dkm_kernel *kernel, const dkm_prepared *X)
{
    if (X->kernel != kernel)
        return dkm_fail(X->ctx, DKM_ERR_ARG, "the objects were prepared for %s, not for %s",
                        X->kernel->text, kernel->text);
    return DKM_LOCAL_OK;
}

/* Fill the lower triangle, or take it from a run before. */
static dkm_status fill_or_find(const dkm_prepared *X, dkm_dmat *G)
{
    dkm_status status = DKM_OK;
    const char *stage = dkm_dmat_precision(G) == DKM_F64 ? "gram double" : "gram single";
    int found = 0;

    dkm_keep_about(X->X, X->kernel->text);
    DKM_TRY(dkm_keep_find_lower(stage, G, &found));
    if (found)
        goto out;
    DKM_TRY(dkm_gram_fill(X, X, 1, G, NULL, NULL));
    DKM_TRY(dkm_keep_lower(stage, G));
out:
    return status;
}

dkm_status dkm_gram(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                    dkm_precision precision, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_dmat *G = NULL;

    *K = NULL;
    DKM_AGREE(X->ctx, dkm_gram_check(kernel, X));
    DKM_TRY(dkm_dmat_create(grid, X->X->m, X->X->m, nb, nb, precision, &G));
    DKM_TRY(fill_or_find(X, G));
    *K = G;
    G = NULL;
out:
    dkm_dmat_destroy(&G);
    return status;
}

dkm_status dkm_gram_visit(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                          dkm_precision precision, dkm_visitor *visitor)
{
    dkm_status status = DKM_OK;
    dkm_dmat *shape = NULL;

    DKM_TRY(dkm_dmat_create_shape(grid, X->X->m, X->X->m, nb, nb, precision, &shape));
    DKM_TRY(dkm_gram_fill(X, X, 1, shape, visitor, NULL));
out:
    dkm_dmat_destroy(&shape);
    return status;
}
