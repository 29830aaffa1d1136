/** @file merge_lists.h  Reductions over the ranks that keep the first entries of sorted lists.
 *
 *  An MPI datatype stands for one list of n entries, and the operation merges two lists, so that
 *  MPI_Reduce() and its kin find the first n of all ranks in log2(ranks) steps.
 */
#ifndef DKMAP_COMM_MERGE_LISTS_H
#define DKMAP_COMM_MERGE_LISTS_H

#include <stddef.h>

#include <mpi.h>

/** Whether an entry stands before another one; a total order, the same on every rank. */
typedef int dkm_comes_before(const void *a, const void *b);

/** The body of an MPI_User_function: of each pair of sorted lists the first n entries, in the place
 *  of the second, n being as many entries of @p size bytes as @p type holds. Local.
 *
 *  Cost: n comparisons per list. */
void dkm_merge_lists(const void *in, void *inout, int lists, MPI_Datatype type, size_t size,
                     dkm_comes_before *before);

#endif
