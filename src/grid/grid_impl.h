/** @file grid_impl.h  Body of the grid, for src/grid only. */
#ifndef DKMAP_GRID_IMPL_H
#define DKMAP_GRID_IMPL_H

#include <dkmap/grid.h>

struct dkm_grid {
    dkm_ctx *ctx;
    int P, Q, p, q;
    MPI_Comm row_comm, col_comm;
    int foreign;
    void (*foreign_release)(int);
};

#endif
