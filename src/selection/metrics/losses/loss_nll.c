/* nll: the negative log likelihood -log p_c of the true class c under predicted probabilities, also
 * known as log loss. Probabilities are taken to be 2.2e-16 at least. The truth is the column of the
 * true class. */
#include <float.h>
#include <math.h>

#include "selection/metrics/losses.h"

static dkm_local nll_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                          double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++) {
        double probability = p->values[i * p->d + y->col[y->start[i]]];
        if (probability < 0 || probability > 1)
            return dkm_fail(truth->ctx, DKM_ERR_ARG,
                            "row %lld has %g where the loss nll takes probabilities: predict them "
                            "by --proba",
                            (long long)(truth->first + i), probability);
        losses[i] = -log(fmax(probability, DBL_EPSILON));
    }
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_NLL) = {.types = DKM_TYPE_BIT(DKM_DENSE) |
                                                              DKM_TYPE_BIT(DKM_LABELS),
                                                     .input = DKM_LOSS_OF_SCORES,
                                                     .rows = nll_rows};
