/* largest: max_j |y_j - p_j| of dense rows. An example of a loss: see CONTRIBUTING.md. */
#include <math.h>

#include "selection/metrics/losses.h"

static dkm_local largest_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                              double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++) {
        losses[i] = 0;
        for (dkm_idx j = i * y->d; j < (i + 1) * y->d; j++)
            losses[i] = fmax(losses[i], fabs(y->values[j] - p->values[j]));
    }
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_LARGEST) = {.types = DKM_TYPE_BIT(DKM_DENSE),
                                                         .rows = largest_rows};
