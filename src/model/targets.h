/** @file targets.h  Outputs as numbers a regression can take, and back.
 *
 *  Dense outputs are themselves. Labels become one column a class, 1 for the class and 0 for the
 *  others; the largest column of a prediction names its class.
 */
#ifndef DKMAP_TARGETS_H
#define DKMAP_TARGETS_H

#include "data/bundle.h"

typedef struct dkm_targets {
    dkm_ctx *ctx;
    dkm_type type;
    dkm_idx cols;    /**< numbers an output */
    double *classes; /**< of labels: the class of each column, ascending; else NULL */
} dkm_targets;

/** Learn from the training outputs what the columns stand for. Collective.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for outputs that are neither dense nor labels */
DKM_NODISCARD
dkm_status dkm_targets_learn(dkm_targets *targets, const dkm_data *Y);

/** This rank's slab of outputs as numbers, row-major. Local.
 *  @param[out] rows  dkm_data_local_rows(Y) x cols numbers */
void dkm_targets_encode(const dkm_targets *targets, const dkm_data *Y, double *rows);

/** Outputs from numbers: dense rows as they are, or labels. Takes @p numbers over. Collective. */
DKM_NODISCARD
dkm_status dkm_targets_decode(const dkm_targets *targets, dkm_data **numbers, dkm_data **Y);

DKM_NODISCARD
dkm_local dkm_targets_to_bundle(const dkm_targets *targets, dkm_bundle *bundle);
DKM_NODISCARD
dkm_local dkm_targets_from_bundle(dkm_targets *targets, const dkm_bundle *bundle);

void dkm_targets_clear(dkm_targets *targets);

#endif
