/* The Viterbi algorithm (Viterbi 1967, IEEE Trans. Inf. Theory 13(2):260-269,
 * doi:10.1109/TIT.1967.1054010) with the Hamming loss added in, the separation oracle of chains
 * (Tsochantaridis, Joachims, Hofmann and Altun 2005, JMLR 6:1453-1484, section 4.2).
 *
 * Cost per chain of L positions and k labels: 2 L k^2 flops, L k labels of memory. */
#include "models/jkm/chain/viterbi.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

dkm_local dkm_viterbi_open(dkm_viterbi *v, dkm_ctx *ctx, dkm_idx k, dkm_idx length)
{
    dkm_local local = DKM_LOCAL_OK;

    *v = (dkm_viterbi){.k = k};
    DKM_STEP(dkm_alloc(ctx, 2 * k, &v->score));
    DKM_STEP(dkm_alloc(ctx, length * k, &v->from));
out:
    return local;
}

void dkm_viterbi_close(dkm_viterbi *v)
{
    DKM_FREE(v->score);
    DKM_FREE(v->from);
}

static int32_t greatest(dkm_idx k, const double *score)
{
    int32_t best = 0;

    for (int32_t c = 1; c < k; c++)
        best = score[c] > score[best] ? c : best;
    return best;
}

void dkm_viterbi_search(dkm_viterbi *v, dkm_idx length, const double *G, const double *transition,
                        const int32_t *truth, int32_t *path)
{
    dkm_idx k = v->k;
    double *before = v->score, *here = v->score + k, *swap;

    for (dkm_idx t = 0; t < length; t++) {
        for (dkm_idx c = 0; c < k; c++) {
            double best = t > 0 ? before[0] + transition[c] : 0;
            int32_t from = 0;
            for (int32_t p = 1; t > 0 && p < k; p++) {
                double way = before[p] + transition[p * k + c];
                from = way > best ? p : from;
                best = way > best ? way : best;
            }
            here[c] = best + G[t * k + c] + (truth && truth[t] != c ? 1 : 0);
            v->from[t * k + c] = from;
        }
        swap = before;
        before = here;
        here = swap;
    }
    path[length - 1] = greatest(k, before);
    for (dkm_idx t = length - 1; t > 0; t--)
        path[t - 1] = v->from[t * k + path[t]];
}

/* Scores of the best sequences up to each label, then of what may follow it added. */
void dkm_viterbi_margins(dkm_viterbi *v, dkm_idx length, const double *G, const double *transition,
                         double *margins)
{
    dkm_idx k = v->k;
    double *after = v->score, *here = v->score + k, best;

    for (dkm_idx t = 0; t < length; t++)
        for (dkm_idx c = 0; c < k; c++) {
            const double *before = t > 0 ? margins + (t - 1) * k : NULL;
            best = t > 0 ? before[0] + transition[c] : 0;
            for (dkm_idx p = 1; t > 0 && p < k; p++)
                best = fmax(best, before[p] + transition[p * k + c]);
            margins[t * k + c] = best + G[t * k + c];
        }
    memset(after, 0, (size_t)k * sizeof *after);
    for (dkm_idx t = length - 1; t >= 0; t--) {
        double *at = margins + t * k;
        for (dkm_idx c = 0; c < k; c++)
            at[c] += after[c];
        for (dkm_idx p = 0; t > 0 && p < k; p++) {
            here[p] = transition[p * k] + G[t * k] + after[0];
            for (dkm_idx c = 1; c < k; c++)
                here[p] = fmax(here[p], transition[p * k + c] + G[t * k + c] + after[c]);
        }
        best = at[0];
        for (dkm_idx c = 1; c < k; c++)
            best = fmax(best, at[c]);
        for (dkm_idx c = 0; c < k; c++)
            at[c] = best - at[c];
        memcpy(after, here, (size_t)k * sizeof *after);
    }
}
