/** @file attach.h  A slot on the grid where src/scalapack keeps its own handle of it. */
#ifndef DKMAP_ATTACH_H
#define DKMAP_ATTACH_H

#include <dkmap/grid.h>

/** The handle, or -1 when none was set. Local. */
int dkm_grid_foreign(const dkm_grid *grid);

/** Keep @p handle; @p release is called on it when the grid is destroyed. Local. */
void dkm_grid_set_foreign(dkm_grid *grid, int handle, void (*release)(int));

#endif
