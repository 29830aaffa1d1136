/* r2: 1 - sum (y - p)^2 / sum (y - mean(y))^2, per column. Of a truth that does not vary it is 1 for
 * exact predictions and 0 for others. */
#include "selection/metrics/losses.h"

static double r2(dkm_idx m, double *pairs, double *work)
{
    double mean = 0, spread = 0, error = 0;

    (void)work;
    for (dkm_idx i = 0; i < m; i++)
        mean += pairs[2 * i] / (double)m;
    for (dkm_idx i = 0; i < m; i++) {
        double y = pairs[2 * i], gap = y - pairs[2 * i + 1];
        spread += (y - mean) * (y - mean);
        error += gap * gap;
    }
    if (spread > 0)
        return 1.0 - error / spread;
    return error > 0 ? 0.0 : 1.0;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_R2) = {
    .types = DKM_TYPE_BIT(DKM_DENSE), .greater_is_better = 1, .column = r2};
