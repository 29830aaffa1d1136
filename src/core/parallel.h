/** @file parallel.h  Loops of a rank's own kernels on its threads.
 *
 *  All OpenMP of the library is behind these two loops; without OpenMP they run on one thread.
 *  Bodies may allocate, fail and count flops, and must not call MPI. */
#ifndef DKMAP_CORE_PARALLEL_H
#define DKMAP_CORE_PARALLEL_H

#include <dkmap/types.h>

/** Do something for index @p k on thread @p thread, 0 to threads - 1. */
typedef void dkm_parallel_body(void *user, dkm_idx k, int thread);

/** body(k) for k = 0 ... count - 1 in any order, on up to @p threads threads. Local. */
void dkm_parallel_for(int threads, dkm_idx count, dkm_parallel_body *body, void *user);

/** Do something for block (i, j). */
typedef void dkm_wavefront_body(void *user, dkm_idx i, dkm_idx j);

/** body(i, j) for all blocks of a rows x cols array, none before (i - 1, j) and (i, j - 1).
 *
 *  So two blocks that share i or j never run at the same time, on up to @p threads threads. Each i
 *  sees its j in ascending order and each j its i: sums over either do not depend on the number of
 *  threads. Threads take rows in turn and follow each other from left to right. Local. */
void dkm_wavefront(int threads, dkm_idx rows, dkm_idx cols, dkm_wavefront_body *body, void *user);

#endif
