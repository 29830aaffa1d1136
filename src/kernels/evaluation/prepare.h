/** @file prepare.h  Filling slots, for kinds that fill their own. */
#ifndef DKMAP_KERNELS_EVALUATION_PREPARE_H
#define DKMAP_KERNELS_EVALUATION_PREPARE_H

#include "kernels/evaluation/kernel_impl.h"

/** Make @p objs, this rank's slab, the contents of a slot; arrays that are those of the raw objects
 *  are borrowed. Collective. @p objs is taken over, also on failure. */
DKM_NODISCARD dkm_status dkm_feature_cache_fill(dkm_prepared *prepared, dkm_idx slot,
                                                dkm_objs *objs);

/** Free what was to become the contents of a slot, borrowed arrays apart. Local. */
void dkm_feature_cache_drop(const dkm_prepared *prepared, dkm_objs *objs);

/** Keep beside the contents of a slot a copy with the extras alone, for columns. Collective. */
DKM_NODISCARD dkm_status dkm_feature_cache_keep_extras(dkm_prepared *prepared, dkm_idx slot);

/** Can objects of @p A stand for rows and those of @p B for columns of one matrix? Local. */
DKM_NODISCARD dkm_local dkm_prepared_match(const dkm_prepared *A, const dkm_prepared *B);

/** The origin that all leaves of the kernel take instead of zero, which changes none of its values;
 *  NULL where that is zero, or some leaf takes zero. Local. */
const double *dkm_prepared_origin(const dkm_prepared *prepared);

/** About how much kernel values between near objects are off in some precision: what is lost to
 *  differences of large numbers. Local; the same on every rank. */
double dkm_prepared_error(const dkm_prepared *prepared, dkm_precision precision);

/** Warn where that is more than @p limit. Local. */
void dkm_prepared_warn(const dkm_prepared *prepared, dkm_precision precision, double limit);

/** Copies x - c of dense rows that a kernel keeps where they lie far from the origin
 *  (column_shift.h): one for each slot of leaves that see nothing but differences. Local. */
dkm_idx dkm_kernel_shifted_copies(const dkm_kernel *kernel);

/** Whether a kernel is one for objects of that type. Local. */
int dkm_kernel_suits(const dkm_kernel *kernel, dkm_type type);

/** Whether the values of a kernel depend on all training objects: all of them must be stored then.
 *  Local. */
int dkm_kernel_needs_training_set(const dkm_kernel *kernel);

#endif
