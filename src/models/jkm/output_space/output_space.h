/** @file output_space.h  Outputs as coordinates, and the set in which better ones are looked for.
 *
 *  Every output is a row z of r numbers with <z, z'> = l(y, y'): dense outputs under a linear
 * kernel as they are (or in a basis of their span), labels as one column per class, strings by
 * place and character where the joint kernel looks at those, others as coordinates along all
 * directions that the candidates span in feature space.
 */
#ifndef DKMAP_MODELS_JKM_OUTPUT_SPACE_OUTPUT_SPACE_H
#define DKMAP_MODELS_JKM_OUTPUT_SPACE_OUTPUT_SPACE_H

#include <dkmap/jkm.h>

#include "models/common/embedding.h"
#include "models/common/target_encoder.h"

typedef struct dkm_output_space {
    dkm_ctx *ctx;
    dkm_jkm_outputs kind; /**< decided */
    dkm_type type;        /**< of outputs as objects */
    dkm_idx cols;
    dkm_idx r;
    double *Z; /**< training: this rank's examples x r */

    dkm_data *basis; /**< r x cols, orthonormal rows; NULL where z is the output itself */

    dkm_idx count;              /**< candidates; 0 where they are not a finite set */
    dkm_target_encoder classes; /**< of labels */
    double unit;                /**< of labels: the coordinate of a class */
    dkm_idx positions, n_chars; /**< of strings, one-hot: r = positions x characters */
    char *alphabet;             /**< the characters, in ascending order */
    dkm_data *objects;          /**< candidates as they were given; NULL for classes */
    dkm_data *C;                /**< their coordinates, count x r in slabs; NULL for classes */
    dkm_embedding *embedding; /**< of objects that are not dense rows under a linear kernel; it owns
                                 the objects */
    dkm_idx *truth;           /**< training: the candidate that is each own example's output */
    dkm_data *lists; /**< the candidates that count for each example, in training or of the inputs
                        that are predicted next; or NULL */
} dkm_output_space;

/** Set up for training outputs, with the candidates and lists of @p settings: it holds shares of
 *  what it keeps. A negative epsilon of the settings is chosen. Collective; dkm_output_space_close() frees, also after a failure.
 *
 *  @param[in] ky    kernel of the outputs, in canonical form
 *  @param[in] span  outputs on the sphere, or free, may be turned into a basis of their span
 *  @return DKM_OK; DKM_ERR_ARG naming the row for an output of zero length on the sphere, or one
 *          that is not among the candidates; DKM_ERR_UNSUPPORTED */
DKM_NODISCARD dkm_status dkm_output_space_open(dkm_output_space *space, const dkm_data *Y,
                                               const char *ky, int span,
                                               dkm_jkm_settings *settings);
void dkm_output_space_close(dkm_output_space *space);

/** What a user calls the set. Local. */
const char *dkm_output_space_name(const dkm_output_space *space);

/** Where candidates are, by index: their coordinates to every rank. Collective.
 *  @param[out] rows  count x r */
DKM_NODISCARD dkm_status dkm_output_space_candidates(const dkm_output_space *space, dkm_idx first,
                                                     dkm_idx count, double *rows);

/** Outputs from rows of W x, which are taken over. Collective.
 *
 *  @param[in]  top  0, or how many candidates to list with their scores, alternating, instead; NaN
 *                   where fewer count
 *  @param[out] Y    new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_output_space_decode(const dkm_output_space *space, dkm_idx top,
                                                 dkm_data **G, dkm_data **Y);

/** Look for predictions among other candidates, which are taken over. Collective.
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED */
DKM_NODISCARD dkm_status dkm_output_space_set_candidates(dkm_output_space *space,
                                                         dkm_data **candidates);

/** For each of the inputs that are decoded next, the candidates that count; NULL: all count.
 *  Collective; holds a share.
 *  @return DKM_OK; DKM_ERR_ARG for other types, numbers that no candidate has and empty lists */
DKM_NODISCARD dkm_status dkm_output_space_set_lists(dkm_output_space *space, const dkm_data *lists);

/** Parts of a model file, and back. Collective. */
DKM_NODISCARD dkm_status dkm_output_space_to_archive(dkm_output_space *space, dkm_archive *archive);
DKM_NODISCARD dkm_status dkm_output_space_from_archive(dkm_output_space *space,
                                                       dkm_archive *archive,
                                                       const dkm_layout *layout);

#endif
