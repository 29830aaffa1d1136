#include "cli/core/range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int range_parse(const char *text, range *out)
{
    char *end;
    long count;

    out->first = strtod(text, &end);
    if (end == text || *end != ':')
        return 0;
    text = end + 1;
    out->last = strtod(text, &end);
    if (end == text || *end != ':')
        return 0;
    text = end + 1;
    count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 2 || count > RANGE_COUNT_MAX)
        return 0;
    out->count = (int)count;
    return out->first > 0 && out->last > 0 && isfinite(out->first) && isfinite(out->last) &&
           out->first != out->last;
}

void range_at(const range *r, double place, int integers, char *text)
{
    double v = place <= 0   ? r->first
               : place >= 1 ? r->last
                            : r->first * exp(place * log(r->last / r->first));

    snprintf(text, RANGE_TEXT, "%.6g", integers ? rint(v) : v);
}

int range_expand(const range *r, int integers, char **texts)
{
    int used = 0;

    *texts = calloc((size_t)r->count, RANGE_TEXT);
    for (int k = 0; *texts && k < r->count; k++) {
        char *text = *texts + (size_t)used * RANGE_TEXT;
        range_at(r, (double)k / (r->count - 1), integers, text);
        used += used == 0 || strcmp(text, text - RANGE_TEXT) != 0;
    }
    return used;
}
