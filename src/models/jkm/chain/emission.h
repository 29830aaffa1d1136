/** @file emission.h  What the labels of a chain are scored by, under any kernel of positions.
 *
 *  A position is an object: a dense row without the number of its sequence, or a window of a string
 *  as a string of its own. With landmarks C among the positions and k(C, C) = V diag(l) V', the
 *  features of a position are phi(x) = diag(l)^-1/2 V' k(C, x): their inner products are kernel
 *  values, exactly where all positions are landmarks. After training, weights w of the features are
 *  folded into coefficients A = V diag(l)^-1/2 w, so that scores are k(x, C) A.
 */
#ifndef DKMAP_MODELS_JKM_CHAIN_EMISSION_H
#define DKMAP_MODELS_JKM_CHAIN_EMISSION_H

#include <dkmap/jkm.h>

#include "models/common/embedding.h"
#include "models/jkm/chain/sequences.h"

typedef struct dkm_emission {
    dkm_embedding e; /**< landmarks, and as W first V diag(l)^-1/2, later A; without a mean */
    int fitted;      /**< 0: features are explicit, and there is no emission */
} dkm_emission;

void dkm_emission_close(dkm_emission *emission);

/** The positions of sequences as objects in slabs. Collective.
 *  @param[in]  window, pad  of strings: how many characters, and what stands beyond either end
 *  @param[in]  column       of dense rows: which one has the numbers of the sequences
 *  @param[out] positions    new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_emission_positions(const dkm_sequences *s, dkm_idx window, char pad,
                                                dkm_idx column, dkm_data **positions);

/** Choose landmarks and find features. Collective; dkm_emission_close() frees, also after a failure.
 *  @param[in]  positions  in slabs
 *  @param[in]  kernel     of positions, resolved
 *  @param[in]  settings   landmarks, landmark_choice and layout
 *  @param[out] features   new, owned by the caller: a row for each position; NULL on failure
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for a kernel of other objects; DKM_ERR_MEMORY;
 *          DKM_ERR_NUMERIC where the kernel is zero */
DKM_NODISCARD dkm_status dkm_emission_fit(dkm_emission *emission, const dkm_data *positions,
                                          const dkm_kernel *kernel,
                                          const dkm_jkm_settings *settings, dkm_data **features);

/** Fold weights of features, features x k and the same on every rank, into the emission: what it
 *  encodes from now on are scores of k labels. Collective. */
DKM_NODISCARD dkm_status dkm_emission_fold(dkm_emission *emission, dkm_idx k, const double *w);

/** Scores of positions, in slabs. Collective. */
DKM_NODISCARD dkm_status dkm_emission_scores(dkm_emission *emission, const dkm_data *positions,
                                             dkm_data **scores);

/** The parts "kernel", "inputs" and "coefficients" of a model, and back. Collective.
 *  @param[in] k  labels */
DKM_NODISCARD dkm_status dkm_emission_to_archive(const dkm_emission *emission,
                                                 dkm_archive *archive);
DKM_NODISCARD dkm_status dkm_emission_from_archive(dkm_emission *emission, dkm_archive *archive,
                                                   const dkm_layout *layout, dkm_idx k);

#endif
