/** @file grid_impl.h  Body of the grid, for src/comm only. */
#ifndef DKMAP_COMM_GRID_IMPL_H
#define DKMAP_COMM_GRID_IMPL_H

#include <dkmap/grid.h>

struct dkm_grid {
    dkm_ctx *ctx;
    int P, Q, p, q;
    MPI_Comm row_comm, col_comm;
    int attached;
    void (*attached_release)(int);
};

#endif
