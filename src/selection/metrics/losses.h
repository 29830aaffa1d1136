/** @file losses.h  How predictions are measured; see dkmap/score.h for what each measure is.
 *
 *  A measure is one file, loss_<name>.c, that defines DKM_LOSS_CLASS(DKM_LOSS_<NAME>), and one line
 *  of DKM_LOSS_LIST in dkmap/score.h. It is given by one of four functions: `rows` (a number per
 *  row, of which the score is the mean), `column` (a number per column of all rows), `counts` (a
 *  number from how often each label is true, predicted and both) or `total` (anything else).
 */
#ifndef DKMAP_SELECTION_METRICS_LOSSES_H
#define DKMAP_SELECTION_METRICS_LOSSES_H

#include <dkmap/score.h>

#include "data/objects.h"
#include "selection/metrics/label_counts.h"

typedef struct dkm_loss_class {
    unsigned types;        /**< of true objects that it is for: a DKM_TYPE_BIT each */
    dkm_loss_input input;  /**< what truth and predictions must be */
    int greater_is_better; /**< else it is a loss */
    /** The loss of each local row. Local.
     *  @param[in] labels  how many labels there are, where the objects are label sets */
    dkm_local (*rows)(const dkm_data *truth, const dkm_data *pred, dkm_idx labels, double *losses);
    /** The value of one column, all m rows of which are here. Local.
     *  @param[in,out] pairs  truth and prediction of each row; may be reordered
     *  @param[out]    work   2 m numbers
     *  @return NaN where it has no value */
    double (*column)(dkm_idx m, double *pairs, double *work);
    /** The value from counts of labels, the same on every rank. Local. */
    double (*counts)(const dkm_label_counts *counts);
    /** Whatever ranks compute together. Collective. */
    dkm_status (*total)(const dkm_data *truth, const dkm_data *pred, double *value);
} dkm_loss_class;

/** Name of the description of a loss. */
#define DKM_LOSS_CLASS(code) dkm_loss_class_of_##code

/** The description of a loss; NULL if there is none. Local. */
const dkm_loss_class *dkm_loss_class_at(dkm_loss loss);

/** Whether a loss is one for objects of a type. Local. */
int dkm_loss_fits(dkm_loss loss, dkm_type type);

/** Any loss with a number per row but that of a kernel, of each local row of two data of one size
 *  and a type that fits. Local.
 *  @param[in] labels  how many labels there are; read for the hamming loss of label sets only */
DKM_NODISCARD dkm_local dkm_loss_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                                      dkm_idx labels, double *losses);

/** The value of each column of a loss that has one per column. Collective.
 *
 *  The columns are dealt to the ranks, each of which gathers its columns one after the other: a
 *  rank receives 2 m words per column and holds 4 m of them. The values are replicated.
 *
 *  @param[out] count, values  as many as the predictions have columns (1 where the truth is one of
 *                             two classes); DKM_FREE() frees them
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_SIZE
 */
DKM_NODISCARD dkm_status dkm_loss_columns(const dkm_data *truth, const dkm_data *pred,
                                          dkm_loss loss, dkm_idx *count, double **values);

/** Characters or list entries of object i. Local. */
dkm_idx dkm_loss_length(const dkm_objs *objs, dkm_idx i);

/** Share of the columns of row i that differ. Local. */
double dkm_loss_differing_values(const dkm_objs *y, const dkm_objs *p, dkm_idx i);

#endif
