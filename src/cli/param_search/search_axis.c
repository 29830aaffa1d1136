#include "cli/param_search/search_axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int search_axis_has_range(const search_axis *axis)
{
    for (int k = 0; k < axis->count; k++)
        if (axis->value[k].range)
            return 1;
    return 0;
}

const char *search_axis_draw(const search_axis *axis, double u, char *made)
{
    int k = (int)(u * axis->count), first = k, last = k;
    range ends;

    if (!axis->value[k].range)
        return axis->value[k].text;
    while (first > 0 && axis->value[first - 1].range == axis->value[k].range)
        first--;
    while (last + 1 < axis->count && axis->value[last + 1].range == axis->value[k].range)
        last++;
    ends = (range){strtod(axis->value[first].text, NULL), strtod(axis->value[last].text, NULL),
                   last - first + 1};
    range_at(&ends, (u * axis->count - first) / ends.count, axis->integers, made);
    return made;
}

void search_axis_add_end(const search_axis *axis, const char *taken, const char *sign, char *names,
                         size_t size)
{
    size_t used = strlen(names);

    if (axis->count >= 3 &&
        (taken == axis->value[0].text || taken == axis->value[axis->count - 1].text))
        snprintf(names + used, size - used, "%s%s%s", used > 0 ? " and of " : "", sign, axis->name);
}
