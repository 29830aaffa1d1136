/* rank and mrr: the place of the true candidate in a list of candidates, and the reciprocal of it, 0
 * for a candidate that is not in the list. */
#include <math.h>

#include "selection/metrics/losses.h"

/* The place of @p wanted in a list of @p n pairs of index and distance, or of index and score: the
 * best comes first, so values that fall are scores. A list may end early, in NaN. */
static double place_in_list(const double *list, dkm_idx n, double wanted)
{
    double nearer = 0.0, as_near = 0.0, sign;
    dkm_idx at = 0, listed = n;

    while (listed > 0 && isnan(list[2 * listed - 1]))
        listed--;
    while (at < listed && list[2 * at] != wanted)
        at++;
    if (at == listed)
        return (double)(n + 1);
    sign = list[1] > list[2 * listed - 1] ? -1.0 : 1.0;
    for (dkm_idx k = 0; k < listed; k++) {
        nearer += sign * list[2 * k + 1] < sign * list[2 * at + 1];
        as_near += list[2 * k + 1] == list[2 * at + 1];
    }
    return nearer + 0.5 * (as_near + 1.0);
}

static dkm_local rank_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                           double *losses)
{
    (void)labels;
    for (dkm_idx i = 0; i < truth->mine.n; i++)
        losses[i] = place_in_list(pred->mine.values + i * pred->mine.d, pred->mine.d / 2,
                                  truth->mine.values[i]);
    return DKM_LOCAL_OK;
}

static dkm_local mrr_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                          double *losses)
{
    dkm_local local = rank_rows(truth, pred, labels, losses);

    for (dkm_idx i = 0; i < truth->mine.n; i++)
        losses[i] = losses[i] > (double)(pred->mine.d / 2) ? 0.0 : 1.0 / losses[i];
    return local;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_RANK) = {
    .types = DKM_TYPE_BIT(DKM_LABELS), .input = DKM_LOSS_OF_LISTS, .rows = rank_rows};
const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_MRR) = {.types = DKM_TYPE_BIT(DKM_LABELS),
                                                     .input = DKM_LOSS_OF_LISTS,
                                                     .greater_is_better = 1,
                                                     .rows = mrr_rows};
