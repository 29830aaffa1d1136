/* mae: (1/d) sum_j |y_j - p_j| of dense rows. */
#include <math.h>

#include "selection/metrics/losses.h"

static dkm_local mae_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                          double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++) {
        double sum = 0.0;
        for (dkm_idx j = i * y->d; j < (i + 1) * y->d; j++)
            sum += fabs(y->values[j] - p->values[j]);
        losses[i] = y->d > 0 ? sum / (double)y->d : 0.0;
    }
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_MAE) = {.types = DKM_TYPE_BIT(DKM_DENSE),
                                                     .rows = mae_rows};
