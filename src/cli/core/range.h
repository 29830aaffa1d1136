/** @file range.h  Ranges of values, written FIRST:LAST:COUNT: 1e-3:1e3:7 stands for
 *  0.001,0.01,0.1,1,10,100,1000.
 *
 *  Values are spaced evenly in their logarithms and rounded to six digits, so that they read as
 *  they would be typed.
 */
#ifndef DKMAP_CLI_CORE_RANGE_H
#define DKMAP_CLI_CORE_RANGE_H

#include <stddef.h>

enum { RANGE_TEXT = 32, RANGE_COUNT_MAX = 10000 };

typedef struct range {
    double first, last; /**< both > 0 */
    int count;          /**< at least 2 */
} range;

/** Read a range. Local.
 *  @return 1, or 0 where @p text is none */
int range_parse(const char *text, range *out);

/** The value at @p place, from 0 for the first to 1 for the last. Local.
 *  @param[in]  integers  round it to an integer
 *  @param[out] text   RANGE_TEXT bytes */
void range_at(const range *r, double place, int integers, char *text);

/** All values in order, each once; integers may be fewer than the count. Local.
 *  @param[out] texts  new, for free(): RANGE_TEXT bytes each
 *  @return how many; 0 when there is no memory */
int range_expand(const range *r, int integers, char **texts);

#endif
