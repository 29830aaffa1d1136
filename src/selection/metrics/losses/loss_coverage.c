/* coverage: the share of the truth that lies in its prediction set, as predict --coverage writes
 * them: of numbers, rows of all lower and then all upper ends, each column counted by itself; of
 * classes and candidates, sets of their numbers. */
#include <string.h>

#include "selection/metrics/losses.h"

static double share_within(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    dkm_idx inside = 0;

    for (dkm_idx j = 0; j < y->d; j++) {
        double v = y->values[i * y->d + j];
        inside += v >= p->values[i * p->d + j] && v <= p->values[i * p->d + y->d + j];
    }
    return (double)inside / (double)y->d;
}

static double is_member(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    for (dkm_idx k = p->start[i]; k < p->start[i + 1]; k++)
        if ((double)p->col[k] == y->values[i])
            return 1.0;
    return 0.0;
}

/* Whether a string is one of the words of a set. */
static double is_word(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    const char *word = y->bytes + y->start[i], *at = p->bytes + p->start[i];
    dkm_idx length = y->start[i + 1] - y->start[i], left = p->start[i + 1] - p->start[i];

    while (left > 0) {
        const char *end = memchr(at, ' ', (size_t)left);
        dkm_idx here = end ? end - at : left;
        if (here == length && memcmp(at, word, (size_t)length) == 0)
            return 1.0;
        at += here + 1;
        left -= here + 1;
    }
    return 0.0;
}

static dkm_local coverage_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                               double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++)
        losses[i] = p->type == DKM_LABEL_SETS ? is_member(y, p, i)
                    : p->type == DKM_SETS     ? is_word(y, p, i)
                                              : share_within(y, p, i);
    return DKM_LOCAL_OK;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_COVERAGE) = {
    .types = DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_LABELS) | DKM_TYPE_BIT(DKM_STRINGS),
    .input = DKM_LOSS_OF_PREDICTION_SETS,
    .greater_is_better = 1,
    .rows = coverage_rows};
