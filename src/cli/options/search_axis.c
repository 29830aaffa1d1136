#include "cli/options/search_axis.h"

#include <stdlib.h>

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
