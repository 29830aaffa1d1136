/** @file knn_impl.h  What a model of nearest neighbors holds, and how it predicts. */
#ifndef DKMAP_MODELS_KNN_KNN_IMPL_H
#define DKMAP_MODELS_KNN_KNN_IMPL_H

#include <dkmap/knn.h>

#include "models/knn/neighbors.h"

typedef struct dkm_knn {
    dkm_neighbors in, out; /**< inputs and, where they have a kernel, outputs */
    dkm_data *Y;           /**< outputs without a kernel */
    dkm_idx k;
    dkm_idx top; /**< training outputs to list, or 0 */
} dkm_knn;

/** The training outputs. Local. */
static inline const dkm_data *dkm_knn_outputs(const dkm_knn *s)
{
    return s->Y ? s->Y : s->out.fitted.X;
}

/** Outputs of new inputs, @p state being a dkm_knn. Collective.
 *  @param[out] Y  new, owned by the caller */
DKM_NODISCARD dkm_status dkm_knn_predict(void *state, const dkm_data *X, dkm_data **Y);

#endif
