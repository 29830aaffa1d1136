/** @file base.h  What every kernel model stands on: a grid, a kernel and its training inputs. */
#ifndef DKMAP_BASE_H
#define DKMAP_BASE_H

#include <dkmap/model.h>

#include "data/bundle.h"

typedef struct dkm_base {
    dkm_ctx *ctx;
    dkm_grid *grid;
    int shares_grid; /**< the grid belongs to another base */
    dkm_idx nb;
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_prepared *prepared;
    dkm_cross *cross; /**< NULL until new inputs come */
} dkm_base;

/** Set up for training inputs, which are taken over (nulled, also on failure).
 *  Collective; dkm_base_close() frees, also after a failure. */
DKM_NODISCARD
dkm_status dkm_base_open(dkm_base *base, dkm_ctx *ctx, dkm_data **X, const char *kernel,
                         const dkm_layout *layout);
/** The same on the grid and block size of another base, which must be closed later. Collective. */
DKM_NODISCARD
dkm_status dkm_base_open_beside(dkm_base *base, const dkm_base *other, dkm_data **X,
                                const char *kernel);
/** Use the kernel for distances between images alone: the origin may be moved then, so that they
 *  keep their digits. Collective; before new inputs come. */
DKM_NODISCARD
dkm_status dkm_base_use_distances(dkm_base *base);
void dkm_base_close(dkm_base *base);

/** k(X, training) as a distributed matrix, after checking that X is like the training inputs.
 *  Collective. */
DKM_NODISCARD
dkm_status dkm_base_cross(dkm_base *base, const dkm_data *X, dkm_dmat **K);

/** The training inputs, dense rows, as a distributed matrix. Collective. */
DKM_NODISCARD
dkm_status dkm_base_objects(const dkm_base *base, dkm_dmat **X);

/** How many new rows to take at a time when each makes @p outputs numbers. Local. */
dkm_idx dkm_base_stretch(const dkm_base *base, dkm_idx outputs);

/** What a model file calls the kernel of a base, and its objects. */
typedef struct dkm_base_names {
    const char *kernel, *objects;
} dkm_base_names;

extern const dkm_base_names dkm_input_names, dkm_output_names;

/** The kernel and the objects as parts. Local; the objects are lent. */
DKM_NODISCARD
dkm_local dkm_base_to_bundle(const dkm_base *base, dkm_base_names names, dkm_bundle *bundle);
/** A base from those parts, beside another one or (NULL) laid out anew; takes the objects.
 *  Collective. */
DKM_NODISCARD
dkm_status dkm_base_from_bundle(dkm_base *base, const dkm_base *other, dkm_base_names names,
                                dkm_bundle *bundle, const dkm_layout *layout);

/** A distributed matrix as a part of dense rows, and back. Collective.
 *  On the way back the part must be rows x cols; its rows lie in blocks of the base. */
DKM_NODISCARD
dkm_status dkm_base_put_matrix(const dkm_base *base, dkm_bundle *bundle, const char *name,
                               const dkm_dmat *A);
DKM_NODISCARD
dkm_status dkm_base_take_matrix(const dkm_base *base, dkm_bundle *bundle, const char *name,
                                dkm_idx rows, dkm_idx cols, dkm_dmat **A);

#endif
