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

/** Fit Q to a kernel matrix. Collective.
 *
 *  @param[in,out] K      as dkm_extrapolate() takes it; on success K - K_Q
 *  @param[in]     map    taken over (nulled): the model keeps it
 *  @param[in]     F      what the map makes of the objects of K, taken over (nulled)
 *  @param[out]    model  new, owned by the caller; NULL on failure
 *  @param[out]    info   may be NULL
 *  @return as dkm_extrapolate()
 */
DKM_NODISCARD
dkm_status dkm_extend_fit(dkm_dmat *K, dkm_features **map, dkm_data **F,
                          const dkm_extrapolate_settings *settings, dkm_model **model,
                          dkm_extrapolate_info *info);

/** Coordinates of some objects, whose inner products are k_Q: as many dense rows. Collective.
 *  @param[out] Z  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for a model of another method, or other objects */
DKM_NODISCARD
dkm_status dkm_extend_coordinates(dkm_model *model, const dkm_data *X, dkm_data **Z);

/** Combine kernels that stand on the same features into the joint one, Q = (sum of w_i Q_i^-1)^-1,
 *  in the form that needs no inverse. Collective.
 *
 *  @param[in]     count    at least 1
 *  @param[in,out] models   of dkm_extend_fit(); the first becomes the joint kernel
 *  @param[in]     weights  of each, from 0 to 1 and 1 in sum; one with none has no say
 *  @return DKM_OK; DKM_ERR_ARG for other weights, another method or other features
 */
DKM_NODISCARD
dkm_status dkm_extend_combine(dkm_idx count, dkm_model *const *models, const double *weights);

typedef struct dkm_complete_settings {
    dkm_extrapolate_settings extrapolate;
    int clip; /**< drop negative eigenvalues of both matrices, on the observed objects, first */
    dkm_layout layout;
} dkm_complete_settings;

typedef struct dkm_complete_info {
    dkm_idx m, observed;
    dkm_idx dimensions;         /**< of the coordinates */
    dkm_extrapolate_info known; /**< of the incomplete kernel, on the observed objects */
    dkm_extrapolate_info by;    /**< of the complete one, there too */
} dkm_complete_info;

/** Fill the missing rows of one kernel matrix from another, and combine the two. Collective.
 *
 *  The features of an object are its values of S to the observed objects. K is extrapolated from
 *  the observed objects to all by them, and S is put in the same form; lambda weighs S in the joint
 *  kernel. At lambda = 0 K alone is extrapolated.
 *
 *  @param[in]  K         m x m, rows in slabs; rows and columns that are not observed are not read
 *  @param[in]  S         m x m, complete
 *  @param[in]  observed  m numbers as labels or one dense column: 1 where K is known, else 0
 *  @param[in]  lambda    from 0 to 1
 *  @param[out] Z         new: coordinates of all m objects, whose inner products are the kernel
 *  @param[out] info      may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC
 */
DKM_NODISCARD
dkm_status dkm_extend_complete(const dkm_data *K, const dkm_data *S, const dkm_data *observed,
                               double lambda, const dkm_complete_settings *settings, dkm_data **Z,
                               dkm_complete_info *info);

#endif
