/** @file preimage.h  Pre-images of coordinates of an embedding: what every method provides.
 *
 *  A row z of coordinates stands for the point Psi = mu + sum_j z_j v_j of feature space, which is
 *  sum_i a_i phi(x_i) over the training objects (see kernel_expansion.h). A method is one row of
 *  the table in preimage.c and one file.
 */
#ifndef DKMAP_PREIMAGE_PREIMAGE_H
#define DKMAP_PREIMAGE_PREIMAGE_H

#include <dkmap/preimage.h>

#include "models/common/embedding.h"
#include "preimage/kernel_expansion.h"
#include "search/topk.h"

typedef struct dkm_preimage dkm_preimage;

typedef struct dkm_preimage_kind {
    dkm_preimage_method method;
    /** Whether the method can be used with this kernel and these objects. Local. */
    int (*suits)(const dkm_embedding *e);
    /** Numbers a point takes while it is solved for, beside coordinates and object; NULL is none.
     *  Local. */
    dkm_idx (*width)(const dkm_preimage *pre);
    /** Once, before the first pre-image; NULL where nothing is to be done. Collective. */
    dkm_status (*prepare)(dkm_preimage *pre);
    /** Objects for rows of coordinates. Collective. */
    dkm_status (*solve)(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y);
} dkm_preimage_kind;

struct dkm_preimage {
    dkm_embedding *e;
    dkm_preimage_settings settings;
    const dkm_preimage_kind *kind;
    const dkm_data *X; /**< while solving: the inputs of the points, where they are known */
    int ready;
    dkm_candidates candidates; /**< coordinates of the objects to choose or start from */
    int ranged;                /**< candidates that are streamed: whether `range` is known */
    dkm_norm_range range;
    dkm_kernel_expansion
        expansion; /**< of methods that work with Psi as a sum over training objects */
    dkm_dmat *U;   /**< linear: W'Y, p x d; exact: f(X), m x d */
    double *mean;  /**< linear: mean of the objects, d; mds: <v, mu>, p; strings: what outputs are
                      longer, m */
    dkm_model *learned; /**< from coordinates to objects; strings: to characters */
    int code[256];      /**< strings: number of each character of the inputs, or -1 */
    dkm_idx alphabet;   /**< how many of them */
};

extern const dkm_preimage_kind dkm_preimage_candidates, dkm_preimage_linear, dkm_preimage_exact,
    dkm_preimage_fixed_point, dkm_preimage_gradient, dkm_preimage_mds, dkm_preimage_learned,
    dkm_preimage_strings, dkm_preimage_none;

/** Choose a method; takes over what the settings hold, also on failure. Collective.
 *
 *  Nothing is computed before the first pre-image. dkm_preimage_close() frees, also after a
 *  failure.
 *
 *  @param[in] make  auto may make objects anew, rather than choose one that is there
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when the method does not suit the kernel (those that do are
 *          named); DKM_ERR_ARG for a learned map without its kernel or ridge, for candidates of
 * another type or width, or fewer than @p top
 */
DKM_NODISCARD
dkm_status dkm_preimage_open(dkm_preimage *pre, dkm_embedding *e, dkm_preimage_settings *settings,
                             int make);
void dkm_preimage_close(dkm_preimage *pre);

/** Type and columns of what comes out, and the numbers a point takes on the way. Local. */
dkm_type dkm_preimage_type(const dkm_preimage *pre);
dkm_idx dkm_preimage_cols(const dkm_preimage *pre);
dkm_idx dkm_preimage_width(const dkm_preimage *pre);

/** Objects for rows of coordinates. Collective.
 *  @param[in] X  the inputs that coordinates were predicted from, or NULL
 *  @return DKM_OK; DKM_ERR_ARG for rows of another width; what the method returns */
DKM_NODISCARD
dkm_status dkm_preimage_solve(dkm_preimage *pre, const dkm_data *X, const dkm_data *Z,
                              dkm_data **Y);

/** Coordinates and norms of the training objects, as candidates. Collective. */
DKM_NODISCARD
dkm_status dkm_preimage_use_training(dkm_preimage *pre);

/** Put the nearest training objects in place of rows that hold a number that is not finite, and
 *  tell how many there were as a warning. Collective.
 *  @param[in] pre  with the training objects as candidates */
DKM_NODISCARD
dkm_status dkm_preimage_mend(dkm_preimage *pre, const dkm_data *Z, dkm_data *Y);

/** Whether the objects are dense rows and the kernel is exactly @p text, or (NULL) any. Local. */
int dkm_preimage_dense(const dkm_embedding *e, const char *text);

#endif
