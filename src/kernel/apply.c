/* W = K V with K never stored: its tiles are handed to a sweep as they are computed. Tiles in
 * single precision are turned into double ones a few columns at a time. */
#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "kernel/gram.h"
#include "scalapack/sweep.h"

#define ROOM 65536 /* numbers turned at a time */

typedef struct product {
    dkm_visitor visitor;
    dkm_sweep sweep;
    double *room;
} product;

static void use_tile(dkm_visitor *self, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                     const dkm_tile *C)
{
    product *w = (product *)self;
    dkm_idx each = ROOM / (C->na > 0 ? C->na : 1);

    (void)shape;
    if (C->precision == DKM_F64) {
        dkm_sweep_tile(&w->sweep, il, jl, C->na, C->nb, C->c, C->ld);
        return;
    }
    for (dkm_idx j = 0; j < C->nb; j += each) {
        dkm_idx width = j + each < C->nb ? each : C->nb - j;
        dkm_tile_widen(C, j, width, w->room);
        dkm_sweep_tile(&w->sweep, il, jl + j, C->na, width, w->room, C->na);
    }
}

/* p columns of rows of width d: V on entry, W on return. */
static dkm_status multiply_columns(const dkm_prepared *X, const dkm_dmat *shape,
                                   dkm_precision precision, dkm_idx p, double *rows, dkm_idx d)
{
    dkm_status status = DKM_OK;
    product w = {.visitor = {use_tile}};

    DKM_AGREE(X->ctx, dkm_alloc(X->ctx, precision == DKM_F32 ? ROOM : 0, &w.room));
    DKM_TRY(dkm_sweep_open(&w.sweep, shape, p, rows, d));
    DKM_TRY(
        dkm_gram_visit(dkm_dmat_grid(shape), X, dkm_dmat_row_block(shape), precision, &w.visitor));
    dkm_sweep_take(&w.sweep, rows, d);
out:
    dkm_sweep_close(&w.sweep);
    DKM_FREE(w.room);
    return status;
}

dkm_status dkm_gram_sweep(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                          dkm_precision precision, dkm_idx d, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_prepared_rows(X), each = dkm_sweep_most(m);
    dkm_dmat *shape = NULL;

    DKM_TRY(dkm_dmat_create_shape(grid, m, m, nb, nb, DKM_F64, &shape));
    for (dkm_idx c = 0; c < d; c += each)
        DKM_TRY(multiply_columns(X, shape, precision, c + each < d ? each : d - c, rows + c, d));
out:
    dkm_dmat_destroy(&shape);
    return status;
}

dkm_status dkm_gram_apply(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb, dkm_idx d,
                          double *rows)
{
    return dkm_gram_sweep(grid, X, nb, DKM_F64, d, rows);
}
