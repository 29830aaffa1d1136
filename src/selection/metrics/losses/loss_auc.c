/* auc: the area under the receiver operating characteristic, which is the share of pairs of a
 * positive and a negative row whose scores are in order, ties counting half (Mann and Whitney 1947):
 *
 *   AUC = (sum of the ranks of positives - p (p + 1) / 2) / (p (m - p))
 *
 * Per column, one class or label against the rest. */
#include <math.h>

#include "selection/metrics/losses.h"
#include "selection/metrics/ranks.h"

static double auc(dkm_idx m, double *pairs, double *work)
{
    double positives = 0, sum = 0;

    dkm_average_ranks(m, pairs + 1, work, work + m);
    for (dkm_idx i = 0; i < m; i++)
        if (pairs[2 * i] > 0) {
            positives++;
            sum += work[i];
        }
    if (positives == 0 || positives == (double)m)
        return NAN;
    return (sum - 0.5 * positives * (positives + 1)) / (positives * ((double)m - positives));
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_AUC) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS),
    .input = DKM_LOSS_OF_SCORES,
    .greater_is_better = 1,
    .column = auc};
