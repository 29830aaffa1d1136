/* Faults of MPI, for LD_PRELOAD. The FAULT_N-th call of FAULT_CALL (Allreduce, Bcast, ...) on rank
 * FAULT_RANK fails as MPI's own do: the handler of the communicator is called, then the error is
 * returned. FAULT_HOW says whether it was done first (after) or not at all (before); with kill and
 * stop the rank ends or stops there. FAULT_DELAY makes every eighth call wait up to so many
 * microseconds, by FAULT_SEED. FAULT_LOG gets a line when the call is met. FAULT_COUNTS gets a line
 * "FUNCTION RANK CALLS" for each function, and for any, when a rank comes to MPI_Finalize. */
#define _GNU_SOURCE
#include "launched_rank.h"

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum fault { NONE, BEFORE, AFTER } fault;

/* Calls of a function so far; the functions that were called make a list. */
typedef struct tally {
    const char *name;
    int calls;
    struct tally *next;
} tally;

static tally any = {.name = "any"}, *tallies = &any;

static int begun, number, met, delay;
static unsigned random_state;
static const char *call, *how, *counts;
static MPI_Comm last; /* communicator of the last call that does not block */

static void begin(void)
{
    const char *rank = launched_rank(), *wanted = getenv("FAULT_RANK");
    const char *seed = getenv("FAULT_SEED"), *most = getenv("FAULT_DELAY");

    begun = 1;
    random_state = (unsigned)(rank ? atoi(rank) : 0) * 7919u + (seed ? (unsigned)atoi(seed) : 0u);
    delay = most ? atoi(most) : 0;
    number = getenv("FAULT_N") ? atoi(getenv("FAULT_N")) : 0;
    how = getenv("FAULT_HOW") ? getenv("FAULT_HOW") : "before";
    call = !wanted || !rank || strcmp(rank, wanted) == 0 ? getenv("FAULT_CALL") : NULL;
    counts = getenv("FAULT_COUNTS");
    last = MPI_COMM_WORLD;
}

static void wait_sometimes(void)
{
    struct timespec pause = {0, 0};

    if (!delay || rand_r(&random_state) % 8 != 0)
        return;
    pause.tv_nsec = (long)(rand_r(&random_state) % delay) * 1000L;
    nanosleep(&pause, NULL);
}

static void add_call(tally *t)
{
    if (t->calls++ == 0) {
        t->next = tallies;
        tallies = t;
    }
    any.calls++;
}

static fault meets(tally *t)
{
    FILE *note;

    if (!begun)
        begin();
    add_call(t);
    wait_sometimes();
    if (!call || (strcmp(call, t->name) != 0 && strcmp(call, "any") != 0) || ++met != number)
        return NONE;
    note = getenv("FAULT_LOG") ? fopen(getenv("FAULT_LOG"), "a") : NULL;
    if (note) {
        fprintf(note, "%s %d\n", t->name, number);
        fclose(note);
    }
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "stop") == 0)
        raise(SIGSTOP);
    return strcmp(how, "before") == 0 ? BEFORE : strcmp(how, "after") == 0 ? AFTER : NONE;
}

static int report(MPI_Comm comm)
{
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

/* Programs may have functions MPI_name of their own that call PMPI_name: both lead here, and the
 * second of them is not counted again. */
static int depth;

#define CALL(name, parameters, arguments, comm)                                                    \
    int PMPI_##name parameters;                                                                    \
    int PMPI_##name parameters                                                                     \
    {                                                                                              \
        static int(*real) parameters;                                                              \
        MPI_Comm used = comm;                                                                      \
        static tally made = {#name, 0, NULL};                                                      \
        fault f = depth > 0 ? NONE : meets(&made);                                                 \
        int outcome;                                                                               \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, "PMPI_" #name);                                     \
        if (f == BEFORE)                                                                           \
            return report(used);                                                                   \
        depth++;                                                                                   \
        outcome = real arguments;                                                                  \
        depth--;                                                                                   \
        return f == AFTER ? report(used) : outcome;                                                \
    }                                                                                              \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        return PMPI_##name arguments;                                                              \
    }

#define AT_ONCE(name, parameters, arguments) CALL(name, parameters, arguments, m)
#define LATER(name, parameters, arguments)   CALL(name, parameters, arguments, (last = m))
#define WAITING(name, parameters, arguments) CALL(name, parameters, arguments, last)
#define LOCAL(name, parameters, arguments)   CALL(name, parameters, arguments, MPI_COMM_WORLD)

AT_ONCE(Barrier, (MPI_Comm m), (m))
AT_ONCE(Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m),
        (a, b, n, t, o, m))
AT_ONCE(Reduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm m),
        (a, b, n, t, o, r, m))
AT_ONCE(Reduce_scatter,
        (const void *a, void *b, const int n[], MPI_Datatype t, MPI_Op o, MPI_Comm m),
        (a, b, n, t, o, m))
AT_ONCE(Scan, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m),
        (a, b, n, t, o, m))
AT_ONCE(Exscan, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m),
        (a, b, n, t, o, m))
AT_ONCE(Bcast, (void *a, int n, MPI_Datatype t, int r, MPI_Comm m), (a, n, t, r, m))
AT_ONCE(Allgather,
        (const void *a, int n, MPI_Datatype t, void *b, int k, MPI_Datatype u, MPI_Comm m),
        (a, n, t, b, k, u, m))
AT_ONCE(Allgatherv,
        (const void *a, int n, MPI_Datatype t, void *b, const int k[], const int s[],
         MPI_Datatype u, MPI_Comm m),
        (a, n, t, b, k, s, u, m))
AT_ONCE(Gatherv,
        (const void *a, int n, MPI_Datatype t, void *b, const int k[], const int s[],
         MPI_Datatype u, int r, MPI_Comm m),
        (a, n, t, b, k, s, u, r, m))
AT_ONCE(Scatterv,
        (const void *a, const int k[], const int s[], MPI_Datatype t, void *b, int n,
         MPI_Datatype u, int r, MPI_Comm m),
        (a, k, s, t, b, n, u, r, m))
AT_ONCE(Alltoall,
        (const void *a, int n, MPI_Datatype t, void *b, int k, MPI_Datatype u, MPI_Comm m),
        (a, n, t, b, k, u, m))
AT_ONCE(Alltoallv,
        (const void *a, const int n[], const int s[], MPI_Datatype t, void *b, const int k[],
         const int v[], MPI_Datatype u, MPI_Comm m),
        (a, n, s, t, b, k, v, u, m))
AT_ONCE(Send, (const void *a, int n, MPI_Datatype t, int r, int g, MPI_Comm m), (a, n, t, r, g, m))
AT_ONCE(Recv, (void *a, int n, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Status *s),
        (a, n, t, r, g, m, s))
AT_ONCE(Sendrecv,
        (const void *a, int n, MPI_Datatype t, int to, int g, void *b, int k, MPI_Datatype u,
         int from, int h, MPI_Comm m, MPI_Status *s),
        (a, n, t, to, g, b, k, u, from, h, m, s))
AT_ONCE(Comm_dup, (MPI_Comm m, MPI_Comm *out), (m, out))
AT_ONCE(Comm_split, (MPI_Comm m, int color, int key, MPI_Comm *out), (m, color, key, out))
AT_ONCE(Comm_split_type, (MPI_Comm m, int type, int key, MPI_Info info, MPI_Comm *out),
        (m, type, key, info, out))
LATER(Isend, (const void *a, int n, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Request *q),
      (a, n, t, r, g, m, q))
LATER(Irecv, (void *a, int n, MPI_Datatype t, int r, int g, MPI_Comm m, MPI_Request *q),
      (a, n, t, r, g, m, q))
LATER(Ibcast, (void *a, int n, MPI_Datatype t, int r, MPI_Comm m, MPI_Request *q),
      (a, n, t, r, m, q))
LATER(Iallgatherv,
      (const void *a, int n, MPI_Datatype t, void *b, const int k[], const int s[], MPI_Datatype u,
       MPI_Comm m, MPI_Request *q),
      (a, n, t, b, k, s, u, m, q))
WAITING(Wait, (MPI_Request * q, MPI_Status *s), (q, s))
WAITING(Waitall, (int n, MPI_Request q[], MPI_Status s[]), (n, q, s))
WAITING(Testall, (int n, MPI_Request q[], int *done, MPI_Status s[]), (n, q, done, s))
WAITING(Waitsome, (int n, MPI_Request q[], int *done, int which[], MPI_Status s[]),
        (n, q, done, which, s))
WAITING(Testsome, (int n, MPI_Request q[], int *done, int which[], MPI_Status s[]),
        (n, q, done, which, s))
AT_ONCE(Rsend, (const void *a, int n, MPI_Datatype t, int r, int g, MPI_Comm m), (a, n, t, r, g, m))
AT_ONCE(Comm_create, (MPI_Comm m, MPI_Group group, MPI_Comm *out), (m, group, out))
AT_ONCE(Comm_group, (MPI_Comm m, MPI_Group *out), (m, out))
AT_ONCE(Comm_set_attr, (MPI_Comm m, int key, void *value), (m, key, value))
LOCAL(Group_incl, (MPI_Group g, int n, const int r[], MPI_Group *out), (g, n, r, out))
LOCAL(Op_create, (MPI_User_function * g, int commutes, MPI_Op *out), (g, commutes, out))
LOCAL(Type_contiguous, (int n, MPI_Datatype u, MPI_Datatype *out), (n, u, out))
LOCAL(Type_vector, (int n, int k, int stride, MPI_Datatype u, MPI_Datatype *out),
      (n, k, stride, u, out))
LOCAL(Type_commit, (MPI_Datatype * u), (u))

int MPI_Finalize(void)
{
    const char *rank = launched_rank();
    FILE *out = counts ? fopen(counts, "a") : NULL;

    for (const tally *t = tallies; t && out; t = t->next)
        fprintf(out, "%s %s %d\n", t->name, rank ? rank : "0", t->calls);
    if (out)
        fclose(out);
    return PMPI_Finalize();
}
