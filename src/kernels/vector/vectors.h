/** @file vectors.h  What all kernels on rows of numbers, dense or sparse, are made from. */
#ifndef DKMAP_KERNELS_VECTOR_VECTORS_H
#define DKMAP_KERNELS_VECTOR_VECTORS_H

#include "kernels/evaluation/panel.h"

#define DKM_VECTOR_TYPES (DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_SPARSE))

/** Precompute: the rows as they are, with a norm of the n values of each as their only extra. Local. */
dkm_local dkm_vectors_add_norms(const dkm_objs *X, double (*norm)(const double *x, dkm_idx n),
                                dkm_objs *out);

/** Precompute: the rows as they are, with ||x||^2 as their only extra. Local. */
dkm_local dkm_vectors_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out);

/** C(i, j) = <a_i, b_j>. Local. */
DKM_NODISCARD dkm_local dkm_vectors_dot(const dkm_node *node, const dkm_tile_task *task,
                                        const dkm_tile *C);

/** D(i, j) = derivative by a width of k(a_i, b_j) = f(q), where q is the squared distance in units
 *  of the width, or the sum over columns of that in units of the width of each. Local.
 *  @param[in] number  of the width: that of a column where there are several
 *  @param[in] slope   f'(q), finite
 *  @return ok; DKM_ERR_UNSUPPORTED for a width per column of sparse rows, or of rows too wide to be
 *          held together */
DKM_NODISCARD dkm_local dkm_vectors_width_tile(const dkm_node *node, const dkm_tile_task *task,
                                               dkm_idx number,
                                               double (*slope)(const dkm_node *node, double q),
                                               const dkm_tile *D);

/** D(i, j) = derivative of k(a_i, b_j) = f(<a_i, b_j>) by the parameter of a dot-product kernel: its
 *  class says what that is of an inner product (`param_slope`). Local. */
DKM_NODISCARD dkm_local dkm_vectors_slope_tile(const dkm_node *node, const dkm_tile_task *task,
                                               const dkm_param_place *by, const dkm_tile *D);

/** The same of k(x, x), of @p n objects of a panel from @p first on. Local. */
DKM_NODISCARD dkm_local dkm_vectors_slope_diag(const dkm_node *node, const dkm_panel *panel,
                                               dkm_idx first, dkm_idx n, const dkm_param_place *by,
                                               double *diag);

/** Column @p number of the rows of a panel from row @p first on, where each column has a width; the
 *  next row's comes @p step numbers later. Local.
 *  @return ok; DKM_ERR_UNSUPPORTED as above */
DKM_NODISCARD dkm_local dkm_vectors_column(const dkm_node *node, const dkm_tile_task *task,
                                           const dkm_panel *panel, dkm_idx first, dkm_idx number,
                                           const double **column, dkm_idx *step);

/** k(x, x) = 1. Local. */
void dkm_diag_one(const dkm_node *node, dkm_panel *panel);

#endif
