/** @file preimage_char_classifier.h  Characters of strings by a kernel classifier: ridge regression
 * from the coordinates of a string and a window on its input to the character in the middle.
 *
 *  A character is a dense row: the coordinates z, and for each place of the window one column a
 * character of the inputs, 1 where it stands there. Squared distances of rows are ||z - z'||^2 and
 * twice the positions that differ.
 */
#ifndef DKMAP_PREIMAGE_STRINGS_PREIMAGE_CHAR_CLASSIFIER_H
#define DKMAP_PREIMAGE_STRINGS_PREIMAGE_CHAR_CLASSIFIER_H

#include "preimage/preimage.h"

typedef struct dkm_char_classifier {
    const dkm_preimage *pre;
    dkm_idx window;
    dkm_model *model;
    int code[256];    /**< number of each character of the inputs, or -1 */
    dkm_idx alphabet; /**< how many of them */
} dkm_char_classifier;

/** Learn from all characters of the training outputs, by the kernel and the ridge of the settings.
 *  Collective; dkm_char_classifier_close() frees, also after a failure.
 *  @param[in] Z       coordinates of the training outputs
 *  @param[in] longer  of every one of them: characters it has more than its input */
DKM_NODISCARD dkm_status dkm_char_classifier_learn(dkm_char_classifier *c, const dkm_preimage *pre,
                                                   dkm_idx window, const dkm_data *Z,
                                                   const double *longer);
void dkm_char_classifier_close(dkm_char_classifier *c);

/** Fill strings of known lengths. Collective.
 *  @param[in]  X, Z  inputs and coordinates of the strings
 *  @param[out] Y     strings, as many */
DKM_NODISCARD dkm_status dkm_char_classifier_fill(const dkm_char_classifier *c, const dkm_data *X,
                                                  const dkm_data *Z, dkm_data *Y);

#endif
