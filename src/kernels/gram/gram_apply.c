/* W = K V with K never stored as a matrix: its tiles are handed to a sweep as they are computed, or
 * as they were stored. Tiles in single precision are converted to double a few columns at a time,
 * or multiplied as they are where that is near enough. */
#include "core/alloc.h"
#include "kernels/gram/tiles.h"
#include "linalg/symm/symm_multivec_f32.h"
#include "matrix/dmat_impl.h"

#define WORKSPACE 65536 /* numbers turned at a time */

typedef struct product {
    dkm_visitor visitor;
    dkm_symm sweep;
    dkm_symm_f32 f32; /* where single precision will do */
    double *workspace;
} product;

/* Whether a tile lies below the diagonal. */
static int is_below(const dkm_dmat *shape, dkm_idx il, dkm_idx jl, const dkm_tile *C)
{
    return C->na > 0 && C->nb > 0 &&
           dkm_dmat_global_row(shape, il) > dkm_dmat_global_col(shape, jl + C->nb - 1);
}

static void use_tile(dkm_visitor *visitor, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                     const dkm_tile *C)
{
    product *w = (product *)visitor;
    dkm_idx each = WORKSPACE / (C->na > 0 ? C->na : 1);

    if (C->precision == DKM_F64) {
        dkm_symm_accumulate_tile(&w->sweep, il, jl, C->na, C->nb, C->c, C->ld);
        return;
    }
    if (w->f32.sweep && is_below(shape, il, jl, C)) {
        const dkm_ts_tile t = {DKM_F32, C->na, C->nb, C->ld, C->c};
        dkm_symm_f32_accumulate_tile(&w->f32, il, jl, &t);
        return;
    }
    for (dkm_idx j = 0; j < C->nb; j += each) {
        dkm_idx width = j + each < C->nb ? each : C->nb - j;
        dkm_tile_widen(C, j, width, w->workspace);
        dkm_symm_accumulate_tile(&w->sweep, il, jl + j, C->na, width, w->workspace, C->na);
    }
}

/* Where tiles come from. */
typedef struct supply {
    const dkm_tiles *tiles; /* NULL: computed from X */
    const dkm_prepared *X;
    dkm_precision precision;
    int f32; /* tiles in single precision are multiplied in it */
} supply;

/* W = K V for p columns from column c on. */
static dkm_status multiply_columns(const supply *from, const dkm_dmat *shape, dkm_idx c, dkm_idx p,
                                   const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = dkm_dmat_grid(shape);
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    product w = {.visitor = {.visit = use_tile}};

    DKM_AGREE(ctx, dkm_alloc(ctx, WORKSPACE, &w.workspace));
    DKM_TRY(dkm_symm_begin(&w.sweep, shape, p, V->a + c, V->ld));
    if (from->f32)
        DKM_AGREE(ctx, dkm_symm_f32_begin(&w.f32, &w.sweep));
    if (from->tiles)
        dkm_tiles_for_each(from->tiles, &w.visitor);
    else
        DKM_TRY(
            dkm_gram_visit(grid, from->X, dkm_dmat_row_block(shape), from->precision, &w.visitor));
    if (from->f32)
        dkm_symm_f32_finish(&w.f32);
    dkm_symm_finish(&w.sweep, W->a + c, W->ld);
out:
    dkm_symm_f32_free(&w.f32);
    dkm_symm_free(&w.sweep);
    DKM_FREE(w.workspace);
    return status;
}

static dkm_status gram_apply_multiply(const supply *from, const dkm_dmat *shape,
                                      const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_idx d = V->cols, each = dkm_symm_max_cols(dkm_dmat_rows(shape));

    W->cols = d;
    for (dkm_idx c = 0; c < d; c += each)
        DKM_TRY(multiply_columns(from, shape, c, c + each < d ? each : d - c, V, W));
out:
    return status;
}

dkm_status dkm_tiles_symm(const dkm_tiles *tiles, const dkm_multivec *V, dkm_multivec *W)
{
    const supply from = {.tiles = tiles};

    return gram_apply_multiply(&from, tiles->shape, V, W);
}

dkm_status dkm_tiles_symm_f32(const dkm_tiles *tiles, const dkm_multivec *V, dkm_multivec *W)
{
    const supply from = {.tiles = tiles, .f32 = 1};

    return gram_apply_multiply(&from, tiles->shape, V, W);
}

dkm_status dkm_gram_symm(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb, dkm_precision precision,
                         const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    const supply from = {.X = X, .precision = precision};
    dkm_idx m = dkm_prepared_rows(X);
    dkm_dmat *shape = NULL;

    DKM_TRY(dkm_dmat_create_shape(grid, m, m, nb, nb, DKM_F64, &shape));
    DKM_TRY(gram_apply_multiply(&from, shape, V, W));
out:
    dkm_dmat_destroy(&shape);
    return status;
}

dkm_status dkm_gram_apply(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb, dkm_idx d,
                          double *rows)
{
    dkm_multivec V = dkm_multivec_view(dkm_grid_ctx(grid), dkm_prepared_rows(X), d, rows);

    return dkm_gram_symm(grid, X, nb, DKM_F64, &V, &V);
}
