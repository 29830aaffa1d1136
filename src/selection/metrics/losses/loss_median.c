/* median: the median of |y - p| over the rows, per column. */
#include <math.h>
#include <stdlib.h>

#include "selection/metrics/losses.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_error(dkm_idx m, double *pairs, double *work)
{
    for (dkm_idx i = 0; i < m; i++)
        work[i] = fabs(pairs[2 * i] - pairs[2 * i + 1]);
    qsort(work, (size_t)m, sizeof *work, ascending);
    return 0.5 * (work[(m - 1) / 2] + work[m / 2]);
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_MEDIAN) = {.types = DKM_TYPE_BIT(DKM_DENSE),
                                                        .column = median_error};
