#include "cli/core/listener.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR = 30 };
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

dkm_listener listener_make(listener *l, int quiet, int verbose)
{
    *l = (listener){.most = quiet     ? DKM_WARN
                            : verbose ? DKM_DEBUG
                                      : DKM_INFO,
                    .quiet = quiet,
                    .terminal = isatty(STDERR_FILENO),
                    .next = MPI_Wtime() + FIRST_LINE};
    return (dkm_listener){.user = l, .message = show_message, .progress = show_progress};
}
