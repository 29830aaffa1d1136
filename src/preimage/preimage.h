/** @file preimage.h  Pre-images of coordinates of an embedding: what every method provides.
 *
 *  A row z of coordinates stands for the point Psi = mu + sum_j z_j v_j of feature space, which is
 *  sum_i a_i phi(x_i) over the training objects (see kernel_expansion.h). A method is one file that
 *  defines a dkm_preimage_kind with a state of its own, one line of DKM_PREIMAGE_METHODS below, and
 *  its name in DKM_PREIMAGE_LIST of <dkmap/preimage.h>.
 */
#ifndef DKMAP_PREIMAGE_PREIMAGE_H
#define DKMAP_PREIMAGE_PREIMAGE_H

#include <dkmap/preimage.h>

#include "models/common/embedding.h"
#include "search/topk.h"

/** All methods, in the order in which they are suggested; the variables are dkm_preimage_... */
#define DKM_PREIMAGE_METHODS(X)                                                                    \
    X(linear)                                                                                      \
    X(exact)                                                                                       \
    X(candidates)                                                                                  \
    X(fixed_point)                                                                                 \
    X(gradient)                                                                                    \
    X(mds)                                                                                         \
    X(learned)                                                                                     \
    X(strings)                                                                                     \
    X(none)

typedef struct dkm_preimage dkm_preimage;

/** Settings beyond the method itself that a method honours. */
enum {
    DKM_PREIMAGE_TAKES_CANDIDATES = 1, /**< candidates, stream, top */
    DKM_PREIMAGE_TAKES_NEIGHBORS = 2,
    DKM_PREIMAGE_TAKES_WINDOW = 4,
    DKM_PREIMAGE_TAKES_KERNEL = 8, /**< kz, gamma_z */
    DKM_PREIMAGE_NEEDS_KERNEL = 16 /**< and cannot do without */
};

typedef struct dkm_preimage_kind {
    dkm_preimage_method method;
    unsigned takes;    /**< DKM_PREIMAGE_TAKES_... */
    size_t state_size; /**< bytes of its state, which is zero before `prepare`; 0 for none */
    /** Whether the method can be used with this kernel and these objects. Local. */
    int (*suits)(const dkm_embedding *e);
    /** Further requirements on the settings; NULL where there are none. Local. */
    dkm_local (*check)(const dkm_preimage *pre);
    /** Numbers a point takes while it is solved for, beside coordinates and object; NULL is none.
     *  Local. */
    dkm_idx (*width)(const dkm_preimage *pre);
    /** Once, before the first pre-image; NULL where nothing is to be done. Collective. */
    dkm_status (*prepare)(const dkm_preimage *pre, void *state);
    /** Objects for rows of coordinates Z, of which X are the inputs where they are known, else
     * NULL. Collective. */
    dkm_status (*solve)(const dkm_preimage *pre, void *state, const dkm_data *X, const dkm_data *Z,
                        dkm_data **Y);
    /** Free what the state holds, also after a failure; NULL where it holds nothing. Local. */
    void (*clear)(void *state);
} dkm_preimage_kind;

struct dkm_preimage {
    dkm_embedding *e;
    dkm_preimage_settings settings;
    const dkm_preimage_kind *kind;
    void *state; /**< of the method; NULL before the first pre-image */
    int ready;
};

#define DKM_PREIMAGE_EXTERN(name) extern const dkm_preimage_kind dkm_preimage_##name;
DKM_PREIMAGE_METHODS(DKM_PREIMAGE_EXTERN)
#undef DKM_PREIMAGE_EXTERN

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
DKM_NODISCARD dkm_status dkm_preimage_open(dkm_preimage *pre, dkm_embedding *e,
                                           dkm_preimage_settings *settings, int make);
void dkm_preimage_close(dkm_preimage *pre);

/** Type and columns of what comes out, and the numbers a point takes on the way. Local. */
dkm_type dkm_preimage_type(const dkm_preimage *pre);
dkm_idx dkm_preimage_cols(const dkm_preimage *pre);
dkm_idx dkm_preimage_width(const dkm_preimage *pre);

/** Objects for rows of coordinates. Collective.
 *  @param[in] X  the inputs that coordinates were predicted from, or NULL
 *  @return DKM_OK; DKM_ERR_ARG for rows of another width; what the method returns */
DKM_NODISCARD dkm_status dkm_preimage_solve(dkm_preimage *pre, const dkm_data *X, const dkm_data *Z,
                                            dkm_data **Y);

/** Coordinates and norms of the training objects, as candidates. Collective;
 *  dkm_candidates_clear() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_preimage_training(const dkm_preimage *pre, dkm_candidates *candidates);

/** Put the nearest training objects in place of rows that hold a number that is not finite, and
 *  report how many there were as a warning. Collective.
 *  @param[in] training  as dkm_preimage_training() found them */
DKM_NODISCARD dkm_status dkm_preimage_mend(const dkm_preimage *pre, const dkm_candidates *training,
                                           const dkm_data *Z, dkm_data *Y);

/** Whether the objects are dense rows and the kernel is exactly @p text, or (NULL) any. Local. */
int dkm_preimage_dense(const dkm_embedding *e, const char *text);

#endif
