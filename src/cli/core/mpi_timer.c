#include "cli/core/mpi_timer.h"

#include <mpi.h>

static double spent;

double mpi_timer_seconds(void)
{
    return spent;
}

/* The call of that name, timed. */
#define TIMED(name, parameters, arguments)                                                         \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        double begun = PMPI_Wtime();                                                               \
        int outcome = PMPI_##name arguments;                                                       \
                                                                                                   \
        spent += PMPI_Wtime() - begun;                                                             \
        return outcome;                                                                            \
    }

TIMED(Barrier, (MPI_Comm comm), (comm))
TIMED(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
      (buffer, count, type, root, comm))
TIMED(Ibcast,
      (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
      (buffer, count, type, root, comm, request))
TIMED(Reduce,
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      (in, out, count, type, op, root, comm))
TIMED(Allreduce,
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, count, type, op, comm))
TIMED(Scan, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, count, type, op, comm))
TIMED(Reduce_scatter,
      (const void *in, void *out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, counts, type, op, comm))
TIMED(Gather,
      (const void *in, int n, MPI_Datatype ti, void *out, int m, MPI_Datatype to, int root,
       MPI_Comm comm),
      (in, n, ti, out, m, to, root, comm))
TIMED(Allgather,
      (const void *in, int n, MPI_Datatype ti, void *out, int m, MPI_Datatype to, MPI_Comm comm),
      (in, n, ti, out, m, to, comm))
TIMED(Allgatherv,
      (const void *in, int n, MPI_Datatype ti, void *out, const int counts[], const int starts[],
       MPI_Datatype to, MPI_Comm comm),
      (in, n, ti, out, counts, starts, to, comm))
TIMED(Iallgatherv,
      (const void *in, int n, MPI_Datatype ti, void *out, const int counts[], const int starts[],
       MPI_Datatype to, MPI_Comm comm, MPI_Request *request),
      (in, n, ti, out, counts, starts, to, comm, request))
TIMED(Alltoall,
      (const void *in, int n, MPI_Datatype ti, void *out, int m, MPI_Datatype to, MPI_Comm comm),
      (in, n, ti, out, m, to, comm))
TIMED(Alltoallv,
      (const void *in, const int ni[], const int si[], MPI_Datatype ti, void *out, const int no[],
       const int so[], MPI_Datatype to, MPI_Comm comm),
      (in, ni, si, ti, out, no, so, to, comm))
TIMED(Send, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
      (buffer, count, type, to, tag, comm))
TIMED(Rsend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
      (buffer, count, type, to, tag, comm))
TIMED(Recv,
      (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
       MPI_Status *status),
      (buffer, count, type, from, tag, comm, status))
TIMED(Isend,
      (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request *request),
      (buffer, count, type, to, tag, comm, request))
TIMED(Irecv,
      (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
       MPI_Request *request),
      (buffer, count, type, from, tag, comm, request))
TIMED(Sendrecv,
      (const void *out, int n, MPI_Datatype tn, int to, int tag, void *in, int m, MPI_Datatype tm,
       int from, int tag2, MPI_Comm comm, MPI_Status *status),
      (out, n, tn, to, tag, in, m, tm, from, tag2, comm, status))
TIMED(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
TIMED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
      (count, requests, statuses))
TIMED(Testall, (int count, MPI_Request requests[], int *done, MPI_Status statuses[]),
      (count, requests, done, statuses))
TIMED(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status), (from, tag, comm, status))
