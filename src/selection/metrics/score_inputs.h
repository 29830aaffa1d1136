/** @file score_inputs.h  Truth and predictions in the form that a loss takes. */
#ifndef DKMAP_SELECTION_METRICS_SCORE_INPUTS_H
#define DKMAP_SELECTION_METRICS_SCORE_INPUTS_H

#include "selection/metrics/losses.h"

typedef struct dkm_score_inputs {
    dkm_data *truth, *pred; /**< shared with the caller's where they are in that form */
    int classes;            /**< whether each object is one class, not a set of labels */
} dkm_score_inputs;

/** Check sizes and types, and convert. Collective.
 *
 *  Losses of labels have both as label sets. Losses of scores have the truth as label sets whose
 *  labels are columns of the predictions.
 *
 *  @param[out] in  dkm_score_inputs_clear() frees what it holds, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_score_inputs_make(const dkm_data *truth, const dkm_data *pred,
                                               const dkm_score_settings *settings,
                                               dkm_score_inputs *in);
void dkm_score_inputs_clear(dkm_score_inputs *in);

#endif
