#include "comm/allreduce.h"

#include <dkmap/grid.h>

#include "core/mpi_calls.h"

enum { TAG_HALVES = 74 };

#define SHORT 256 /* numbers: below it latency counts, and MPI_Allreduce() knows best */

static void exchange(double *out, dkm_idx sent, double *in, dkm_idx received, int with,
                     MPI_Comm comm)
{
    MPI_Sendrecv(out, (int)sent, MPI_DOUBLE, with, TAG_HALVES, in, (int)received, MPI_DOUBLE, with,
                 TAG_HALVES, comm, MPI_STATUS_IGNORE);
}

static void add(dkm_idx n, const double *from, double *to)
{
    for (dkm_idx k = 0; k < n; k++)
        to[k] += from[k];
}

/* A step between two groups of @p half neighboring ranks that share the sums of a range of numbers:
 * whom a rank meets, and the numbers of its own group and of the other. */
typedef struct halving {
    int with;
    dkm_idx mine, count, theirs, others;
} halving;

static halving halving_of(dkm_idx n, int rank, int ranks, int half)
{
    int low = rank / (2 * half) * 2 * half, upper = rank >= low + half;
    dkm_idx first = dkm_slab_first(n, low, ranks), cut = dkm_slab_first(n, low + half, ranks),
            end = dkm_slab_first(n, low + 2 * half, ranks);

    if (upper)
        return (halving){rank - half, cut, end - cut, first, cut - first};
    return (halving){rank + half, first, cut - first, cut, end - cut};
}

/* Among 2^k ranks: halve the ranks and the array until each rank has the sum of its slab; then the
 * other way round. */
static void sum_among(double *a, dkm_idx n, double *work, int rank, int ranks, MPI_Comm comm)
{
    for (int half = ranks / 2; half > 0; half /= 2) {
        halving h = halving_of(n, rank, ranks, half);
        exchange(a + h.theirs, h.others, work, h.count, h.with, comm);
        add(h.count, work, a + h.mine);
    }
    for (int half = 1; half < ranks; half *= 2) {
        halving h = halving_of(n, rank, ranks, half);
        exchange(a + h.mine, h.count, a + h.theirs, h.others, h.with, comm);
    }
}

void dkm_allreduce_sum(double *a, dkm_idx n, double *work, MPI_Comm comm)
{
    int rank = 0, size = 1, power = 1;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (2 * power <= size)
        power *= 2;
    if (!work || n < SHORT || n < 2 * size || n > DKM_MPI_MOST || size == 1) {
        dkm_mpi_allreduce(a, n, MPI_DOUBLE, MPI_SUM, comm);
        return;
    }
    if (rank >= power)
        MPI_Send(a, (int)n, MPI_DOUBLE, rank - power, TAG_HALVES, comm);
    else if (rank + power < size) {
        MPI_Recv(work, (int)n, MPI_DOUBLE, rank + power, TAG_HALVES, comm, MPI_STATUS_IGNORE);
        add(n, work, a);
    }
    if (rank < power)
        sum_among(a, n, work, rank, power, comm);
    if (rank >= power)
        MPI_Recv(a, (int)n, MPI_DOUBLE, rank - power, TAG_HALVES, comm, MPI_STATUS_IGNORE);
    else if (rank + power < size)
        MPI_Send(a, (int)n, MPI_DOUBLE, rank + power, TAG_HALVES, comm);
}
