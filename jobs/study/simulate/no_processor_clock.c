/* For LD_PRELOAD: SMPI reads the processor's clock twice in every call of MPI, for computations that it would
 * time itself. Nothing here is timed so, and the system calls are a fifth of a simulation. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID)
        return (int)syscall(SYS_clock_gettime, id, t);
    *t = (struct timespec){0};
    return 0;
}
