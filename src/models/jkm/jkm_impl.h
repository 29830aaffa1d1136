/** @file jkm_impl.h  A joint kernel map after training: what fit, predict and model files share. */
#ifndef DKMAP_MODELS_JKM_JKM_IMPL_H
#define DKMAP_MODELS_JKM_JKM_IMPL_H

#include "models/jkm/joint_map/joint_map.h"
#include "models/jkm/output_space/output_space.h"
#include "models/registry/model_impl.h"

/** Examples that get a slack each, at most, where outputs are classes, and where they are other
 *  candidates: the program is solved on one rank, and its Gram matrix takes 8 m^2 bytes and more. */
#define DKM_JKM_CLASSES_MOST    3000
#define DKM_JKM_CANDIDATES_MOST 1000

/** Rounds that a fit is expected to take where nothing is known. */
#define DKM_JKM_ROUNDS_EXPECTED 40

typedef struct dkm_jkm {
    dkm_ctx *ctx;
    dkm_joint_map map;
    dkm_output_space space;
    dkm_data *U; /* the weight vector: one row for each of the joint map's inputs */
    char *joint, *kx, *ky;
    double epsilon, C, threshold;
    dkm_idx top;
} dkm_jkm;

/** Remember the expressions of kernels. Local. */
DKM_NODISCARD dkm_local dkm_jkm_store_texts(dkm_jkm *s, const char *joint, const char *kx,
                                            const char *ky);

/** What the outputs of a model are. Local. */
void dkm_jkm_describe(const dkm_jkm *s, dkm_type *type, dkm_idx *cols);

/** Outputs of new inputs, or lists of them; @p state is a dkm_jkm. Collective. */
DKM_NODISCARD dkm_status dkm_jkm_predict(void *state, const dkm_data *X, dkm_data **Y);

/** Residuals and prediction sets; see dkmap/conformal.h. @p state is a dkm_jkm. Collective. */
DKM_NODISCARD dkm_status dkm_jkm_residuals(void *state, const dkm_data *X, const dkm_data *Y,
                                           dkm_data **R);
DKM_NODISCARD dkm_status dkm_jkm_open_sets(void *state, dkm_type *type, dkm_idx *cols);
DKM_NODISCARD dkm_status dkm_jkm_prediction_sets(void *state, const dkm_data *X,
                                                 const double *radius, dkm_data **S);

/** Free the map and all it has. Local.
 *  @param[in] state  a dkm_jkm */
void dkm_jkm_destroy(void *state);

#endif
