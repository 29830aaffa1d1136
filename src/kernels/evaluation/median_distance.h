/** @file median_distance.h  The median distance between objects, a width for radial kernels. */
#ifndef DKMAP_KERNELS_EVALUATION_MEDIAN_DISTANCE_H
#define DKMAP_KERNELS_EVALUATION_MEDIAN_DISTANCE_H

#include "kernels/evaluation/kernel_impl.h"

/** The median of ||x - x'|| over pairs of objects of @p X: in the space of the kernel inside
 *  @p node or, where there is none, of the rows that the node sees. Collective.
 *
 *  @param[out] median  of distances other than 0 where half of them are; 0 where all are
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED where a part of the objects does not stand for itself
 */
DKM_NODISCARD dkm_status dkm_median_distance(const dkm_kernel *kernel, const dkm_node *node,
                                             const dkm_data *X, double *median);

#endif
