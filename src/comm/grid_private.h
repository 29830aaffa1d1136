/** @file grid_private.h  A slot on the grid where src/linalg keeps its own handle of it. */
#ifndef DKMAP_COMM_GRID_PRIVATE_H
#define DKMAP_COMM_GRID_PRIVATE_H

#include <dkmap/grid.h>

/** The handle, or -1 when none was set. Local. */
int dkm_grid_attached(const dkm_grid *grid);

/** Keep @p handle; @p release is called on it when the grid is destroyed. Local. */
void dkm_grid_attach(dkm_grid *grid, int handle, void (*release)(int));

#endif
