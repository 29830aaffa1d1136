#include "cli/core/value.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_real(const char *text, double *out)
{
    char *end;

    if (isspace((unsigned char)*text))
        return 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

/* An integer up to @p stop, a letter that must follow it. */
static int parse_whole(const char *text, char stop, int64_t *out, const char **rest)
{
    char *end;
    long long read;

    if (isspace((unsigned char)*text))
        return 0;
    errno = 0;
    read = strtoll(text, &end, 10);
    *out = read;
    *rest = end + 1;
    return end != text && *end == stop && errno == 0;
}

static int parse_grid(const char *text, int *P, int *Q)
{
    int64_t p, q;
    const char *second, *rest;

    if (!parse_whole(text, 'x', &p, &second) || !parse_whole(second, '\0', &q, &rest))
        return 0;
    if (p < 1 || q < 1 || p > INT_MAX || q > INT_MAX)
        return 0;
    *P = (int)p;
    *Q = (int)q;
    return 1;
}

/* A number and the letter of its unit; without one it counts for itself. */
static int parse_united(const char *text, const char *letters, const double *units, double *out)
{
    char *end;
    const char *unit;

    if (isspace((unsigned char)*text))
        return 0;
    *out = strtod(text, &end);
    unit = *end ? strchr(letters, *end) : NULL;
    if (unit)
        *out *= units[unit - letters];
    return end != text && end[unit != NULL] == '\0' && isfinite(*out) && *out >= 0;
}

static int parse_time(const char *text, double *seconds)
{
    static const double units[] = {1.0, 60.0, 3600.0, 86400.0};

    return parse_united(text, "smhd", units, seconds);
}

static int parse_bytes(const char *text, double *bytes)
{
    static const double units[] = {1024.0, 1048576.0, 1073741824.0, 1099511627776.0};

    return parse_united(text, "kMGT", units, bytes);
}

static int parse_word(const char *choices, const char *text, int64_t *place)
{
    size_t length = strlen(text);

    *place = 0;
    for (const char *w = choices; *w; w += strcspn(w, "|") + 1, ++*place)
        if (strcspn(w, "|") == length && strncmp(w, text, length) == 0)
            return 1;
    return 0;
}

int value_parse(const option *o, const char *text, value *v)
{
    const char *rest;

    *v = (value){.option = o, .text = text};
    switch (o->kind) {
    case OPT_TEXT:
        return *text != '\0';
    case OPT_REAL:
        return parse_real(text, &v->real);
    case OPT_WHOLE:
        return parse_whole(text, '\0', &v->whole, &rest) && v->whole >= o->least &&
               (o->most == 0 || v->whole <= o->most);
    case OPT_WORD:
        return parse_word(o->choices, text, &v->whole);
    case OPT_GRID:
        return parse_grid(text, &v->P, &v->Q);
    case OPT_BYTES:
        return parse_bytes(text, &v->real);
    case OPT_TIME:
        return parse_time(text, &v->real);
    case OPT_FLAG:
        return 1;
    }
    return 0;
}

static void list_words(const char *choices, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "one of");

    for (const char *w = choices; *w && used < size; w += strcspn(w, "|") + 1)
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", w == choices ? " " : ", ",
                                 (int)strcspn(w, "|"), w);
}

void value_expected(const option *o, char *out, size_t size)
{
    switch (o->kind) {
    case OPT_REAL:
        snprintf(out, size, "a number");
        break;
    case OPT_WHOLE:
        if (o->most == 0)
            snprintf(out, size, "a whole number of at least %lld", (long long)o->least);
        else
            snprintf(out, size, "a whole number from %lld to %lld", (long long)o->least,
                     (long long)o->most);
        break;
    case OPT_WORD:
        list_words(o->choices, out, size);
        break;
    case OPT_GRID:
        snprintf(out, size, "%s, two whole numbers such as 2x3", option_hint(o));
        break;
    case OPT_BYTES:
        snprintf(out, size, "an amount of memory such as 512M or 64G");
        break;
    case OPT_TIME:
        snprintf(out, size, "a time such as 90s, 45m, 23.5h or 2d");
        break;
    default:
        snprintf(out, size, "%s", option_hint(o));
    }
}
