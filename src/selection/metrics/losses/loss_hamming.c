/* hamming: the share of letters, columns or labels that differ. */
#include "selection/metrics/losses.h"

static dkm_local differing_letters(const dkm_data *truth, const dkm_data *pred, dkm_idx i,
                                   double *loss)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    const char *s = y->bytes + y->start[i], *t = p->bytes + p->start[i];
    dkm_idx length = dkm_loss_length(y, i), differ = 0;

    if (length != dkm_loss_length(p, i))
        return dkm_fail(truth->ctx, DKM_ERR_ARG,
                        "row %lld: the true string has %lld letters and the predicted one %lld; "
                        "hamming needs as many (edit does not)",
                        (long long)(truth->first + i), (long long)length,
                        (long long)dkm_loss_length(p, i));
    for (dkm_idx k = 0; k < length; k++)
        differ += s[k] != t[k];
    *loss = length > 0 ? (double)differ / (double)length : 0.0;
    return DKM_LOCAL_OK;
}

/* |Y xor P| / L. */
static double differing_labels(const dkm_objs *y, const dkm_objs *p, dkm_idx i, dkm_idx labels)
{
    dkm_idx n = dkm_loss_length(y, i), m = dkm_loss_length(p, i);
    dkm_idx differ =
        n + m - 2 * dkm_label_sets_common(y->col + y->start[i], n, p->col + p->start[i], m);

    return labels > 0 ? (double)differ / (double)labels : 0.0;
}

static dkm_local hamming_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                              double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < y->n && local.code == DKM_OK; i++) {
        if (y->type == DKM_STRINGS)
            local = differing_letters(truth, pred, i, &losses[i]);
        else if (y->type == DKM_LABEL_SETS)
            losses[i] = differing_labels(y, p, i, labels);
        else
            losses[i] = dkm_loss_differing_values(y, p, i);
    }
    return local;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_HAMMING) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_LABEL_SETS) |
             DKM_TYPE_BIT(DKM_STRINGS),
    .rows = hamming_rows};
