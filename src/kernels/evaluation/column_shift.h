/** @file column_shift.h  The origin of dense rows, for kernels that see nothing but their
 * differences.
 *
 *  ||x||^2 + ||x'||^2 - 2 <x, x'> has an error of about eps max ||x||^2, which is more than the
 *  distance itself where rows lie far from the origin and near to each other. Such rows are
 *  replaced by x - c, with c near their mean: nothing changes but the error.
 */
#ifndef DKMAP_KERNELS_EVALUATION_COLUMN_SHIFT_H
#define DKMAP_KERNELS_EVALUATION_COLUMN_SHIFT_H

#include "data/objects.h"

/** The origin c that suits the rows of @p X: the means of its columns, rounded to integers in
 *  columns that hold nothing else. To the last bit the same on any number of ranks.
 *
 *  Collective.
 *
 *  @param[out] shift  d numbers, owned by the caller; NULL where ||c||^2 is at most 4 times the
 *                     mean of ||x - c||^2, so that there is little to gain
 */
DKM_NODISCARD dkm_status dkm_shift_find(const dkm_data *X, double **shift);

/** New rows x - c. Collective.
 *  @param[out] shifted  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_shift_data(const dkm_data *X, const double *shift, dkm_data **shifted);

#endif
