/** @file grid.h  A P x Q process grid and the arithmetic of what lies where on it.
 *
 *  Matrices are block-cyclic over a grid; rows of data are cut into one slab of consecutive rows
 * per rank. The arithmetic of both is here as pure functions. Ranks are placed row by row; when P x
 * Q is less than the number of ranks, the last ones are outside the grid: they own nothing and
 * still join every collective.
 */
#ifndef DKMAP_GRID_H
#define DKMAP_GRID_H

#include <dkmap/context.h>

DKM_API_BEGIN

typedef struct dkm_grid dkm_grid;

/** Make a grid over the ranks of @p ctx.
 *
 *  Collective. P = Q = 0 chooses: near-square with P <= Q, leaving a few ranks idle where their
 *  number has no good factors (this is reported).
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] P  rows of ranks, or 0
 *  @param[in] Q  columns of ranks, or 0
 *  @param[out] grid  new grid, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG if P x Q does not fit; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_grid_create(dkm_ctx *ctx, int P, int Q, dkm_grid **grid);

/** The shape dkm_grid_create() would choose for @p size ranks. Local. */
void dkm_grid_shape(int size, int *P, int *Q);

dkm_ctx *dkm_grid_ctx(const dkm_grid *grid);
int dkm_grid_rows(const dkm_grid *grid); /**< P */
int dkm_grid_cols(const dkm_grid *grid); /**< Q */
int dkm_grid_row(const dkm_grid *grid);  /**< this rank's p, or -1 outside the grid */
int dkm_grid_col(const dkm_grid *grid);  /**< this rank's q, or -1 outside the grid */
/** The ranks of this rank's grid row, and of its grid column (MPI_COMM_NULL outside the grid). */
MPI_Comm dkm_grid_row_comm(const dkm_grid *grid);
MPI_Comm dkm_grid_col_comm(const dkm_grid *grid);

/** A block size that gives every process of the grid work on an n x n matrix: 16 to 64. Local. */
dkm_idx dkm_grid_block(const dkm_grid *grid, dkm_idx n);
/** The same for a grid that is not there. Local. */
dkm_idx dkm_shape_block(int P, int Q, dkm_idx n);

/** Free the grid. Collective; takes NULL and nulls. */
void dkm_grid_destroy(dkm_grid **grid);

/** Block-cyclic: how many of n items process @p p of @p P owns, in blocks of @p nb. */
dkm_idx dkm_cyclic_count(dkm_idx n, dkm_idx nb, int p, int P);
/** Block-cyclic: the process that owns item @p ig. */
int dkm_cyclic_owner(dkm_idx ig, dkm_idx nb, int P);
/** Block-cyclic: the place of item @p ig on its owner. */
dkm_idx dkm_cyclic_local(dkm_idx ig, dkm_idx nb, int P);
/** Block-cyclic: the item at place @p il of process @p p. */
dkm_idx dkm_cyclic_global(dkm_idx il, dkm_idx nb, int p, int P);

/** Slabs: the first of m rows that @p rank of @p size holds; at rank = size it is m. */
dkm_idx dkm_slab_first(dkm_idx m, int rank, int size);
/** Slabs: how many of m rows @p rank holds. */
dkm_idx dkm_slab_count(dkm_idx m, int rank, int size);
/** Slabs: the rank that holds row @p ig. */
int dkm_slab_owner(dkm_idx m, dkm_idx ig, int size);

DKM_API_END

#endif
