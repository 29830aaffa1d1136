/* Seconds in calls of MPI and what is sent by them, counted through MPI's profiling interface.
 *
 * A library of its own, which is loaded before MPI's only in runs that count (comm_counter.h): in
 * all others the names of MPI belong to MPI, or to the profiler that somebody else loads. Calls of
 * ScaLAPACK, HDF5 and other libraries are counted too.
 *
 * Bytes are what this rank gives to be sent: the message; the data of a broadcast at its root; the
 * operand of a reduction or scan; this rank's own part of a gather; all that is for others in an
 * alltoall. How often a collective sends them is up to MPI: jobs/study/count_comm.sh counts that.
 */
#include <mpi.h>

#include "cli/profile/comm_counter.h"

#ifdef DKMAP_SIMULATE /* many ranks are one process: each has its own counts */
dkm_comm_counts *sim_counts(void);
#define so_far (*sim_counts())
#else
static dkm_comm_counts so_far;
#endif

void dkmap_mpi_profiler_read(dkm_comm_counts *out)
{
    *out = so_far;
}

static double profiler_bytes(double count, MPI_Datatype type)
{
    int width = 0;

    if (type == MPI_DATATYPE_NULL || count <= 0)
        return 0;
    PMPI_Type_size(type, &width);
    return count * width;
}

static int profiler_rank(MPI_Comm comm)
{
    int rank = 0;

    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int profiler_size(MPI_Comm comm)
{
    int size = 1;

    PMPI_Comm_size(comm, &size);
    return size;
}

/* Of counts per rank, all or all but this rank's own. */
static double profiler_sum(const int counts[], MPI_Comm comm, int with_own)
{
    int size = profiler_size(comm), own = profiler_rank(comm);
    double sum = 0;

    for (int r = 0; r < size; r++)
        sum += with_own || r != own ? counts[r] : 0;
    return sum;
}

static void profiler_message(double bytes)
{
    so_far.messages++;
    so_far.bytes += bytes;
}

static void profiler_collective(double bytes)
{
    so_far.collectives++;
    so_far.bytes += bytes;
}

/* The call of that name, counted and timed. */
#define COUNTED(name, parameters, arguments, count)                                                \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        double begun = PMPI_Wtime();                                                               \
        int outcome = PMPI_##name arguments;                                                       \
                                                                                                   \
        so_far.seconds += PMPI_Wtime() - begun;                                                    \
        count;                                                                                     \
        return outcome;                                                                            \
    }

COUNTED(Barrier, (MPI_Comm comm), (comm), profiler_collective(0))
COUNTED(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm),
        profiler_collective(profiler_rank(comm) == root ? profiler_bytes(count, type) : 0))
COUNTED(Ibcast,
        (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, root, comm, request),
        profiler_collective(profiler_rank(comm) == root ? profiler_bytes(count, type) : 0))
COUNTED(Reduce,
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm),
        (in, out, count, type, op, root, comm), profiler_collective(profiler_bytes(count, type)))
COUNTED(Allreduce,
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm), profiler_collective(profiler_bytes(count, type)))
COUNTED(Scan, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm), profiler_collective(profiler_bytes(count, type)))
COUNTED(Exscan, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm), profiler_collective(profiler_bytes(count, type)))
COUNTED(Reduce_scatter,
        (const void *in, void *out, const int counts[], MPI_Datatype type, MPI_Op op,
         MPI_Comm comm),
        (in, out, counts, type, op, comm),
        profiler_collective(profiler_bytes(profiler_sum(counts, comm, 1), type)))
COUNTED(Reduce_scatter_block,
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm),
        profiler_collective(profiler_bytes((double)count *profiler_size(comm), type)))
COUNTED(Gather,
        (const void *in, int n, MPI_Datatype ti, void *out, int m, MPI_Datatype to, int root,
         MPI_Comm comm),
        (in, n, ti, out, m, to, root, comm),
        profiler_collective(in == MPI_IN_PLACE ? 0 : profiler_bytes(n, ti)))
COUNTED(Gatherv,
        (const void *in, int n, MPI_Datatype ti, void *out, const int counts[], const int starts[],
         MPI_Datatype to, int root, MPI_Comm comm),
        (in, n, ti, out, counts, starts, to, root, comm),
        profiler_collective(in == MPI_IN_PLACE ? 0 : profiler_bytes(n, ti)))
COUNTED(Scatterv,
        (const void *in, const int counts[], const int starts[], MPI_Datatype ti, void *out, int m,
         MPI_Datatype to, int root, MPI_Comm comm),
        (in, counts, starts, ti, out, m, to, root, comm),
        profiler_collective(profiler_rank(comm) == root
                                ? profiler_bytes(profiler_sum(counts, comm, 0), ti)
                                : 0))
COUNTED(Allgather,
        (const void *in, int n, MPI_Datatype ti, void *out, int m, MPI_Datatype to, MPI_Comm comm),
        (in, n, ti, out, m, to, comm), profiler_collective(profiler_bytes(m, to)))
COUNTED(Allgatherv,
        (const void *in, int n, MPI_Datatype ti, void *out, const int counts[], const int starts[],
         MPI_Datatype to, MPI_Comm comm),
        (in, n, ti, out, counts, starts, to, comm),
        profiler_collective(profiler_bytes(counts[profiler_rank(comm)], to)))
COUNTED(Iallgatherv,
        (const void *in, int n, MPI_Datatype ti, void *out, const int counts[], const int starts[],
         MPI_Datatype to, MPI_Comm comm, MPI_Request *request),
        (in, n, ti, out, counts, starts, to, comm, request),
        profiler_collective(profiler_bytes(counts[profiler_rank(comm)], to)))
COUNTED(Alltoall,
        (const void *in, int n, MPI_Datatype ti, void *out, int m, MPI_Datatype to, MPI_Comm comm),
        (in, n, ti, out, m, to, comm),
        profiler_collective(profiler_bytes((double)m *(profiler_size(comm) - 1), to)))
COUNTED(Alltoallv,
        (const void *in, const int ni[], const int si[], MPI_Datatype ti, void *out, const int no[],
         const int so[], MPI_Datatype to, MPI_Comm comm),
        (in, ni, si, ti, out, no, so, to, comm),
        profiler_collective(profiler_bytes(profiler_sum(in == MPI_IN_PLACE ? no : ni, comm, 0),
                                           to)))
COUNTED(Send, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
        (buffer, count, type, to, tag, comm), profiler_message(profiler_bytes(count, type)))
COUNTED(Rsend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
        (buffer, count, type, to, tag, comm), profiler_message(profiler_bytes(count, type)))
COUNTED(Isend,
        (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
         MPI_Request *request),
        (buffer, count, type, to, tag, comm, request),
        profiler_message(profiler_bytes(count, type)))
COUNTED(Sendrecv,
        (const void *out, int n, MPI_Datatype tn, int to, int tag, void *in, int m, MPI_Datatype tm,
         int from, int tag2, MPI_Comm comm, MPI_Status *status),
        (out, n, tn, to, tag, in, m, tm, from, tag2, comm, status),
        profiler_message(profiler_bytes(n, tn)))
COUNTED(Recv,
        (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
         MPI_Status *status),
        (buffer, count, type, from, tag, comm, status), (void)0)
COUNTED(Irecv,
        (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
         MPI_Request *request),
        (buffer, count, type, from, tag, comm, request), (void)0)
COUNTED(Wait, (MPI_Request * request, MPI_Status *status), (request, status), (void)0)
COUNTED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
        (count, requests, statuses), (void)0)
COUNTED(Waitsome, (int n, MPI_Request requests[], int *count, int which[], MPI_Status statuses[]),
        (n, requests, count, which, statuses), (void)0)
COUNTED(Testall, (int count, MPI_Request requests[], int *done, MPI_Status statuses[]),
        (count, requests, done, statuses), (void)0)
COUNTED(Testsome, (int n, MPI_Request requests[], int *count, int which[], MPI_Status statuses[]),
        (n, requests, count, which, statuses), (void)0)
COUNTED(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status), (from, tag, comm, status),
        (void)0)
