/** @file complete.h  Missing rows of one kernel matrix filled from another, and both combined.
 *
 *  The features of an object are its values of the complete kernel S to the observed objects. K is
 *  extrapolated from those to all objects by them (extrapolate.h), S is put in the same form, and
 *  lambda weighs S in the joint kernel. At lambda = 0 K alone is extrapolated.
 */
#ifndef DKMAP_COMPLETE_H
#define DKMAP_COMPLETE_H

#include <dkmap/extrapolate.h>
#include <dkmap/model.h>

DKM_API_BEGIN

typedef struct dkm_completion dkm_completion;

typedef struct dkm_complete_settings {
    dkm_extrapolate_settings extrapolate;
    int clip; /**< drop negative eigenvalues of both matrices, on the observed objects, first */
    dkm_layout layout;
} dkm_complete_settings;

typedef struct dkm_complete_info {
    dkm_idx m, observed;
    dkm_extrapolate_info known; /**< of the incomplete kernel, on the observed objects */
    dkm_extrapolate_info by;    /**< of the complete one, there too */
} dkm_complete_info;

/** Find both kernels on the features. Collective.
 *
 *  @param[in]  K           m x m, rows in slabs; rows and columns not observed are not read
 *  @param[in]  S           m x m, complete
 *  @param[in]  observed    m numbers as labels or one dense column: 1 where K is known, else 0
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] completion  new, owned by the caller; NULL on failure
 *  @param[out] info        may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_completion_open(const dkm_data *K, const dkm_data *S,
                                             const dkm_data *observed,
                                             const dkm_complete_settings *settings,
                                             dkm_completion **completion, dkm_complete_info *info);

/** The joint kernel. Collective.
 *
 *  @param[in] completion  open
 *  @param[in]  lambda  from 0 to 1, the same on every rank
 *  @param[out] Z       new: coordinates of all m objects, whose inner products are the kernel
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_completion_join(const dkm_completion *completion, double lambda,
                                             dkm_data **Z);

/** Free. Collective; takes NULL and nulls. */
void dkm_completion_close(dkm_completion **completion);

DKM_API_END

#endif
