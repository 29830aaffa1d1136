/* bleu: of all rows together, over words between blanks (Papineni, Roukos, Ward, Zhu 2002,
 * doi:10.3115/1073083.1073135):
 *
 *   BLEU = min(1, exp(1 - r / c)) (p_1 p_2 p_3 p_4)^(1/4)
 *
 * where r and c are the words of the truth and of the predictions, and p_n is the share of predicted
 * n-grams that the true string has as well, each as often as it is there. No smoothing: without a
 * common 4-gram it is 0. */
#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/object_hash.h"
#include "selection/metrics/losses.h"
#include "selection/metrics/ngrams.h"

#define LONGEST 4

/* What is summed over the rows and the ranks. */
enum { TRUE_WORDS, PREDICTED_WORDS, COMMON, TOTAL = COMMON + LONGEST, SUMS = TOTAL + LONGEST };

/* Hashes of the words of a string. @return how many there are */
static dkm_idx hash_words(const char *text, dkm_idx length, uint64_t *words)
{
    dkm_idx count = 0, at = 0;

    while (at < length) {
        uint64_t hash = 0x9e3779b97f4a7c15u;
        dkm_idx from = at;
        for (; at < length && text[at] != ' ' && text[at] != '\t'; at++)
            hash = dkm_hash_mix(hash, (unsigned char)text[at]);
        if (at > from)
            words[count++] = hash;
        at++;
    }
    return count;
}

static void add_pair(const dkm_objs *y, const dkm_objs *p, dkm_idx i, uint64_t *work, double *sums)
{
    dkm_idx room_y = dkm_loss_length(y, i), room_p = dkm_loss_length(p, i);
    uint64_t *a = work, *b = work + room_y;
    dkm_idx n = hash_words(y->bytes + y->start[i], room_y, a);
    dkm_idx m = hash_words(p->bytes + p->start[i], room_p, b);

    sums[TRUE_WORDS] += (double)n;
    sums[PREDICTED_WORDS] += (double)m;
    for (dkm_idx k = 1; k <= LONGEST; k++) {
        sums[COMMON + k - 1] += (double)dkm_ngrams_common(a, n, b, m, k, b + room_p);
        sums[TOTAL + k - 1] += m >= k ? (double)(m - k + 1) : 0.0;
    }
}

static dkm_local add_pairs(const dkm_data *truth, const dkm_data *pred, double *sums)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;
    uint64_t *work = NULL;
    dkm_idx length = 0;

    for (dkm_idx i = 0; i < y->n; i++)
        if (dkm_loss_length(y, i) + dkm_loss_length(p, i) > length)
            length = dkm_loss_length(y, i) + dkm_loss_length(p, i);
    DKM_STEP(dkm_alloc(truth->ctx, 2 * length, &work));
    for (dkm_idx i = 0; i < y->n; i++)
        add_pair(y, p, i, work, sums);
out:
    DKM_FREE(work);
    return local;
}

static dkm_status bleu(const dkm_data *truth, const dkm_data *pred, double *value)
{
    dkm_status status = DKM_OK;
    double sums[SUMS] = {0}, logs = 0;

    DKM_AGREE(truth->ctx, add_pairs(truth, pred, sums));
    MPI_Allreduce(MPI_IN_PLACE, sums, SUMS, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(truth->ctx));
    for (int k = 0; k < LONGEST; k++)
        logs += log(sums[COMMON + k] / fmax(1.0, sums[TOTAL + k])) / LONGEST;
    logs += fmin(0.0, 1.0 - sums[TRUE_WORDS] / fmax(1.0, sums[PREDICTED_WORDS]));
    *value = exp(logs);
out:
    return status;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_BLEU) = {
    .types = DKM_TYPE_BIT(DKM_STRINGS), .greater_is_better = 1, .total = bleu};
