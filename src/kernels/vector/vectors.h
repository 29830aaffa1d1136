/** @file vectors.h  What all kernels on rows of numbers, dense or sparse, are made from. */
#ifndef DKMAP_KERNELS_VECTOR_VECTORS_H
#define DKMAP_KERNELS_VECTOR_VECTORS_H

#include "kernels/evaluation/panel.h"

#define DKM_VECTOR_TYPES (DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_SPARSE))

/** Digest: the rows as they are, with a norm of the n values of each as their only extra. Local. */
dkm_local dkm_vectors_add_norms(const dkm_objs *X, double (*norm)(const double *x, dkm_idx n),
                                dkm_objs *out);

/** Digest: the rows as they are, with ||x||^2 as their only extra. Local. */
dkm_local dkm_vectors_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out);

/** C(i, j) = <a_i, b_j>. Local. */
DKM_NODISCARD dkm_local dkm_vectors_dot(const dkm_node *node, const dkm_tile_task *task,
                                        const dkm_tile *C);

/** k(x, x) = 1. Local. */
void dkm_diag_one(const dkm_node *node, dkm_panel *panel);

#endif
