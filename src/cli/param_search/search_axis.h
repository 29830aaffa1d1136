/** @file search_axis.h  What one option, or one name of --try, takes in a search over settings. */
#ifndef DKMAP_CLI_PARAM_SEARCH_SEARCH_AXIS_H
#define DKMAP_CLI_PARAM_SEARCH_SEARCH_AXIS_H

#include <stddef.h>

#include "cli/core/range.h"

typedef struct axis_value {
    const char *text;
    int range; /**< values of one range have one number, > 0, and follow each other; 0: none */
} axis_value;

typedef struct search_axis {
    const char *name;
    int integers; /**< values between those of a range are integers */
    int count;
    axis_value *value;
} search_axis;

/** Whether any value comes from a range. Local. */
int search_axis_has_range(const search_axis *axis);

/** A value for @p u in [0, 1): each of those listed with the same probability, where those of a
 *  range stand for all between its ends, evenly in their logarithms. Local.
 *  @param[out] made  RANGE_TEXT bytes, for a value that is not listed
 *  @return the value: one of the axis, or @p made */
const char *search_axis_draw(const search_axis *axis, double u, char *made);

/** Add the name to a list of names if @p taken is the first or last of three or more values. Local.
 *  @param[in]     sign   before the name
 *  @param[in,out] names  at most @p size bytes */
void search_axis_add_end(const search_axis *axis, const char *taken, const char *sign, char *names,
                         size_t size);

#endif
