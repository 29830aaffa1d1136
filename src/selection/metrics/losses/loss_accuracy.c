/* accuracy: the share of rows that are predicted exactly, 1 - zero-one. Of label sets that is the
 * subset accuracy. */
#include "selection/metrics/losses.h"

static dkm_local accuracy_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                               double *losses)
{
    dkm_local local = dkm_loss_rows(truth, pred, DKM_LOSS_ZERO_ONE, labels, losses);

    for (dkm_idx i = 0; local.code == DKM_OK && i < truth->mine.n; i++)
        losses[i] = 1.0 - losses[i];
    return local;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_ACCURACY) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS) |
             DKM_TYPE_BIT(DKM_STRINGS) | DKM_TYPE_BIT(DKM_SETS),
    .greater_is_better = 1,
    .rows = accuracy_rows};
