/* One row of a table of settings: its names, and the values that it takes. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/settings.h>

/* The place of a word in a list in which each is followed by '|'; -1 if it is not there. */
static int64_t place_in(const char *list, const char *word, size_t length)
{
    int64_t place = 0;

    for (const char *w = list; w && *w; w += strcspn(w, "|") + 1, place++)
        if (strcspn(w, "|") == length && strncmp(w, word, length) == 0)
            return place;
    return -1;
}

int dkm_setting_is_called(const dkm_setting *row, const char *name, size_t length)
{
    return (strlen(row->name) == length && strncmp(row->name, name, length) == 0) ||
           place_in(row->aliases, name, length) >= 0 || place_in(row->old_names, name, length) >= 0;
}

static int parse_real(const char *text, double *out)
{
    char *end;

    if (isspace((unsigned char)*text))
        return 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

/* An integer up to @p stop, a letter that must follow it. */
static int parse_integer(const char *text, char stop, int64_t *out, const char **rest)
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

    if (!parse_integer(text, 'x', &p, &second) || !parse_integer(second, '\0', &q, &rest))
        return 0;
    if (p < 1 || q < 1 || p > INT_MAX || q > INT_MAX)
        return 0;
    *P = (int)p;
    *Q = (int)q;
    return 1;
}

/* A number and the letter of its unit; without one it counts for itself. */
static int parse_with_unit(const char *text, const char *letters, const double *units, double *out)
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

    return parse_with_unit(text, "smhd", units, seconds);
}

static int parse_bytes(const char *text, double *bytes)
{
    static const double units[] = {1024.0, 1048576.0, 1073741824.0, 1099511627776.0};

    return parse_with_unit(text, "kMGT", units, bytes);
}

static int parse_choice(const dkm_setting *row, const char *text, int64_t *place)
{
    *place = place_in(row->choices, text, strlen(text));
    if (*place < 0)
        *place = place_in(row->old_choices, text, strlen(text));
    return *place >= 0;
}

static int parse_flag(const char *text, int64_t *set)
{
    *set = strcmp(text, "no") != 0;
    return strcmp(text, "no") == 0 || strcmp(text, "yes") == 0;
}

/* Whether the text is of the kind of the row, whatever the range. */
static int parse_kind(const dkm_setting *row, const char *text, dkm_value *value)
{
    const char *rest;

    switch (row->kind) {
    case DKM_SETTING_REAL:
        return parse_real(text, &value->real);
    case DKM_SETTING_INT:
        return parse_integer(text, '\0', &value->integer, &rest) && value->integer >= row->min &&
               (row->max == 0 || value->integer <= row->max);
    case DKM_SETTING_CHOICE:
        return parse_choice(row, text, &value->integer);
    case DKM_SETTING_GRID:
        return parse_grid(text, &value->P, &value->Q);
    case DKM_SETTING_BYTES:
        return parse_bytes(text, &value->real);
    case DKM_SETTING_TIME:
        return parse_time(text, &value->real);
    case DKM_SETTING_FLAG:
        return parse_flag(text, &value->integer);
    default:
        return *text != '\0';
    }
}

/* What the range of a row asks for; NULL where the number is within it. */
static const char *out_of_range(const dkm_setting *row, double number)
{
    int below_one = (row->flags & DKM_SETTING_BELOW_ONE) != 0;

    if ((row->flags & DKM_SETTING_POSITIVE) && (!(number > 0) || (below_one && !(number < 1))))
        return below_one ? "above 0 and below 1" : "> 0";
    if ((row->flags & DKM_SETTING_NONNEGATIVE) && !(number >= 0))
        return "0 or more";
    return NULL;
}

int dkm_setting_parse(const dkm_setting *row, const char *text, dkm_value *value)
{
    *value = (dkm_value){.text = text};
    return parse_kind(row, text, value) && !out_of_range(row, value->real);
}

static const char *metavar_of(const dkm_setting *row)
{
    return row->metavar ? row->metavar : "VALUE";
}

static void list_choices(const char *choices, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "one of");

    for (const char *w = choices; *w && used < size; w += strcspn(w, "|") + 1)
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", w == choices ? " " : ", ",
                                 (int)strcspn(w, "|"), w);
}

static void describe_kind(const dkm_setting *row, char *out, size_t size)
{
    switch (row->kind) {
    case DKM_SETTING_REAL:
        snprintf(out, size, "a number");
        break;
    case DKM_SETTING_INT:
        if (row->max == 0)
            snprintf(out, size, "an integer of at least %lld", (long long)row->min);
        else
            snprintf(out, size, "an integer from %lld to %lld", (long long)row->min,
                     (long long)row->max);
        break;
    case DKM_SETTING_CHOICE:
        list_choices(row->choices, out, size);
        break;
    case DKM_SETTING_GRID:
        snprintf(out, size, "%s, two integers such as 2x3", metavar_of(row));
        break;
    case DKM_SETTING_BYTES:
        snprintf(out, size, "an amount of memory such as 512M or 64G");
        break;
    case DKM_SETTING_TIME:
        snprintf(out, size, "a time such as 90s, 45m, 23.5h or 2d");
        break;
    case DKM_SETTING_FLAG:
        snprintf(out, size, "yes or no");
        break;
    default:
        snprintf(out, size, "%s", metavar_of(row));
    }
}

void dkm_setting_explain(const dkm_setting *row, const char *label, const char *text, char *out,
                         size_t size)
{
    char expected[200];
    dkm_value value = {0};

    if (parse_kind(row, text, &value) && out_of_range(row, value.real)) {
        snprintf(out, size, "%s must be %s, not %s", label, out_of_range(row, value.real), text);
        return;
    }
    describe_kind(row, expected, sizeof expected);
    snprintf(out, size, "%s expects %s, not '%s'", label, expected, text);
}
