/* precision, precision-macro, precision-examples: |Y and P| / |P| over all labels, per label or per example. */
#include "selection/metrics/losses.h"

#define LABEL_TYPES                                                                                \
    (DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS))

static double precision_micro(const dkm_label_counts *c)
{
    return dkm_label_ratio_micro(c, 0.0, 1.0);
}

static double precision_macro(const dkm_label_counts *c)
{
    return dkm_label_ratio_macro(c, 0.0, 1.0);
}

static dkm_local precision_examples(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                                    double *losses)
{
    (void)labels;
    dkm_label_ratio_examples(truth, pred, 0.0, 1.0, losses);
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_PRECISION) = {.types = LABEL_TYPES,
                                                           .input = DKM_LOSS_OF_LABELS,
                                                           .greater_is_better = 1,
                                                           .counts = precision_micro};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_PRECISION_MACRO) = {.types = LABEL_TYPES,
                                                                 .input = DKM_LOSS_OF_LABELS,
                                                                 .greater_is_better = 1,
                                                                 .counts = precision_macro};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_PRECISION_EXAMPLES) = {.types = LABEL_TYPES,
                                                                    .input = DKM_LOSS_OF_LABELS,
                                                                    .greater_is_better = 1,
                                                                    .rows = precision_examples};
