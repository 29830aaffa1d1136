/** @file distinct_labels.h  Which labels occur, over all ranks. */
#ifndef DKMAP_SELECTION_METRICS_DISTINCT_LABELS_H
#define DKMAP_SELECTION_METRICS_DISTINCT_LABELS_H

#include <dkmap/data.h>

typedef struct dkm_distinct {
    dkm_idx count;
    dkm_idx *numbers; /**< ascending; the same on every rank */
} dkm_distinct;

/** The distinct labels in data that are labels or label sets. @p more may be NULL.
 *
 *  Collective. Every rank holds them all, so they should be few beside the rows.
 *
 *  @param[out] distinct  cleared by dkm_distinct_clear(), also after a failure
 */
DKM_NODISCARD dkm_status dkm_distinct_labels(const dkm_data *data, const dkm_data *more,
                                             dkm_distinct *distinct);

/** The place of @p number, which must occur. Local. */
dkm_idx dkm_distinct_place(const dkm_distinct *distinct, dkm_idx number);

void dkm_distinct_clear(dkm_distinct *distinct);

#endif
