/** @file comm_counter.h  Counting communication in runs that ask for it.
 *
 *  Calls of MPI are counted by a profiling library, libdkmap_mpi_profiler, that has to be loaded
 *  before the one of MPI. The command starts itself again with it where that is asked for; other
 *  runs leave the names of MPI alone, so that any profiler can be used on them.
 */
#ifndef DKMAP_CLI_PROFILE_COMM_COUNTER_H
#define DKMAP_CLI_PROFILE_COMM_COUNTER_H

#include <dkmap/context.h>

/** Start the command again with the profiling library, unless that is loaded already or cannot be
 *  found. Before MPI_Init(); returns when nothing was to be done. */
void comm_counter_load(char **argv);

/** The reader of the counts; NULL when the profiling library is not loaded. Local. */
dkm_comm_reader comm_counter_reader(void);

/** What the profiling library exports: the counts of this process so far. */
void dkmap_mpi_profiler_read(dkm_comm_counts *out);

#endif
