/** @file output_space_impl.h  The steps in which a space is made, each in a file of its own. */
#ifndef DKMAP_MODELS_JKM_OUTPUT_SPACE_OUTPUT_SPACE_IMPL_H
#define DKMAP_MODELS_JKM_OUTPUT_SPACE_OUTPUT_SPACE_IMPL_H

#include "models/jkm/output_space/output_space.h"

/** Find each own example's output among the candidates (NULL: the outputs themselves). Collective.
 *  @return DKM_OK; DKM_ERR_ARG naming the first row of y that is not among them */
DKM_NODISCARD dkm_status dkm_output_space_find_truth(dkm_output_space *space, const dkm_data *Y,
                                                     const dkm_data *candidates);

/** Coordinates of the candidates: as they are (ky NULL), or along all directions they span.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_output_space_embed(dkm_output_space *space, const char *ky,
                                                const dkm_layout *layout);

/** Coordinates of candidates that are strings by place and character: 1 where the string has the
 *  character at the place. Letters and positions are those of the candidates, or those of the model.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_ARG when a candidate is longer than those of the model */
DKM_NODISCARD dkm_status dkm_output_space_onehot_chars(dkm_output_space *space);

/** Coordinates of the candidates from which the embedding was made. Collective. */
DKM_NODISCARD dkm_status dkm_output_space_training_rows(dkm_output_space *space);

/** Turn the rows Z of m examples into coordinates along a basis of their span, which takes m x m
 *  numbers on every rank. Collective. */
DKM_NODISCARD dkm_status dkm_output_space_reduce_to_span(dkm_output_space *space, dkm_idx m);

#endif
