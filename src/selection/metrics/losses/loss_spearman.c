/* spearman: the correlation of the ranks of truth and predictions, equal numbers sharing their mean
 * rank; 0 for predictions that are all equal. Per column. */
#include <math.h>

#include "selection/metrics/losses.h"
#include "selection/metrics/ranks.h"

static double spearman(dkm_idx m, double *pairs, double *work)
{
    double middle = 0.5 * (double)(m + 1), yy = 0, pp = 0, yp = 0;

    dkm_average_ranks(m, pairs, work, work + m);
    for (dkm_idx i = 0; i < m; i++)
        pairs[2 * i] = work[i] - middle;
    dkm_average_ranks(m, pairs + 1, work, work + m);
    for (dkm_idx i = 0; i < m; i++) {
        double y = pairs[2 * i], p = work[i] - middle;
        yy += y * y;
        pp += p * p;
        yp += y * p;
    }
    if (yy == 0)
        return NAN;
    return pp > 0 ? yp / sqrt(yy * pp) : 0.0;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_SPEARMAN) = {
    .types = DKM_TYPE_BIT(DKM_DENSE), .greater_is_better = 1, .column = spearman};
