#include "cli/core/listener.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30, ANCESTORS = 3 };
static const double FIRST_LINE = 10.0, NEXT_LINE = 30.0; /* seconds */

void listener_clear(listener *l)
{
    if (l->drawn)
        fputs("\r\033[K", stderr);
    l->drawn = 0;
}

static void show_message(void *user, dkm_level level, const char *text)
{
    listener *l = user;

    if (level > l->most)
        return;
    listener_clear(l);
    fprintf(stderr, "dkmap: %s%s\n", level == DKM_WARN ? "warning: " : "", text);
}

/* ", 2 min 5 s left", or nothing when unknown. */
static void write_left(char *out, size_t size, double left)
{
    long long s = left >= 0 && left < 1e9 ? (long long)(left + 0.5) : -1;

    if (s < 0)
        snprintf(out, size, "%s", "");
    else if (s < 60)
        snprintf(out, size, ", %lld s left", s);
    else if (s < 3600)
        snprintf(out, size, ", %lld min %lld s left", s / 60, s % 60);
    else
        snprintf(out, size, ", %lld h %lld min left", s / 3600, s % 3600 / 60);
}

static void show_progress(void *user, const char *phase, double fraction, double left)
{
    listener *l = user;
    double now = MPI_Wtime();
    char bar[BAR + 1], rest[64];

    if (l->quiet || (!l->terminal && (now < l->next || fraction <= 0)))
        return;
    write_left(rest, sizeof rest, left);
    if (!l->terminal) {
        fprintf(stderr, "dkmap: %s %.0f %%%s\n", phase, 100 * fraction, rest);
        l->next = now + NEXT_LINE;
        return;
    }
    for (int k = 0; k < BAR; k++)
        bar[k] = k < fraction * BAR ? '=' : ' ';
    bar[BAR] = '\0';
    fprintf(stderr, "\r\033[K%-12s [%s] %3.0f %%%s", phase, bar, 100 * fraction, rest);
    l->drawn = 1;
}

/* The name and the parent of a process. @return 0 where it cannot be asked */
static int look_at_process(long process, char name[64], long *parent)
{
    char path[64];
    FILE *file;
    int found;

    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    file = fopen(path, "r");
    found = file && fscanf(file, "%*d (%63[^)]) %*c %ld", name, parent) == 2;
    if (file)
        fclose(file);
    return found;
}

static int is_launcher(const char *name)
{
    return strstr(name, "mpi") || strstr(name, "orte") || strstr(name, "prte") ||
           strstr(name, "hydra");
}

static int has_terminal(long process)
{
    char path[64], target[64];
    ssize_t length;

    snprintf(path, sizeof path, "/proc/%ld/fd/2", process);
    length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0;
}

/* A launcher hands the errors of ranks on through pipes. Where it runs above this rank, and writes them
 * to a terminal, a bar is drawn there all the same. */
static int launcher_has_terminal(void)
{
    long process = (long)getppid(), parent;
    char name[64];

    for (int k = 0; k < ANCESTORS && look_at_process(process, name, &parent); k++) {
        if (!is_launcher(name))
            return 0;
        if (has_terminal(process))
            return 1;
        process = parent;
    }
    return 0;
}

dkm_listener listener_make(listener *l, int quiet, int verbose)
{
    *l = (listener){.most = quiet     ? DKM_WARN
                            : verbose ? DKM_DEBUG
                                      : DKM_INFO,
                    .quiet = quiet,
                    .terminal = isatty(STDERR_FILENO) || launcher_has_terminal(),
                    .next = MPI_Wtime() + FIRST_LINE};
    return (dkm_listener){.user = l, .message = show_message, .progress = show_progress};
}
