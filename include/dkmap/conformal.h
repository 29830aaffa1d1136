/** @file conformal.h  Prediction sets with a guarantee: split conformal prediction.
 *
 *  With residuals r_1, ..., r_n of examples that the model was not fitted to, and q their
 *  ceil((n + 1) c)-th smallest, the set of all outputs whose residual is at most q holds the output of
 *  a new input with probability c at least, and at most c + 1 / (n + 1) where residuals are all
 *  different, whatever the model and the distribution, as long as calibration examples and new
 *  ones are exchangeable (Vovk, Gammerman and Shafer 2005; Lei, G'Sell, Rinaldo, Tibshirani and
 *  Wasserman 2018, J. Amer. Statist. Assoc. 113(523):1094-1111, doi:10.1080/01621459.2017.1307116).
 *  The probability is over both draws, not for one given input.
 *
 *  The residual is the distance in the feature space of the outputs:
 *    numbers (krr, knn)   |y_j - f_j(x)| for each column by itself: intervals, rows of all lower and
 *                         then all upper ends; the guarantee is for each column
 *    classes (krr, knn)   ||e_c - f(x)||^2: label sets of classes
 *    kde, knn with a kernel of the outputs   ||phi(y) - f(x)||^2: label sets of the numbers of the
 *                         candidates inside the ball; the output is among them if it is a
 *                         candidate
 *    jkm with candidates  max_c F(x, c) - F(x, y), the margin of the joint score: the same
 */
#ifndef DKMAP_CONFORMAL_H
#define DKMAP_CONFORMAL_H

#include <dkmap/model.h>

DKM_API_BEGIN

typedef struct dkm_conformal_info {
    dkm_idx rows;  /**< calibration examples */
    double radius; /**< q; the mean over the columns. Infinite where there are too few examples */
} dkm_conformal_info;

/** Find the residuals of examples that the model was not fitted to and keep them in it: they are saved
 *  with it. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] X, Y  as many rows each
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for models and outputs without prediction sets; DKM_ERR_ARG */
DKM_NODISCARD dkm_status dkm_model_hold_out(dkm_model *model, const dkm_data *X, const dkm_data *Y);

/** Whether the model has such residuals. Local. */
int dkm_model_has_residuals(const dkm_model *model);
/** Whether its method has prediction sets at all. Local. */
int dkm_model_has_sets(const dkm_model *model);

/** Get ready for prediction sets, pre-images being configured. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in]  coverage  above 0 and below 1
 *  @param[out] info      may be NULL
 *  @return DKM_OK; DKM_ERR_ARG for another coverage, or without residuals; DKM_ERR_UNSUPPORTED */
DKM_NODISCARD dkm_status dkm_model_calibrate(dkm_model *model, double coverage,
                                             dkm_conformal_info *info);

/** What prediction sets are, once calibrated: type and columns. Local. */
dkm_type dkm_model_set_type(const dkm_model *model);
dkm_idx dkm_model_set_cols(const dkm_model *model);

/** The prediction sets of new inputs. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[out] S  new, owned by the caller; as many rows as @p X; NULL on failure */
DKM_NODISCARD dkm_status dkm_model_prediction_sets(dkm_model *model, const dkm_data *X,
                                                   dkm_data **S);

DKM_API_END

#endif
