/** @file preimage_char_classifier.h  Characters of strings by a kernel classifier: ridge regression
 * from the coordinates of a string and a window on its input to the character in the middle.
 *
 *  A character is a dense row: the coordinates z, and for each place of the window one column a
 * character of the inputs, 1 where it stands there. Squared distances of rows are ||z - z'||^2 and
 * twice the places that differ.
 */
#ifndef DKMAP_PREIMAGE_PREIMAGE_CHAR_CLASSIFIER_H
#define DKMAP_PREIMAGE_PREIMAGE_CHAR_CLASSIFIER_H

#include "preimage/preimage.h"

/** Learn from all characters of the training outputs, by the kernel and the ridge of the settings;
 *  coordinates of the training objects are there as candidates. Collective. */
DKM_NODISCARD
dkm_status dkm_char_classifier_learn(dkm_preimage *pre, dkm_idx window);

/** Fill strings of known lengths. Collective.
 *  @param[in]  Z  coordinates of the strings, whose inputs are those of @p pre
 *  @param[out] Y  strings, as many */
DKM_NODISCARD
dkm_status dkm_char_classifier_fill(dkm_preimage *pre, dkm_idx window, const dkm_data *Z,
                                    dkm_data *Y);

#endif
