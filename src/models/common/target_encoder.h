/** @file target_encoder.h  Outputs as numbers a regression can take, and back.
 *
 *  Dense outputs are themselves. Labels become one column per class, 1 for the class and 0 for the
 *  others; the largest column of a prediction names its class. Label sets become one column per
 *  label, 1 for those in the set; columns of a prediction at or above a threshold are in its set.
 */
#ifndef DKMAP_MODELS_COMMON_TARGET_ENCODER_H
#define DKMAP_MODELS_COMMON_TARGET_ENCODER_H

#include <dkmap/model.h>

#include "io/archive/archive.h"

typedef struct dkm_target_encoder {
    dkm_ctx *ctx;
    dkm_type type;
    dkm_idx cols;     /**< numbers per output */
    double *classes;  /**< of labels: the class of each column, ascending; else NULL */
    double threshold; /**< of label sets */
    double level;     /**< the share of label sets, or slope of probabilities, that leave-one-out
                           predictions chose; 0: not known */
    int by_share;     /**< the threshold of a row is that share of its greatest number */
    dkm_prediction prediction;
} dkm_target_encoder;

/** Learn from the training outputs what the columns stand for. Collective.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for outputs that are none of these */
DKM_NODISCARD dkm_status dkm_target_encoder_learn(dkm_target_encoder *encoder, const dkm_data *Y);

/** This rank's slab of outputs as numbers, row-major. Local.
 *  @param[out] rows  dkm_data_local_rows(Y) x cols numbers */
void dkm_target_encoder_encode(const dkm_target_encoder *encoder, const dkm_data *Y, double *rows);

/** Choose what numbers become: outputs, the numbers themselves, or probabilities. Local.
 *  @param[in]  threshold   of label sets; NaN: the share of leave-one-out predictions
 *  @param[out] type, cols  of what they become
 *  @return ok; DKM_ERR_UNSUPPORTED; DKM_ERR_ARG where nothing was calibrated */
DKM_NODISCARD dkm_local dkm_target_encoder_choose(dkm_target_encoder *encoder,
                                                  dkm_prediction prediction, double threshold,
                                                  dkm_type *type, dkm_idx *cols);

/** What numbers become: type and columns. Local. */
dkm_type dkm_target_encoder_type(const dkm_target_encoder *encoder);
dkm_idx dkm_target_encoder_output_cols(const dkm_target_encoder *encoder);

/** Outputs from numbers: dense rows as they are, labels or label sets. Takes @p numbers over. Collective. */
DKM_NODISCARD dkm_status dkm_target_encoder_decode(const dkm_target_encoder *encoder,
                                                   dkm_data **numbers, dkm_data **Y);

DKM_NODISCARD dkm_local dkm_target_encoder_to_archive(const dkm_target_encoder *encoder,
                                                      dkm_archive *archive);
DKM_NODISCARD dkm_local dkm_target_encoder_from_archive(dkm_target_encoder *encoder,
                                                        const dkm_archive *archive);

void dkm_target_encoder_clear(dkm_target_encoder *encoder);

#endif
