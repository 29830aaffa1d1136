/* For LD_PRELOAD, where ranks are many more than the cores: a rank that waits sleeps. Open MPI looks for
 * messages without end and yields its core between two looks (mpi_yield_when_idle), or sleeps for
 * 0.1 ms while ranks start: hundreds of such ranks leave little of a core to the one that has work. Here
 * each wait within 1 ms of the last is twice as long, 1.5 ms at most, 20 ms while ranks start. */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { SHORTEST = 20000, LONGEST = 1500000, LONGEST_START = 20000000, AT_ONCE = 1000000 }; /* ns */

static long long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void wait_longer(long most)
{
    static _Thread_local long long woke;
    static _Thread_local long length = SHORTEST;
    struct timespec t = {0, 0};

    length = now() - woke < AT_ONCE ? 2 * length : SHORTEST;
    length = length > most ? most : length;
    t.tv_nsec = length;
    nanosleep(&t, NULL);
    woke = now();
}

int sched_yield(void)
{
    wait_longer(LONGEST);
    return 0;
}

int usleep(useconds_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000L};

    if (us > 1000)
        return nanosleep(&t, NULL);
    wait_longer(LONGEST_START);
    return 0;
}
