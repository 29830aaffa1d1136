/** @file comm_counter.h  Counts what each rank sends, through MPI's profiling interface.
 *
 *  Included by one source file of a program, it replaces the MPI calls with which the library moves
 *  arrays. A collective is booked with the fewest bytes that any algorithm needs, spread evenly
 * over its ranks; counts are exact and do not depend on the machine or on the MPI library.
 */
#ifndef DKMAP_COMM_COUNTER_H
#define DKMAP_COMM_COUNTER_H

#include <mpi.h>

static double comm_counter_bytes;

static void comm_counter_add(double share, double count, MPI_Datatype type)
{
    int size = 0;

    MPI_Type_size(type, &size);
    comm_counter_bytes += share * count * size;
}

/* (n - 1) / n of n ranks. */
static double comm_counter_others(MPI_Comm comm)
{
    int size = 1;

    MPI_Comm_size(comm, &size);
    return (size - 1.0) / size;
}

int MPI_Send(const void *a, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    comm_counter_add(to != MPI_PROC_NULL, n, type);
    return PMPI_Send(a, n, type, to, tag, comm);
}

int MPI_Isend(const void *a, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    comm_counter_add(to != MPI_PROC_NULL, n, type);
    return PMPI_Isend(a, n, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void *a, int n, MPI_Datatype type, int to, int tag, void *b, int m,
                 MPI_Datatype received, int from, int tag2, MPI_Comm comm, MPI_Status *status)
{
    comm_counter_add(to != MPI_PROC_NULL, n, type);
    return PMPI_Sendrecv(a, n, type, to, tag, b, m, received, from, tag2, comm, status);
}

int MPI_Bcast(void *a, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    comm_counter_add(comm_counter_others(comm), n, type);
    return PMPI_Bcast(a, n, type, root, comm);
}

int MPI_Reduce(const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    comm_counter_add(comm_counter_others(comm), n, type);
    return PMPI_Reduce(a, b, n, type, op, root, comm);
}

int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    comm_counter_add(2 * comm_counter_others(comm), n, type);
    return PMPI_Allreduce(a, b, n, type, op, comm);
}

int MPI_Allgatherv(const void *a, int n, MPI_Datatype type, void *b, const int *counts,
                   const int *starts, MPI_Datatype received, MPI_Comm comm)
{
    int size = 0;
    double all = 0;

    MPI_Comm_size(comm, &size);
    for (int r = 0; r < size; r++)
        all += counts[r];
    comm_counter_add(comm_counter_others(comm), all, received);
    return PMPI_Allgatherv(a, n, type, b, counts, starts, received, comm);
}

int MPI_Alltoallv(const void *a, const int *counts, const int *starts, MPI_Datatype type, void *b,
                  const int *in, const int *at, MPI_Datatype received, MPI_Comm comm)
{
    int size = 0;

    MPI_Comm_size(comm, &size);
    for (int r = 0; r < size; r++)
        comm_counter_add(1, counts[r], type);
    return PMPI_Alltoallv(a, counts, starts, type, b, in, at, received, comm);
}

#endif
