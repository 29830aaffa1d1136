/* balanced-accuracy: the mean, over the classes that occur in the truth, of the share of its rows
 * that are predicted (the recall of the class). */
#include "selection/metrics/losses.h"

static double balanced_accuracy(const dkm_label_counts *c)
{
    double sum = 0, classes = 0;

    for (dkm_idx k = 0; k < c->distinct.count; k++)
        if (c->truth[k] > 0) {
            sum += (double)c->both[k] / (double)c->truth[k];
            classes++;
        }
    return classes > 0 ? sum / classes : 0.0;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_BALANCED_ACCURACY) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS),
    .input = DKM_LOSS_OF_LABELS,
    .greater_is_better = 1,
    .counts = balanced_accuracy};
