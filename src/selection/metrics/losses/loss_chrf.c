/* chrf: the F score of n-grams of characters, n = 1 to 6 (Popovic 2015, doi:10.18653/v1/W15-3049):
 *
 *   chrF = 5 P R / (4 P + R)
 *
 * where P and R are means over n of the shares of n-grams of the predicted and of the true string
 * that the other one has as well. Blanks are left out; an n longer than either string is passed
 * over. */
#include "core/alloc.h"
#include "selection/metrics/losses.h"
#include "selection/metrics/ngrams.h"
#include "selection/metrics/utf8.h"

#define LONGEST 6
#define BETA    2.0

static dkm_idx take_characters(const dkm_objs *objs, dkm_idx i, uint32_t *work, uint64_t *out)
{
    dkm_idx n = dkm_utf8_decode(objs->bytes + objs->start[i], dkm_loss_length(objs, i), work);
    dkm_idx count = 0;

    for (dkm_idx k = 0; k < n; k++)
        if (work[k] != ' ' && work[k] != '\t')
            out[count++] = work[k];
    return count;
}

static double f_score(const uint64_t *a, dkm_idx n, const uint64_t *b, dkm_idx m, uint64_t *work)
{
    double precision = 0, recall = 0;

    if (n == 0 || m == 0)
        return n == m ? 1.0 : 0.0;
    for (dkm_idx k = 1; k <= LONGEST && k <= n && k <= m; k++) {
        double common = (double)dkm_ngrams_common(a, n, b, m, k, work);
        precision += common / (double)(m - k + 1);
        recall += common / (double)(n - k + 1);
    }
    if (precision + recall == 0)
        return 0.0;
    /* both are sums of as many terms: their number cancels but for one factor */
    double terms = (double)(n < m ? n : m);
    terms = terms < LONGEST ? terms : LONGEST;
    return (1 + BETA * BETA) * precision * recall / (BETA * BETA * precision + recall) / terms;
}

static dkm_local chrf_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                           double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;
    uint64_t *work = NULL;
    uint32_t *characters = NULL;
    dkm_idx longest = 1;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++) {
        longest = dkm_loss_length(y, i) > longest ? dkm_loss_length(y, i) : longest;
        longest = dkm_loss_length(p, i) > longest ? dkm_loss_length(p, i) : longest;
    }
    DKM_STEP(dkm_alloc(truth->ctx, 4 * longest, &work));
    DKM_STEP(dkm_alloc(truth->ctx, longest, &characters));
    for (dkm_idx i = 0; i < y->n; i++) {
        dkm_idx n = take_characters(y, i, characters, work);
        dkm_idx m = take_characters(p, i, characters, work + longest);
        losses[i] = f_score(work, n, work + longest, m, work + 2 * longest);
    }
out:
    DKM_FREE(characters);
    DKM_FREE(work);
    return local;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_CHRF) = {
    .types = DKM_TYPE_BIT(DKM_STRINGS), .greater_is_better = 1, .rows = chrf_rows};
