/** @file losses.h  The loss of each row of a rank's slab; see dkmap/score.h for what they are.
 *
 *  A loss is one file, loss_<name>.c, that defines DKM_LOSS_CLASS(DKM_LOSS_<NAME>), and one line of
 *  DKM_LOSS_LIST in dkmap/score.h.
 */
#ifndef DKMAP_SELECTION_METRICS_LOSSES_H
#define DKMAP_SELECTION_METRICS_LOSSES_H

#include <dkmap/score.h>

#include "data/objects.h"

typedef struct dkm_loss_class {
    unsigned types; /**< of objects that the loss is for: a DKM_TYPE_BIT each */
    /** The loss of each local row. NULL where ranks must work together. Local.
     *  @param[in] labels  how many labels there are, where the objects are label sets */
    dkm_local (*rows)(const dkm_data *truth, const dkm_data *pred, dkm_idx labels, double *losses);
} dkm_loss_class;

/** Name of the description of a loss. */
#define DKM_LOSS_CLASS(code) dkm_loss_class_of_##code

/** Whether a loss is one for objects of a type. Local. */
int dkm_loss_fits(dkm_loss loss, dkm_type type);

/** Any loss but that of a kernel, of each local row of two data of one size and a type that fits.
 *  Local.
 *  @param[in] labels  how many labels there are; read for the hamming loss of label sets only */
DKM_NODISCARD dkm_local dkm_loss_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                                      dkm_idx labels, double *losses);

/** Characters or list entries of object i. Local. */
dkm_idx dkm_loss_length(const dkm_objs *objs, dkm_idx i);

/** Share of the columns of row i that differ. Local. */
double dkm_loss_differing_values(const dkm_objs *y, const dkm_objs *p, dkm_idx i);

#endif
