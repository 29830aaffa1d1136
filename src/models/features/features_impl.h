/** @file features_impl.h  What a feature map provides: one row of the table in features.c. */
#ifndef DKMAP_MODELS_FEATURES_FEATURES_IMPL_H
#define DKMAP_MODELS_FEATURES_FEATURES_IMPL_H

#include <dkmap/features.h>
#include <dkmap/model.h>

#include "io/archive/archive.h"

typedef struct dkm_features_kind {
    const char *name;
    /** Features of some objects. Collective. */
    dkm_status (*apply)(void *state, const dkm_data *X, dkm_data **F);
    /** Name every part of the map, and make the map again from its parts. Collective. */
    dkm_status (*to_archive)(void *state, dkm_archive *archive);
    dkm_status (*from_archive)(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                               dkm_idx n, void **state);
    void (*destroy)(void *state);
} dkm_features_kind;

struct dkm_features {
    dkm_ctx *ctx;
    const dkm_features_kind *kind;
    dkm_idx n;
    void *state;
    int shares; /**< owners beside the first */
};

/** One more owner: every one calls dkm_features_destroy(). Local. */
dkm_features *dkm_features_share(dkm_features *map);

extern const dkm_features_kind dkm_features_kind_dense, dkm_features_kind_landmarks,
    dkm_features_kind_fisher, dkm_features_kind_lle;

/** Wrap the state of a kind; takes it over, also on failure. Collective. */
DKM_NODISCARD dkm_status dkm_features_wrap(dkm_ctx *ctx, const dkm_features_kind *kind, dkm_idx n,
                                           void *state, dkm_features **map);

/** The indices of landmarks among some objects. Collective.
 *  @param[in,out] n       at most as many as there are; fewer where they explain all others
 *  @param[out]    indices  new array for DKM_FREE(), also after a failure */
DKM_NODISCARD dkm_status dkm_features_indices(const dkm_data *X, const dkm_kernel *kernel,
                                              dkm_landmark_method choice, const dkm_layout *layout,
                                              dkm_idx *n, dkm_idx **indices);

/** The parts "map", "features_count" and those of its kind, and a map from them. Collective. */
DKM_NODISCARD dkm_status dkm_features_to_archive(dkm_features *map, dkm_archive *archive);
DKM_NODISCARD dkm_status dkm_features_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                                   const dkm_layout *layout, dkm_features **map);

#endif
