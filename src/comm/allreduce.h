/** @file allreduce.h  Sums over all ranks of arrays too long for a sum at every hop.
 */
#ifndef DKMAP_COMM_ALLREDUCE_H
#define DKMAP_COMM_ALLREDUCE_H

#include <dkmap/context.h>

/** a <- sum over the ranks of @p comm, the same bits on every rank, in place.
 *
 *  Collective on @p comm. Recursive halving and doubling (Rabenseifner 2004, ICCS, LNCS 3036,
 *  doi:10.1007/978-3-540-24685-5_1): 2 n (1 - 1/ranks) words in 2 log2(ranks) messages per rank,
 *  where MPI_Allreduce() may send n log2(ranks). Ranks beyond the largest power of two hand their
 *  numbers to another one and receive the sum.
 *
 *  @param work  space for @p n numbers; NULL: MPI_Allreduce()
 */
void dkm_allreduce_sum(double *a, dkm_idx n, double *work, MPI_Comm comm);

#endif
