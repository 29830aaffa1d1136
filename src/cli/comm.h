/** @file comm.h  Seconds that this process has spent in calls of MPI.
 *
 *  The program takes the place of those calls of MPI that move data or wait, through MPI's own
 *  profiling interface, and so counts what its libraries spend there too. The library does not: it
 *  leaves the calls of other programs alone.
 */
#ifndef DKMAP_CLI_COMM_H
#define DKMAP_CLI_COMM_H

/** So far. Local. */
double comm_seconds(void);

#endif
