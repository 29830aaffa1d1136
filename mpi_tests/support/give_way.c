/* For LD_PRELOAD, where ranks of MPICH are more than cores: a rank that waits gives its core away. Debian's MPICH
 * polls UCX without a pause, whatever MPIR_CVAR_POLLS_BEFORE_YIELD says, so that every message costs the others a
 * slice of time: tests on three ranks of two cores took fifty times as long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *worker);
    void *found;
    unsigned events;

    if (!real) {
        found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        memcpy(&real, &found, sizeof real);
    }
    events = real(worker);
    if (events == 0)
        sched_yield();
    return events;
}
