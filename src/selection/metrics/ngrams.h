/** @file ngrams.h  How many n-grams two sequences have in common. */
#ifndef DKMAP_SELECTION_METRICS_NGRAMS_H
#define DKMAP_SELECTION_METRICS_NGRAMS_H

#include <dkmap/types.h>

/** The size of the intersection of two multisets of n-grams. Local.
 *
 *  N-grams are compared by a 64-bit hash: two different ones are taken for equal with a chance of
 *  2^-64 per pair.
 *
 *  @param[in]  a, b  sequences of @p la and @p lb hashes of items
 *  @param[out] work  la + lb numbers */
dkm_idx dkm_ngrams_common(const uint64_t *a, dkm_idx la, const uint64_t *b, dkm_idx lb, dkm_idx n,
                          uint64_t *work);

#endif
