/** @file extend_impl.h  The model of an extended kernel, between its fit and its combination. */
#ifndef DKMAP_MODELS_EXTEND_EXTEND_IMPL_H
#define DKMAP_MODELS_EXTEND_EXTEND_IMPL_H

#include <dkmap/extend.h>

#include "models/common/fitted_kernel.h"
#include "models/features/features_impl.h"

typedef struct dkm_extend {
    dkm_fitted_kernel fitted; /**< of a grid and a block size alone */
    dkm_features *map;
    dkm_idx m, n, t;
    double *root; /**< n x t, row-major, the same on every rank: Q = root root' */
    dkm_data *F;  /**< features of the objects of the matrix */
    dkm_dmat *Z;  /**< their coordinates; NULL until new objects come */
} dkm_extend;

/** Whether a model is an extended kernel. Local. */
DKM_NODISCARD dkm_local dkm_extend_check(const dkm_model *model);

#endif
