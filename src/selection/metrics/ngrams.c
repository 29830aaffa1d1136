#include "selection/metrics/ngrams.h"

#include <stdlib.h>

#include "kernels/evaluation/object_hash.h"

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorted hashes of all n-grams. @return how many there are */
static dkm_idx sorted_ngrams(const uint64_t *items, dkm_idx length, dkm_idx n, uint64_t *out)
{
    dkm_idx count = length >= n ? length - n + 1 : 0;

    for (dkm_idx i = 0; i < count; i++) {
        out[i] = (uint64_t)n;
        for (dkm_idx k = 0; k < n; k++)
            out[i] = dkm_hash_mix(out[i], items[i + k]);
    }
    qsort(out, (size_t)count, sizeof *out, by_hash);
    return count;
}

dkm_idx dkm_ngrams_common(const uint64_t *a, dkm_idx la, const uint64_t *b, dkm_idx lb, dkm_idx n,
                          uint64_t *work)
{
    dkm_idx ca = sorted_ngrams(a, la, n, work), cb = sorted_ngrams(b, lb, n, work + la);
    dkm_idx i = 0, j = 0, common = 0;

    while (i < ca && j < cb) {
        uint64_t x = work[i], y = work[la + j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return common;
}
