/** @file knn_impl.h  What a model of nearest neighbors holds, and how it predicts. */
#ifndef DKMAP_MODELS_KNN_KNN_IMPL_H
#define DKMAP_MODELS_KNN_KNN_IMPL_H

#include <dkmap/knn.h>

#include "models/common/target_encoder.h"
#include "models/knn/neighbors.h"

typedef struct dkm_knn {
    dkm_neighbors in, out; /**< inputs and, where they have a kernel, outputs */
    dkm_data *Y;           /**< outputs without a kernel */
    dkm_idx k;
    dkm_idx top;              /**< training outputs to list, or 0 */
    dkm_target_encoder votes; /**< of classes without a kernel, once prediction sets are wanted */
} dkm_knn;

/** The training outputs. Local. */
static inline const dkm_data *dkm_knn_outputs(const dkm_knn *s)
{
    return s->Y ? s->Y : s->out.fitted.X;
}

/** Outputs of new inputs, @p state being a dkm_knn. Collective.
 *  @param[out] Y  new, owned by the caller */
DKM_NODISCARD dkm_status dkm_knn_predict(void *state, const dkm_data *X, dkm_data **Y);

/** Indices of the neighbors of this rank's new inputs, k each. Collective. */
DKM_NODISCARD dkm_status dkm_knn_neighbors(dkm_knn *s, const dkm_data *X, dkm_idx *nearest);

/** rows(i, c) = (1/k) sum_j l(y_j, y_c) over the neighbors j of input i. Collective. */
DKM_NODISCARD dkm_status dkm_knn_average(dkm_knn *s, const dkm_data *X, const dkm_idx *nearest,
                                         double *rows);

/** Residuals and prediction sets; see dkmap/conformal.h. @p state is a dkm_knn. Collective. */
DKM_NODISCARD dkm_status dkm_knn_residuals(void *state, const dkm_data *X, const dkm_data *Y,
                                           dkm_data **R);
DKM_NODISCARD dkm_status dkm_knn_open_sets(void *state, dkm_type *type, dkm_idx *cols);
DKM_NODISCARD dkm_status dkm_knn_prediction_sets(void *state, const dkm_data *X,
                                                 const double *radius, dkm_data **S);

#endif
