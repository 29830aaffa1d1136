/** @file losses.h  The loss of each row of a rank's slab; see dkmap/score.h for what they are. */
#ifndef DKMAP_SELECTION_METRICS_LOSSES_H
#define DKMAP_SELECTION_METRICS_LOSSES_H

#include <dkmap/score.h>

/** Whether a loss is one for objects of a type. Local. */
int dkm_loss_fits(dkm_loss loss, dkm_type type);

/** Any loss but that of a kernel, of each local row of two data of one size and a type that fits.
 *  Local.
 *  @param[in] labels  how many labels there are; read for the hamming loss of label sets only */
DKM_NODISCARD
dkm_local dkm_loss_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss, dkm_idx labels,
                        double *losses);

#endif
