/* Messages of shared blocks, simulated time at MPI calls, tests of requests, and counts per rank.
 *
 * Every counted call of MPI reads the clock first (cli/profile/mpi_profiler.c): that is where the time of
 * computations passes. Buffers in shared blocks are replaced by one that SMPI knows to be the same
 * on all ranks, so that nothing is copied; derived datatypes, which SMPI would pack, by bytes. */
#include <mpi.h>
#include <simgrid/engine.h>
#include <smpi/smpi.h>
#include <stdlib.h>

#include "simulate.h"

#define PAYLOAD ((size_t)1 << 30)

static struct {
    dkm_comm_counts *counts;
    char *payload;
    MPI_Request *markers; /* one per rank, of a message to itself */
    double *set_back;     /* seconds that its clock is behind SimGrid's */
} ranks;

int sim_rank(void)
{
    int rank = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void sim_open(int size)
{
    if (!ranks.counts)
        ranks.counts = calloc((size_t)size, sizeof *ranks.counts);
    if (!ranks.markers)
        ranks.markers = calloc((size_t)size, sizeof *ranks.markers);
    if (!ranks.set_back)
        ranks.set_back = calloc((size_t)size, sizeof *ranks.set_back);
    if (!ranks.payload)
        ranks.payload = SMPI_SHARED_MALLOC(PAYLOAD);
}

dkm_comm_counts *sim_counts(void)
{
    return &ranks.counts[sim_rank()];
}

void sim_set_back(double seconds)
{
    ranks.set_back[sim_rank()] += seconds;
}

double __wrap_PMPI_Wtime(void);
double MPI_Wtime(void);

/* SMPI's own reads the clock of the processor too, for computations that it would time itself. */
double __wrap_PMPI_Wtime(void)
{
    sim_flush();
    return simgrid_get_clock() - ranks.set_back[sim_rank()];
}

double MPI_Wtime(void)
{
    return __wrap_PMPI_Wtime();
}

/* Bytes of a message; the buffer and type that it is sent by. */
typedef struct message {
    void *buffer;
    int count;
    MPI_Datatype type;
} message;

static message message_of(const void *buffer, int count, MPI_Datatype type)
{
    int width = 0;

    if (!sim_is_shared(buffer)) {
        message same = {(void *)(uintptr_t)buffer, count, type};
        return same;
    }
    PMPI_Type_size(type, &width);
    return (message){ranks.payload, count * width, MPI_BYTE};
}

#define WRAPPED(name, parameters, arguments)                                                       \
    int __real_PMPI_##name parameters;                                                             \
    int __wrap_PMPI_##name parameters;                                                             \
    int __wrap_PMPI_##name parameters                                                              \
    {                                                                                              \
        message m = message_of(buffer, count, type);                                               \
                                                                                                   \
        return __real_PMPI_##name arguments;                                                       \
    }

WRAPPED(Send, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
        (m.buffer, m.count, m.type, to, tag, comm))
WRAPPED(Isend,
        (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
         MPI_Request *request),
        (m.buffer, m.count, m.type, to, tag, comm, request))
WRAPPED(Recv,
        (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
         MPI_Status *status),
        (m.buffer, m.count, m.type, from, tag, comm, status))
WRAPPED(Irecv,
        (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
         MPI_Request *request),
        (m.buffer, m.count, m.type, from, tag, comm, request))
WRAPPED(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (m.buffer, m.count, m.type, root, comm))

int __wrap_PMPI_Alltoallv(const void *in, const int ni[], const int si[], MPI_Datatype ti,
                          void *out, const int no[], const int so[], MPI_Datatype to,
                          MPI_Comm comm);

#define EXCHANGE_TAG 32749 /* that no message of dkmap has */

static void *part_of(const void *buffer, int start, MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;

    PMPI_Type_get_extent(type, &lower, &extent);
    return (char *)(uintptr_t)buffer + start * extent;
}

/* Messages between pairs of ranks that have something for each other, as Open MPI sends them: SimGrid
 * would also send the empty ones, P^2 of them, and search a list of all for each. */
int __wrap_PMPI_Alltoallv(const void *in, const int ni[], const int si[], MPI_Datatype ti,
                          void *out, const int no[], const int so[], MPI_Datatype to, MPI_Comm comm)
{
    int rank = 0, size = 1, count = 0, outcome;
    MPI_Request *requests;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    requests = malloc(2 * (size_t)size * sizeof *requests);
    for (int k = 0; k < size; k++) {
        int r = (rank - k + size) % size;
        if (no[r] > 0)
            PMPI_Irecv(part_of(out, so[r], to), no[r], to, r, EXCHANGE_TAG, comm,
                       &requests[count++]);
    }
    for (int k = 0; k < size; k++) {
        int r = (rank + k) % size;
        if (ni[r] > 0)
            PMPI_Isend(part_of(in, si[r], ti), ni[r], ti, r, EXCHANGE_TAG, comm,
                       &requests[count++]);
    }
    outcome = PMPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    free(requests);
    return outcome;
}

int __wrap_PMPI_Waitsome(int n, MPI_Request requests[], int *count, int which[],
                         MPI_Status statuses[]);
int __wrap_PMPI_Testsome(int n, MPI_Request requests[], int *count, int which[],
                         MPI_Status statuses[]);

/* SimGrid (3.32) forgets to take a message that a test found complete off the list of its rank: the
 * list grows with all messages of a run and is searched for each of them, so that the time of a
 * simulation is their square. Messages that were waited for are taken off. Hence some is one. */
int __wrap_PMPI_Waitsome(int n, MPI_Request requests[], int *count, int which[],
                         MPI_Status statuses[])
{
    int outcome = PMPI_Waitany(n, requests, which, MPI_STATUS_IGNORE);

    (void)statuses; /* ignored in all of dkmap */
    *count = which[0] == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    return outcome;
}

/* A wait that ends at once, as the last of the requests is a message of this rank to itself, sent at
 * the test before. */
static int wait_or_marker(int n, MPI_Request all[])
{
    int index = n;

    if (all[n] == MPI_REQUEST_NULL) {
        PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &all[n]);
        PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    }
    PMPI_Waitany(n + 1, all, &index, MPI_STATUS_IGNORE);
    return index;
}

int __wrap_PMPI_Testsome(int n, MPI_Request requests[], int *count, int which[],
                         MPI_Status statuses[])
{
    MPI_Request *all = malloc((size_t)(n + 1) * sizeof *all), *marker = &ranks.markers[sim_rank()];
    int index;

    (void)statuses;
    *count = 0;
    for (int k = 0; k < n; k++)
        all[k] = requests[k];
    all[n] = *marker ? *marker : MPI_REQUEST_NULL;
    while ((index = wait_or_marker(n, all)) < n)
        which[(*count)++] = index;
    PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, marker);
    PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    for (int k = 0; k < n; k++)
        requests[k] = all[k];
    free(all);
    return MPI_SUCCESS;
}
