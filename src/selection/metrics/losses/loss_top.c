/* top-k: the share of rows whose true class is among the k with the greatest scores; of equal
 * scores the later column comes first, as scikit-learn has it. The truth is the column of the true
 * class. */
#include "selection/metrics/losses.h"

static double is_among(const double *scores, dkm_idx d, dkm_idx wanted, dkm_idx k)
{
    dkm_idx ahead = 0;

    for (dkm_idx j = 0; j < d; j++)
        ahead += scores[j] > scores[wanted] || (scores[j] == scores[wanted] && j > wanted);
    return ahead < k ? 1.0 : 0.0;
}

static dkm_local top_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx k, double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    for (dkm_idx i = 0; i < y->n; i++)
        losses[i] = is_among(p->values + i * p->d, p->d, y->col[y->start[i]], k);
    return DKM_LOCAL_OK;
}

#define TOP(K)                                                                                     \
    static dkm_local top_##K(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,          \
                             double *losses)                                                       \
    {                                                                                              \
        (void)labels;                                                                              \
        return top_rows(truth, pred, K, losses);                                                   \
    }                                                                                              \
    const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_TOP_##K) = {.types = DKM_TYPE_BIT(DKM_DENSE) |    \
                                                                      DKM_TYPE_BIT(DKM_LABELS),    \
                                                             .input = DKM_LOSS_OF_SCORES,          \
                                                             .greater_is_better = 1,               \
                                                             .rows = top_##K};

TOP(1)
TOP(3)
TOP(5)
TOP(10)
