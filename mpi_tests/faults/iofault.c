/* Faults of files, for LD_PRELOAD. The FAULT_N-th call of FAULT_CALL (open, read, pread, write,
 * pwrite, fsync, rename or unlink; all that are alike count together) on a file below FAULT_UNDER
 * fails with FAULT_ERROR (EIO, ENOSPC, EINTR), moves half of what was asked for (SHORT), or is not
 * made, as the process is killed before it (KILL); on the rank FAULT_RANK, or on all without it.
 * FAULT_LOG gets a line when the call is met. FAULT_COUNTS gets
 * a line "CALL RANK CALLS" for each kind of calls when the rank ends. */
#define _GNU_SOURCE
#include "launched_rank.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { UNREAD, OFF, ON };
enum { SHORT_COUNT = -1, KILLED = -2 };

static const char *const kinds[] = {"open",   "read",  "pread",  "write",
                                    "pwrite", "fsync", "rename", "unlink"};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int state, number, calls[KINDS], error;
static const char *call, *under, *note;

static int error_named(const char *name)
{
    return !name || strcmp(name, "EIO") == 0 ? EIO
           : strcmp(name, "ENOSPC") == 0     ? ENOSPC
           : strcmp(name, "EINTR") == 0      ? EINTR
           : strcmp(name, "KILL") == 0       ? KILLED
                                             : SHORT_COUNT;
}

static int is_on(void)
{
    const char *rank = launched_rank(), *wanted = getenv("FAULT_RANK");

    if (state != UNREAD)
        return state == ON;
    call = getenv("FAULT_CALL");
    under = getenv("FAULT_UNDER");
    note = getenv("FAULT_LOG");
    number = getenv("FAULT_N") ? atoi(getenv("FAULT_N")) : 0;
    error = error_named(getenv("FAULT_ERROR"));
    state = call && under && (!wanted || !rank || strcmp(rank, wanted) == 0) ? ON : OFF;
    return state == ON;
}

static int is_under(const char *path)
{
    char whole[PATH_MAX + 2];

    if (path[0] == '/')
        return strncmp(path, under, strlen(under)) == 0;
    return getcwd(whole, sizeof whole) && strncmp(whole, under, strlen(under)) == 0;
}

static int is_file_under(int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return 0;
    path[length] = '\0';
    return strncmp(path, under, strlen(under)) == 0;
}

/* Open a file for lines at its end, by none of the calls that are counted. */
static int open_notes(const char *path)
{
    return path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT, 0644)
                : -1;
}

/* Whether this is the call that fails. */
static int hits(const char *name, int concerned)
{
    int k = 0, fd;

    if (!is_on() || !concerned)
        return 0;
    while (k < KINDS - 1 && strcmp(kinds[k], name) != 0)
        k++;
    if (++calls[k] != number || strcmp(name, call) != 0)
        return 0;
    fd = open_notes(note);
    if (fd >= 0) {
        dprintf(fd, "%s %d\n", name, number);
        close(fd);
    }
    if (error == KILLED)
        raise(SIGKILL);
    return 1;
}

__attribute__((destructor)) static void print_counts(void)
{
    const char *rank = launched_rank();
    int fd = is_on() ? open_notes(getenv("FAULT_COUNTS")) : -1;

    for (int k = 0; k < KINDS && fd >= 0; k++)
        dprintf(fd, "%s %s %d\n", kinds[k], rank ? rank : "0", calls[k]);
}

#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real)                                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

#define MOVING(name, alike, parameters, full, half)                                                \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!is_on() || !hits(alike, is_file_under(fd)))                                           \
            return real full;                                                                      \
        if (error == SHORT_COUNT)                                                                  \
            return real half;                                                                      \
        errno = error;                                                                             \
        return -1;                                                                                 \
    }

MOVING(read, "read", (int fd, void *to, size_t n), (fd, to, n), (fd, to, n > 1 ? n / 2 : n))
MOVING(write, "write", (int fd, const void *from, size_t n), (fd, from, n),
       (fd, from, n > 1 ? n / 2 : n))
MOVING(pread, "pread", (int fd, void *to, size_t n, off_t at), (fd, to, n, at),
       (fd, to, n > 1 ? n / 2 : n, at))
MOVING(pread64, "pread", (int fd, void *to, size_t n, off64_t at), (fd, to, n, at),
       (fd, to, n > 1 ? n / 2 : n, at))
MOVING(pwrite, "pwrite", (int fd, const void *from, size_t n, off_t at), (fd, from, n, at),
       (fd, from, n > 1 ? n / 2 : n, at))
MOVING(pwrite64, "pwrite", (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at),
       (fd, from, n > 1 ? n / 2 : n, at))

static int fails(void)
{
    errno = error == SHORT_COUNT ? EIO : error;
    return -1;
}

int fsync(int fd)
{
    REAL(fsync);
    return is_on() && hits("fsync", is_file_under(fd)) ? fails() : real(fd);
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return is_on() && hits("rename", is_under(from)) ? fails() : real(from, to);
}

int unlink(const char *path)
{
    REAL(unlink);
    return is_on() && hits("unlink", is_under(path)) ? fails() : real(path);
}

#define OPENING(name)                                                                              \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        va_list rest;                                                                              \
        REAL(name);                                                                                \
        va_start(rest, flags);                                                                     \
        if (flags & (O_CREAT | O_TMPFILE))                                                         \
            mode = va_arg(rest, mode_t);                                                           \
        va_end(rest);                                                                              \
        return is_on() && hits("open", is_under(path)) ? fails() : real(path, flags, mode);        \
    }

OPENING(open)
OPENING(open64)

#define STREAM(name)                                                                               \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!is_on() || !hits("open", is_under(path)))                                             \
            return real(path, mode);                                                               \
        fails();                                                                                   \
        return NULL;                                                                               \
    }

STREAM(fopen)
STREAM(fopen64)
