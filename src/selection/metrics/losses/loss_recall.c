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
    (void)labels;
    dkm_label_ratio_examples(truth, pred, 1.0, 0.0, losses);
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
