/** @file tiles.h  The lower triangle of a Gram matrix, stored in the tiles it was computed in.
 *
 *  Half the memory of a matrix, with no columns that are long strides apart: for those who do no
 *  more than multiply with it.
 */
#ifndef DKMAP_KERNELS_GRAM_TILES_H
#define DKMAP_KERNELS_GRAM_TILES_H

#include "kernels/gram/gram.h"
#include "matrix/multivec.h"

typedef struct dkm_stored_tile {
    dkm_idx il, jl; /**< local place */
    dkm_tile tile;  /**< without gaps */
    int crosses;    /**< the diagonal */
} dkm_stored_tile;

typedef struct dkm_tiles {
    dkm_visitor visitor;
    dkm_ctx *ctx;
    dkm_dmat *shape; /**< of double precision, without elements; NULL: nothing is stored */
    dkm_idx count, capacity;
    dkm_stored_tile *list;
    dkm_idx chunks, used, left; /**< bytes of the last one that are taken, and that are not */
    void **chunk;
    void *copy; /**< a tile that crosses the diagonal: others are not overwritten */
    dkm_local local;
} dkm_tiles;

/** Bytes that this rank would need, about. Local. */
double dkm_tiles_bytes(const dkm_grid *grid, dkm_idx m, dkm_precision precision);

/** Compute k(X, X) and store it. Collective; dkm_tiles_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_tiles_open(dkm_tiles *tiles, dkm_grid *grid, const dkm_prepared *X,
                                        dkm_idx nb, dkm_precision precision);
/** Show all tiles of this rank to a visitor, which may overwrite those that cross the diagonal.
 *  Local. */
void dkm_tiles_for_each(const dkm_tiles *tiles, dkm_visitor *visitor);
void dkm_tiles_close(dkm_tiles *tiles);

/** W <- k(X, X) V, as dkm_gram_symm() would; sums are double. Collective. */
DKM_NODISCARD dkm_status dkm_tiles_symm(const dkm_tiles *tiles, const dkm_multivec *V,
                                        dkm_multivec *W);
/** The same with products, and sums of a few of them, in the precision of the tiles: in single
 *  precision it takes a third of the time, and loses 1e-7 of the sizes of what is added.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_tiles_symm_f32(const dkm_tiles *tiles, const dkm_multivec *V,
                                            dkm_multivec *W);

#endif
