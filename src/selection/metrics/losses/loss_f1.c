/* f1, f1-macro, f1-examples: 2 |Y and P| / (|Y| + |P|), the harmonic mean of precision and recall, over all
 * labels, per label or per example. */
#include "selection/metrics/losses.h"

#define LABEL_TYPES                                                                                \
    (DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS))

static double f1_micro(const dkm_label_counts *c)
{
    return dkm_label_ratio_micro(c, 0.5, 0.5);
}

static double f1_macro(const dkm_label_counts *c)
{
    return dkm_label_ratio_macro(c, 0.5, 0.5);
}

static dkm_local f1_examples(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                             double *losses)
{
    (void)labels;
    dkm_label_ratio_examples(truth, pred, 0.5, 0.5, losses);
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_F1) = {
    .types = LABEL_TYPES, .input = DKM_LOSS_OF_LABELS, .greater_is_better = 1, .counts = f1_micro};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_F1_MACRO) = {
    .types = LABEL_TYPES, .input = DKM_LOSS_OF_LABELS, .greater_is_better = 1, .counts = f1_macro};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_F1_EXAMPLES) = {
    .types = LABEL_TYPES, .input = DKM_LOSS_OF_LABELS, .greater_is_better = 1, .rows = f1_examples};
