/* recall, recall-macro, recall-examples: |Y and P| / |Y| over all labels, per label or per example. */
#include "selection/metrics/losses.h"

#define LABEL_TYPES                                                                                \
    (DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS))

static double recall_micro(const dkm_label_counts *c)
{
    return dkm_label_ratio_micro(c, 1.0, 0.0);
}

static double recall_macro(const dkm_label_counts *c)
{
    return dkm_label_ratio_macro(c, 1.0, 0.0);
}

static dkm_local recall_examples(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                                 double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++) {
        dkm_idx n = dkm_loss_length(y, i), m = dkm_loss_length(p, i);
        double both =
            (double)dkm_label_sets_common(y->col + y->start[i], n, p->col + p->start[i], m);
        losses[i] = both > 0 ? both / (double)n : 0.0;
    }
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_RECALL) = {.types = LABEL_TYPES,
                                                        .input = DKM_LOSS_OF_LABELS,
                                                        .greater_is_better = 1,
                                                        .counts = recall_micro};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_RECALL_MACRO) = {.types = LABEL_TYPES,
                                                              .input = DKM_LOSS_OF_LABELS,
                                                              .greater_is_better = 1,
                                                              .counts = recall_macro};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_RECALL_EXAMPLES) = {.types = LABEL_TYPES,
                                                                 .input = DKM_LOSS_OF_LABELS,
                                                                 .greater_is_better = 1,
                                                                 .rows = recall_examples};
