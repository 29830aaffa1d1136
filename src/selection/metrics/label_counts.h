/** @file label_counts.h  Classes, label sets and tables of 0 and 1 as label sets, and how often
 *  each label is true, predicted and both. Arrays of as many numbers as there are labels are
 *  replicated.
 */
#ifndef DKMAP_SELECTION_METRICS_LABEL_COUNTS_H
#define DKMAP_SELECTION_METRICS_LABEL_COUNTS_H

#include "selection/metrics/distinct_labels.h"

typedef struct dkm_label_counts {
    dkm_idx rows;   /**< over all ranks */
    dkm_idx labels; /**< how many there are: those that occur, or more that never do */
    dkm_distinct distinct;
    dkm_idx *truth, *pred, *both; /**< of each distinct label: rows that have it */
    dkm_idx positive; /**< of two classes, the place of the one that is looked for; else -1 */
} dkm_label_counts;

/** Objects as label sets: a class as the set of it alone, a row of 0 and 1 as the columns of its
 *  1, a dense column of integers as classes (d = 1 then, else 0). Collective.
 *  @param[out] sets  new or shared, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for other numbers; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_label_sets_of(const dkm_data *data, dkm_data **sets);

/** Count labels. Collective.
 *  @param[in]  truth, pred  label sets, as many each
 *  @param[in]  classes      whether each is of one class
 *  @param[in]  labels       how many labels there are at least
 *  @param[out] counts       dkm_label_counts_clear() frees what it holds, also after a failure */
DKM_NODISCARD dkm_status dkm_label_counts_make(const dkm_data *truth, const dkm_data *pred,
                                               int classes, dkm_idx labels,
                                               dkm_label_counts *counts);
void dkm_label_counts_clear(dkm_label_counts *counts);

/** The ratio both / (truth_weight truth + pred_weight pred), 0 where that is 0 / 0. Micro: of the
 *  positive class where there is one, else of the sums over all labels. Macro: the mean of the
 *  ratios of all labels. Local. */
double dkm_label_ratio_micro(const dkm_label_counts *c, double truth_weight, double pred_weight);
double dkm_label_ratio_macro(const dkm_label_counts *c, double truth_weight, double pred_weight);

/** The same of every example of this rank, given as label sets. Local. */
void dkm_label_ratio_examples(const dkm_data *truth, const dkm_data *pred, double truth_weight,
                              double pred_weight, double *ratios);

/** Entries that two ascending lists have in common. Local. */
dkm_idx dkm_label_sets_common(const dkm_idx *a, dkm_idx n, const dkm_idx *b, dkm_idx m);

#endif
