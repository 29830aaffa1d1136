/** @file mpi_timer.h  Seconds that this process has spent in calls of MPI.
 *
 *  The program takes the place of those calls of MPI that move data or wait, through MPI's own
 *  profiling interface, and so counts what its libraries spend there too. The library does not: it
 *  leaves the calls of other programs alone.
 */
#ifndef DKMAP_CLI_CORE_MPI_TIMER_H
#define DKMAP_CLI_CORE_MPI_TIMER_H

/** So far. Local. */
double mpi_timer_seconds(void);

#endif
