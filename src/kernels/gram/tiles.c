#include "kernels/gram/tiles.h"

#include <string.h>

#include "core/alloc.h"
#include "matrix/dmat_impl.h"

#define CHUNK_BYTES    ((dkm_idx)256 << 20) /* tiles are laid into blocks of so many */
#define CHUNK_PARTS    8                    /* or of such a part of all, where that is less */
#define SPARE          1.1 /* tiles on the diagonal, what is left of the last block */
#define FIRST_CAPACITY 64
#define ALIGNMENT      64

static dkm_idx tiles_size_of(const dkm_tile *C)
{
    dkm_idx bytes = C->na * C->nb * (C->precision == DKM_F64 ? 8 : 4);

    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

double dkm_tiles_bytes(const dkm_grid *grid, dkm_idx m, dkm_precision precision)
{
    double each = precision == DKM_F64 ? 8.0 : 4.0;

    return SPARE * each * (double)m * (double)m / 2.0 / (dkm_grid_rows(grid) * dkm_grid_cols(grid));
}

/* Blocks are no larger than needed for few tiles. */
static dkm_idx chunk_bytes(const dkm_tiles *t, dkm_idx least)
{
    double all = dkm_tiles_bytes(t->shape->grid, t->shape->m, DKM_F64) / CHUNK_PARTS;
    dkm_idx wanted = all < (double)CHUNK_BYTES ? (dkm_idx)all : CHUNK_BYTES;

    return wanted > least ? wanted : least;
}

static dkm_local tiles_add_chunk(dkm_tiles *t, dkm_idx least, dkm_idx *left)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_realloc(t->ctx, t->chunks + 1, &t->chunk));
    t->chunk[t->chunks] = NULL;
    *left = chunk_bytes(t, least);
    DKM_STEP(dkm_alloc_at(t->ctx, __FILE__, __LINE__, *left, 1, &t->chunk[t->chunks]));
    t->chunks++;
    t->used = 0;
out:
    return local;
}

static dkm_local tiles_keep(dkm_tiles *t, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                            const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = tiles_size_of(C);
    dkm_stored_tile *made;

    if (t->count == t->capacity) {
        dkm_idx capacity = t->capacity > 0 ? 2 * t->capacity : FIRST_CAPACITY;
        DKM_STEP(dkm_realloc(t->ctx, capacity, &t->list));
        t->capacity = capacity;
    }
    if (bytes > t->left)
        DKM_STEP(tiles_add_chunk(t, bytes, &t->left));
    made = &t->list[t->count];
    *made = (dkm_stored_tile){il, jl, *C, 0};
    made->crosses = dkm_dmat_global_row(shape, il) <= dkm_dmat_global_col(shape, jl + C->nb - 1);
    made->tile.c = (char *)t->chunk[t->chunks - 1] + t->used;
    made->tile.ld = C->na;
    memcpy(made->tile.c, C->c, (size_t)(C->na * C->nb) * (C->precision == DKM_F64 ? 8u : 4u));
    t->used += bytes;
    t->left -= bytes;
    t->count++;
out:
    return local;
}

static void keep_tile(dkm_visitor *visitor, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                      const dkm_tile *C)
{
    dkm_tiles *t = (dkm_tiles *)visitor;

    if (t->local.code == DKM_OK && C->na > 0 && C->nb > 0)
        t->local = tiles_keep(t, shape, il, jl, C);
}

/* Memory for the largest tile that crosses the diagonal. */
static dkm_local allocate_copy(dkm_tiles *t)
{
    dkm_idx most = 0;

    for (dkm_idx k = 0; k < t->count; k++)
        if (t->list[k].crosses && tiles_size_of(&t->list[k].tile) > most)
            most = tiles_size_of(&t->list[k].tile);
    return dkm_alloc_at(t->ctx, __FILE__, __LINE__, most, 1, &t->copy);
}

dkm_status dkm_tiles_open(dkm_tiles *t, dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                          dkm_precision precision)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_prepared_rows(X);

    *t = (dkm_tiles){.visitor = {.visit = keep_tile}, .ctx = X->ctx, .local = DKM_LOCAL_OK};
    DKM_TRY(dkm_dmat_create_shape(grid, m, m, nb, nb, DKM_F64, &t->shape));
    DKM_TRY(dkm_gram_visit(grid, X, nb, precision, &t->visitor));
    DKM_AGREE(t->ctx, t->local);
    DKM_AGREE(t->ctx, allocate_copy(t));
out:
    return status;
}

void dkm_tiles_for_each(const dkm_tiles *t, dkm_visitor *visitor)
{
    for (dkm_idx k = 0; k < t->count; k++) {
        dkm_stored_tile stored = t->list[k];
        if (stored.crosses) {
            memcpy(t->copy, stored.tile.c, (size_t)tiles_size_of(&stored.tile));
            stored.tile.c = t->copy;
        }
        visitor->visit(visitor, t->shape, stored.il, stored.jl, &stored.tile);
    }
}

void dkm_tiles_close(dkm_tiles *t)
{
    for (dkm_idx k = 0; k < t->chunks; k++)
        DKM_FREE(t->chunk[k]);
    DKM_FREE(t->chunk);
    DKM_FREE(t->list);
    DKM_FREE(t->copy);
    dkm_dmat_destroy(&t->shape);
}
