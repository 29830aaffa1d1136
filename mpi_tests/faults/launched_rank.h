/** @file
 * The rank of this process, as its launcher wrote it into the environment.
 */
#ifndef DKM_FAULTS_LAUNCHED_RANK_H
#define DKM_FAULTS_LAUNCHED_RANK_H

#include <stddef.h>
#include <stdlib.h>

/** Open MPI's variable, else that of MPICH; NULL without a launcher. */
static inline const char *launched_rank(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    return rank ? rank : getenv("PMI_RANK");
}

#endif
