/* zero-one: 1 for objects that differ, 0 for those that are equal. */
#include <string.h>

#include "selection/metrics/losses.h"

static int same_object(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    dkm_idx length;

    if (dkm_type_storage_form(y->type) == DKM_STORED_VALUES)
        return dkm_loss_differing_values(y, p, i) == 0.0;
    length = dkm_loss_length(y, i);
    if (length != dkm_loss_length(p, i))
        return 0;
    if (dkm_type_storage_form(y->type) == DKM_STORED_BYTES)
        return memcmp(y->bytes + y->start[i], p->bytes + p->start[i], (size_t)length) == 0;
    return memcmp(y->col + y->start[i], p->col + p->start[i], (size_t)length * sizeof *y->col) == 0;
}

static dkm_local zero_one_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                               double *losses)
{
    (void)labels;
    for (dkm_idx i = 0; i < truth->mine.n; i++)
        losses[i] = same_object(&truth->mine, &pred->mine, i) ? 0.0 : 1.0;
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_ZERO_ONE) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS) |
             DKM_TYPE_BIT(DKM_STRINGS) | DKM_TYPE_BIT(DKM_SETS),
    .rows = zero_one_rows};
