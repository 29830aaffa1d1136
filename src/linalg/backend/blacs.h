/** @file blacs.h  From our grids and matrices to BLACS contexts and ScaLAPACK descriptors. */
#ifndef DKMAP_LINALG_BACKEND_BLACS_H
#define DKMAP_LINALG_BACKEND_BLACS_H

#include <dkmap/dmat.h>

/** A ScaLAPACK descriptor with the local array it describes. */
typedef struct dkm_blacs_desc {
    int d[9];
} dkm_blacs_desc;

/** The BLACS context of a grid, made at first use and owned by it; negative outside the grid.
 *  Collective. */
int dkm_blacs_context(dkm_grid *grid);

/** Describe a matrix. Collective at the first use of its grid, else local. */
dkm_blacs_desc dkm_blacs_descriptor(const dkm_dmat *A);

/** Whether this rank has a part in calls on this grid. Local. */
int dkm_in_grid(const dkm_grid *grid);

#endif
