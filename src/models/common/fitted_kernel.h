/** @file fitted_kernel.h  What every kernel model stands on: a grid, a kernel and its training
 * inputs. */
#ifndef DKMAP_MODELS_COMMON_FITTED_KERNEL_H
#define DKMAP_MODELS_COMMON_FITTED_KERNEL_H

#include <dkmap/model.h>

#include "io/archive/archive.h"
#include "matrix/multivec.h"

typedef struct dkm_fitted_kernel {
    dkm_ctx *ctx;
    dkm_grid *grid;
    int shares_grid; /**< the grid belongs to another fitted kernel */
    dkm_idx nb;
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_data *indices; /**< of X among the training inputs, a column in slabs; NULL: X is all of
                          them, in order */
    dkm_prepared *prepared;
    dkm_cross_gram *cross; /**< NULL until new inputs come */
} dkm_fitted_kernel;

/** Set up for training inputs, of which it holds a share, and a copy of the kernel.
 *  Collective; dkm_fitted_kernel_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_open(dkm_fitted_kernel *fitted, dkm_ctx *ctx,
                                                const dkm_data *X, const dkm_kernel *kernel,
                                                const dkm_layout *layout);
/** The same on the grid and block size of another fitted kernel, which must be closed later.
 * Collective. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_open_sharing_grid(dkm_fitted_kernel *fitted,
                                                             const dkm_fitted_kernel *other,
                                                             const dkm_data *X,
                                                             const dkm_kernel *kernel);
/** The same for the text of a kernel, on the grid of another fitted kernel or (NULL) laid out anew.
 *  Collective.
 *  @return also what dkm_kernel_parse() returns */
DKM_NODISCARD dkm_status dkm_fitted_kernel_parse(dkm_fitted_kernel *fitted,
                                                 const dkm_fitted_kernel *other, const dkm_data *X,
                                                 const char *kernel, const dkm_layout *layout);
/** Use the kernel for distances between images alone: the origin may be moved then, so that they
 *  keep their digits. Collective; before new inputs come. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_use_distances(dkm_fitted_kernel *fitted);
void dkm_fitted_kernel_close(dkm_fitted_kernel *fitted);

/** Say which of the training inputs the objects are. Collective.
 *  @param[in] indices  one per object, the same on every rank */
DKM_NODISCARD dkm_status dkm_fitted_kernel_set_indices(dkm_fitted_kernel *fitted,
                                                       const dkm_idx *indices);

/** k(X, training) as a distributed matrix, after checking that X is like the training inputs.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_cross(dkm_fitted_kernel *fitted, const dkm_data *X,
                                                 dkm_dmat **K);

/** W <- k(X, training) V, which is not stored: V has a row per training input, W one per input of X, and
 *  at most DKM_NRHS_MAX columns. Collective. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_multiply(dkm_fitted_kernel *fitted, const dkm_data *X,
                                                    const dkm_multivec *V, dkm_multivec *W);

/** The training inputs, dense rows, as a distributed matrix. Collective. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_objects(const dkm_fitted_kernel *fitted, dkm_dmat **X);

/** How many rows of @p width numbers to take at a time, all ranks together, within @p bytes per
 *  rank. Local. */
dkm_idx dkm_batch_rows(dkm_idx width, double bytes, int ranks);

/** How many new rows to take at a time when each makes @p outputs numbers. Local. */
dkm_idx dkm_fitted_kernel_batch_rows(const dkm_fitted_kernel *fitted, dkm_idx outputs);

/** The same where predictions are made by dkm_fitted_kernel_multiply(). Local. */
dkm_idx dkm_fitted_kernel_product_rows(const dkm_fitted_kernel *fitted, dkm_idx outputs);

/** What a model file calls the kernel of a fitted kernel, its objects, and their indices among
 *  the training inputs where there are any. */
typedef struct dkm_fitted_kernel_names {
    const char *kernel, *objects, *indices;
} dkm_fitted_kernel_names;

/** The indices as a part, where there are any, and back; the part is optional. Local. */
DKM_NODISCARD dkm_local dkm_fitted_kernel_put_indices(const dkm_fitted_kernel *fitted,
                                                      const char *name, dkm_archive *archive);
DKM_NODISCARD dkm_local dkm_fitted_kernel_take_indices(dkm_fitted_kernel *fitted, const char *name,
                                                       dkm_archive *archive);

extern const dkm_fitted_kernel_names dkm_input_names, dkm_output_names;

/** The kernel and the objects as parts. Local; objects and indices are borrowed. */
DKM_NODISCARD dkm_local dkm_fitted_kernel_to_archive(const dkm_fitted_kernel *fitted,
                                                     dkm_fitted_kernel_names names,
                                                     dkm_archive *archive);
/** A fitted kernel from those parts, beside another one or (NULL) laid out anew; takes the objects.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_from_archive(dkm_fitted_kernel *fitted,
                                                        const dkm_fitted_kernel *other,
                                                        dkm_fitted_kernel_names names,
                                                        dkm_archive *archive,
                                                        const dkm_layout *layout);

/** A distributed matrix as a part of dense rows, and back. Collective.
 *  On the way back the part must be rows x cols; its rows lie in blocks of the fitted kernel. */
DKM_NODISCARD dkm_status dkm_fitted_kernel_put_matrix(const dkm_fitted_kernel *fitted,
                                                      dkm_archive *archive, const char *name,
                                                      const dkm_dmat *A);
DKM_NODISCARD dkm_status dkm_fitted_kernel_take_matrix(const dkm_fitted_kernel *fitted,
                                                       dkm_archive *archive, const char *name,
                                                       dkm_idx rows, dkm_idx cols, dkm_dmat **A);

#endif
