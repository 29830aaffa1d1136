/* average-precision: sum_n (R_n - R_{n-1}) P_n over the thresholds that occur among the scores, from
 * the greatest down, where P_n and R_n are precision and recall of the rows at or above the n-th.
 * Per column, one class or label against the rest. */
#include <math.h>
#include <stdlib.h>

#include "selection/metrics/losses.h"

static int by_score_descending(const void *a, const void *b)
{
    double x = ((const double *)a)[1], y = ((const double *)b)[1];

    return (x < y) - (x > y);
}

static double average_precision(dkm_idx m, double *pairs, double *work)
{
    double found = 0, sum = 0;

    (void)work;
    qsort(pairs, (size_t)m, 2 * sizeof *pairs, by_score_descending);
    for (dkm_idx first = 0, next = 0; first < m; first = next) {
        double before = found;
        for (; next < m && pairs[2 * next + 1] == pairs[2 * first + 1]; next++)
            found += pairs[2 * next] > 0;
        sum += (found - before) * found / (double)next;
    }
    return found > 0 ? sum / found : NAN;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_AVERAGE_PRECISION) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS),
    .input = DKM_LOSS_OF_SCORES,
    .greater_is_better = 1,
    .column = average_precision};
