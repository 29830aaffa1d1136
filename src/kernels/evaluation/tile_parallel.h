/** @file tile_parallel.h  Tiles of a kernel evaluated on the threads of a rank. */
#ifndef DKMAP_KERNELS_EVALUATION_TILE_PARALLEL_H
#define DKMAP_KERNELS_EVALUATION_TILE_PARALLEL_H

#include "kernels/evaluation/panel.h"

/** dkm_node_tile() in parts of some columns each, on the threads of the context. Local.
 *
 *  Kernels that the program registered run on one thread. The BLAS library uses one thread
 *  meanwhile, and those of the context afterwards. */
DKM_NODISCARD dkm_local dkm_node_tile_parallel(const dkm_node *root, const dkm_tile_task *task,
                                               const dkm_tile *C);

#endif
