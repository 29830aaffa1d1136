#define _GNU_SOURCE /* for dladdr() and RTLD_DEFAULT */
#include "cli/profile/comm_counter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libdkmap_mpi_profiler.so"
#define STARTED "DKMAP_MPI_PROFILER" /* set in the second start, so that there is no third */

enum { PATH_LENGTH = 4096, PRELOAD_LENGTH = 2 * PATH_LENGTH };

dkm_comm_reader comm_counter_reader(void)
{
    dkm_comm_reader reader;
    void *found = dlsym(RTLD_DEFAULT, "dkmap_mpi_profiler_read");

    memcpy(&reader, &found, sizeof reader);
    return reader;
}

/* The library in the folder of @p file, or in another one beside it; whether it is there. */
static int comm_counter_beside(const char *file, const char *other, char *path)
{
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) : 1;

    snprintf(path, PATH_LENGTH, "%.*s/%s%s", folder, slash ? file : ".", other, LIBRARY);
    return access(path, R_OK) == 0;
}

/* Beside libdkmap, or where it would be seen from the command. */
static int comm_counter_find(const char *self, char *path)
{
    dkm_status (*create)(MPI_Comm, dkm_ctx **) = dkm_ctx_create;
    void *address;
    Dl_info info;

    memcpy(&address, &create, sizeof address);
    if (dladdr(address, &info) && info.dli_fname && comm_counter_beside(info.dli_fname, "", path))
        return 1;
    return comm_counter_beside(self, "", path) || comm_counter_beside(self, "../lib/", path) ||
           comm_counter_beside(self, "../lib64/", path);
}

void comm_counter_load(char **argv)
{
    char self[PATH_LENGTH] = "", path[PATH_LENGTH], preload[PRELOAD_LENGTH];
    const char *before = getenv("LD_PRELOAD");

    if (comm_counter_reader() || getenv(STARTED) ||
        readlink("/proc/self/exe", self, sizeof self - 1) < 0 || !comm_counter_find(self, path))
        return;
    if (snprintf(preload, sizeof preload, "%s%s%s", path, before ? ":" : "",
                 before ? before : "") >= (int)sizeof preload)
        return;
    setenv("LD_PRELOAD", preload, 1);
    setenv(STARTED, "1", 1);
    execv(self, argv);
    unsetenv("LD_PRELOAD"); /* it could not be started: without counts, then */
}
