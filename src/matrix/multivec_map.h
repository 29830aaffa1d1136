/** @file multivec_map.h  Movement of a multivector between row slabs and the rows or columns of a
 *  block-cyclic matrix.
 *
 *  A product or a solve with a matrix that stays in place needs, on each rank, the rows of the
 *  multivector that belong to the rank's local rows of the matrix (side 'R', the same rows on all
 *  ranks of a grid row) or to its local columns (side 'C', the same on all ranks of a grid column).
 *  Each such row has a home, one of these ranks: the local rows, in their order, are cut into one
 *  slab per rank of the line. Rows travel from slabs to homes and back between all ranks, and from
 *  homes to the line and back within the line only.
 *
 *  Words sent per rank, for m rows of p numbers on R x C ranks: m p / (R C) for either direction
 *  between slabs and homes, m p / R (or m p / C) within a line. Messages: as many as the homes of a
 *  slab, and C - 1 (or R - 1) within a line. Words held: m p / (R C), a place for each row of
 *  the slab, and the caller's local rows.
 */
#ifndef DKMAP_MATRIX_MULTIVEC_MAP_H
#define DKMAP_MATRIX_MULTIVEC_MAP_H

#include <dkmap/dmat.h>

typedef struct dkm_multivec_map {
    dkm_ctx *ctx;        /**< borrowed */
    MPI_Comm line;       /**< this rank's grid row or column; MPI_COMM_NULL outside the grid */
    int lines, members;  /**< lines of the grid, ranks of each */
    int at, me;          /**< this rank's line, and its place in it; -1 outside the grid */
    int next_line, next; /**< steps in rank from a line to the next, and within a line */
    dkm_idx m, nb, p;
    dkm_idx local;        /**< rows of this line, in the order of the local rows of the matrix */
    dkm_idx first, count; /**< of which this rank is the home */
    dkm_idx *to, *from;   /**< per rank: rows of the slab whose home it is, home rows of its slab */
    dkm_idx *cursor;      /**< per rank, working space */
    dkm_idx *place;       /**< per row of the slab: where it is among the packed ones */
    int *counts, *starts; /**< per rank of the line, numbers */
    MPI_Request *requests; /**< two per rank */
    double *packed;        /**< rows of the slab, in the order of their homes */
    double *part;          /**< home rows received from one rank */
} dkm_multivec_map;

/** Get ready to move @p p columns.
 *
 *  Local; dkm_multivec_map_free() frees, also after a failure.
 *
 *  @param[in] shape  distribution of the elements; rows (side 'R') or columns ('C') are those of the
 *                    multivector
 */
DKM_NODISCARD dkm_local dkm_multivec_map_init(dkm_multivec_map *map, const dkm_dmat *shape,
                                              char side, dkm_idx p);
void dkm_multivec_map_free(dkm_multivec_map *map);

/** home <- this rank's home rows (count x p), from the slabs of all ranks. Collective.
 *  @param[in] rows  this rank's slab, row-major, ld = @p ld */
void dkm_multivec_map_to_homes(dkm_multivec_map *map, const double *rows, dkm_idx ld, double *home);

/** rows <- rows + (where @p add is set) the slab that the homes hold. Collective. */
void dkm_multivec_map_from_homes(dkm_multivec_map *map, const double *home, int add, double *rows,
                                 dkm_idx ld);

/** local <- the home rows of all ranks of the line (local x p), this rank's own being in their
 *  place already. Collective on the line. */
void dkm_multivec_map_allgather(dkm_multivec_map *map, double *local);

/** This rank's home rows in @p local <- their sum over the ranks of the line, in a fixed order.
 *  Collective on the line; the other rows stay. */
void dkm_multivec_map_reduce_scatter(dkm_multivec_map *map, double *local);

/** Address of this rank's home rows among its local ones. Local. */
static inline double *dkm_multivec_map_home(const dkm_multivec_map *map, double *local)
{
    return local + map->first * map->p;
}

#endif
