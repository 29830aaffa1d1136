#include "selection/metrics/ranks.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* How many of the sorted numbers are below @p value, or not above it. */
static dkm_idx count_to(const double *sorted, dkm_idx m, double value, int equal)
{
    dkm_idx low = 0, high = m;

    while (low < high) {
        dkm_idx middle = (low + high) / 2;
        if (sorted[middle] < value || (equal && sorted[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void dkm_average_ranks(dkm_idx m, const double *values, double *ranks, double *work)
{
    for (dkm_idx i = 0; i < m; i++)
        work[i] = values[2 * i];
    qsort(work, (size_t)m, sizeof *work, by_value);
    for (dkm_idx i = 0; i < m; i++)
        ranks[i] = 0.5 * (double)(count_to(work, m, values[2 * i], 0) +
                                  count_to(work, m, values[2 * i], 1) + 1);
}
