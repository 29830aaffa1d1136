/** @file patches.h  Overlapping patches of images or signals, and the cells they cut them into.
 *
 *  Patches of `size` along each dimension stand `step` apart, the last one flush with the border.
 *  All points that lie in the same patches make a cell, a box. For
 *
 *      s_p(x, x') = sum over patches P that hold p of <x_P, x'_P>
 *
 *  only the cell of p matters, and <x_P, x'_P> is a sum over the cells of P.
 */
#ifndef DKMAP_KERNELS_JOINT_PATCHES_H
#define DKMAP_KERNELS_JOINT_PATCHES_H

#include <dkmap/context.h>

/** Cuts of one dimension. */
typedef struct dkm_patch_edges {
    dkm_idx length, cells, patches;
    dkm_idx *edge;      /**< cells + 1: where cells begin and end */
    dkm_idx *from, *to; /**< patches: the cells [from, to) of each */
} dkm_patch_edges;

typedef struct dkm_patches {
    dkm_ctx *ctx;
    dkm_patch_edges rows, cols; /**< a signal has one row */
    dkm_idx points, cells;
    dkm_idx *start; /**< cells + 1: where the points of each cell begin in `order` */
    dkm_idx *order; /**< points, cell after cell */
} dkm_patches;

/** Cut height x width points. Local; dkm_patches_clear() frees, also after a failure.
 *  @param[in] size  of a patch along each dimension (at most 1 along one of length 1)
 *  @return ok; DKM_ERR_ARG when a patch is larger than what it is cut from; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_patches_make(dkm_patches *p, dkm_ctx *ctx, dkm_idx height,
                                         dkm_idx width, dkm_idx size, dkm_idx step);
void dkm_patches_clear(dkm_patches *p);

/** How many numbers dkm_patches_sum_cells() works with beside its argument. Local. */
dkm_idx dkm_patches_scratch(const dkm_patches *p);

/** From <x_c, x'_c> of every cell to s of every cell, in place. Local. */
void dkm_patches_sum_cells(const dkm_patches *p, double *dots, double *scratch);

#endif
