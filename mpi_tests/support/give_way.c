/* For LD_PRELOAD, where ranks of MPICH are more than cores: a rank that waits gives its core away, and sleeps when
 * nothing has come for a while. Debian's MPICH polls UCX without a pause, whatever MPIR_CVAR_POLLS_BEFORE_YIELD says,
 * so that every message costs the others a slice of time: tests on three ranks of two cores took fifty times as long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { PATIENCE = 2, NAP_NS = 20000 }; /* polls without events before naps, and their length */

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *worker);
    static int idle;
    const struct timespec nap = {0, NAP_NS};
    void *found;
    unsigned events;

    if (!real) {
        found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (!found) /* MPI was loaded later, by Python */
            found = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
        memcpy(&real, &found, sizeof real);
    }
    events = real(worker);
    idle = events > 0 ? 0 : idle + 1;
    if (idle > PATIENCE) {
        idle = PATIENCE;
        nanosleep(&nap, NULL);
    } else if (events == 0)
        sched_yield();
    return events;
}
