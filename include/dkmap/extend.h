/** @file extend.h  A kernel matrix made into a kernel: k_Q(x, x') = f(x)'Q f(x').
 *
 *  The model of such a kernel holds a feature map f, Q, and the features of the objects that the
 *  matrix was given for. Predicting with it gives rows of kernel values to those.
 */
#ifndef DKMAP_EXTEND_H
#define DKMAP_EXTEND_H

#include <dkmap/extrapolate.h>
#include <dkmap/features.h>
#include <dkmap/model.h>

DKM_API_BEGIN

/** Fit Q to a kernel matrix. Collective.
 *
 *  @param[in,out] K      as dkm_extrapolate() takes it; on success K - K_Q
 *  @param[in]     map    borrowed; the model holds a share
 *  @param[in]     F      what the map makes of the objects of K; the model holds a share
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out]    model  new, owned by the caller; NULL on failure
 *  @param[out]    info   may be NULL
 *  @return as dkm_extrapolate() */
DKM_NODISCARD dkm_status dkm_extend_fit(dkm_dmat *K, dkm_features *map, const dkm_data *F,
                                        const dkm_extrapolate_settings *settings, dkm_model **model,
                                        dkm_extrapolate_info *info);

/** Coordinates of some objects, whose inner products are k_Q: as many dense rows. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[out] Z  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for a model of another method, or other objects */
DKM_NODISCARD dkm_status dkm_extend_coordinates(dkm_model *model, const dkm_data *X, dkm_data **Z);

/** Combine kernels that stand on the same features into the joint one, Q = (sum of w_i Q_i^-1)^-1,
 *  in the form that needs no inverse. Collective.
 *
 *  @param[in]     count    at least 1
 *  @param[in,out] models   of dkm_extend_fit(); the first becomes the joint kernel
 *  @param[in]     weights  of each, from 0 to 1 and 1 in sum; one with none has no say
 *  @return DKM_OK; DKM_ERR_ARG for other weights, another method or other features
 */
DKM_NODISCARD dkm_status dkm_extend_combine(dkm_idx count, dkm_model *const *models,
                                            const double *weights);

DKM_API_END

#endif
