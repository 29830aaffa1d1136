#include "selection/metrics/losses.h"

/* Squared distance in the space of a kernel, which says itself what objects it is for; its rows are
 * computed in score.c, by all ranks together. */
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_KERNEL) = {.types = DKM_TYPE_BIT(DKM_TYPE_COUNT) - 1};

#define DECLARE(code, name) extern const dkm_loss_class DKM_LOSS_CLASS(code);
DKM_LOSS_LIST(DECLARE)

#define ADDRESS(code, name) &DKM_LOSS_CLASS(code),
static const dkm_loss_class *const classes[] = {DKM_LOSS_LIST(ADDRESS)};

const dkm_loss_class *dkm_loss_class_at(dkm_loss loss)
{
    return loss < DKM_LOSS_COUNT ? classes[loss] : NULL;
}

dkm_loss_input dkm_loss_takes(dkm_loss loss)
{
    return loss < DKM_LOSS_COUNT ? classes[loss]->input : DKM_LOSS_OF_OBJECTS;
}

int dkm_loss_is_mean(dkm_loss loss)
{
    return loss == DKM_LOSS_KERNEL || (loss < DKM_LOSS_COUNT && classes[loss]->rows);
}

int dkm_loss_greater_is_better(dkm_loss loss)
{
    return loss < DKM_LOSS_COUNT && classes[loss]->greater_is_better;
}

int dkm_loss_fits(dkm_loss loss, dkm_type type)
{
    return (classes[loss]->types & DKM_TYPE_BIT(type)) != 0;
}

dkm_local dkm_loss_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss, dkm_idx labels,
                        double *losses)
{
    if (loss >= DKM_LOSS_COUNT || !classes[loss]->rows)
        return dkm_fail(truth->ctx, DKM_ERR_INTERNAL, "loss %d has no rows", (int)loss);
    return classes[loss]->rows(truth, pred, labels, losses);
}

dkm_idx dkm_loss_length(const dkm_objs *objs, dkm_idx i)
{
    return objs->start[i + 1] - objs->start[i];
}

double dkm_loss_differing_values(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    dkm_idx differ = 0;

    for (dkm_idx j = i * y->d; j < (i + 1) * y->d; j++)
        differ += y->values[j] != p->values[j];
    return y->d > 0 ? (double)differ / (double)y->d : 0.0;
}
