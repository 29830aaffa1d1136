/** @file model.h  A fitted model of any method: what `predict` needs, and what a model file holds.
 *
 *  Every fit borrows what it is given: examples, kernels, settings and what settings point to stay
 *  the caller's, who may destroy them as soon as the fit returns. A model that needs objects later
 *  holds a share of them, so that nothing is copied, and a copy of kernels. Objects must not be
 *  changed while a model shares them.
 */
#ifndef DKMAP_MODEL_H
#define DKMAP_MODEL_H

#include <dkmap/categories.h>
#include <dkmap/data.h>
#include <dkmap/kernel.h>
#include <dkmap/preimage.h>
#include <dkmap/table.h>

DKM_API_BEGIN

typedef struct dkm_model dkm_model;

/** How matrices are laid out; zeros choose. Part of every fit's settings. */
typedef struct dkm_layout {
    int P, Q;
    dkm_idx block;
} dkm_layout;

/** "krr", "kpca", ... Local. */
const char *dkm_model_method(const dkm_model *model);
/** What predictions are: their type and columns. Local. */
dkm_type dkm_model_output_type(const dkm_model *model);
dkm_idx dkm_model_output_cols(const dkm_model *model);

/** The names of classes, where the outputs were strings that were taken for such; else NULL. Valid
 *  as long as the model. Local. */
const dkm_categories *dkm_model_class_names(const dkm_model *model);

/** The table that inputs go through when they are read, for dkm_table_use() before new inputs are
 *  read; NULL when there is none. Valid as long as the model. Local. */
const dkm_table *dkm_model_table(const dkm_model *model);
/** Give a model the table that its inputs went through: it is saved with the model. Takes it over
 *  and nulls. Local. */
void dkm_model_take_table(dkm_model *model, dkm_table **table);

/** What the indices of svmlight inputs count from, 0 or 1, for dkm_ctx_set_svm_base() before new
 *  inputs are read; DKM_SVM_BASE_AUTO when the inputs were no such file or it is not known. Local.
 */
int dkm_model_svm_base(const dkm_model *model);

/** Choose how coordinates are turned into objects: what kde predicts, and what any model decodes.
 *  Collective; borrows what the settings hold, of which the model has a share. After a failure the
 *  model refuses to predict, decode or be saved (DKM_ERR_ARG) until it is configured again.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when the method has no pre-images, or none of this kind */
DKM_NODISCARD dkm_status dkm_model_configure(dkm_model *model,
                                             const dkm_preimage_settings *settings);

/** Whether a model chooses among candidates, of which settings of pre-images can ask for scores.
 *  Local. */
int dkm_model_has_candidates(const dkm_model *model);

/** Which candidates count for each of the inputs that are predicted next, which must be as many.
 *
 *  Collective. Lists that are shorter than asked for end in NaN, and so do scores of all candidates
 *  have NaN for those that do not count.
 *
 *  @param[in] model  of jkm with candidates or classes, borrowed
 *  @param[in] lists  label sets of numbers of candidates, from 0 on in their order, or of classes
 *                    ascending; shared; NULL: all count
 *  @return DKM_OK; DKM_ERR_ARG for a number that no candidate has, or an empty list;
 *          DKM_ERR_UNSUPPORTED for other models */
DKM_NODISCARD dkm_status dkm_model_set_candidate_lists(dkm_model *model, const dkm_data *lists);

/** What dkm_model_predict() gives. */
typedef enum dkm_prediction {
    DKM_PREDICT_OUTPUTS,
    DKM_PREDICT_SCORES, /**< decision values: dense rows, one column per class or label, ascending */
    DKM_PREDICT_PROBABILITIES /**< of classes: softmax of the scores, with the slope that has the
                                   least leave-one-out log loss */
} dkm_prediction;

/** Choose what a model of krr or svm predicts. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] prediction  what rows of predictions hold
 *  @param[in] threshold  of label sets: labels with such a score are predicted, 0.5 by default; NaN:
 *                        those down to a share of the greatest score of the row, the share with the
 *                        greatest leave-one-out F1 of the examples
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for other models and outputs; DKM_ERR_ARG for a model that
 *          was fitted without leave-one-out errors */
DKM_NODISCARD dkm_status dkm_model_choose_prediction(dkm_model *model, dkm_prediction prediction,
                                                     double threshold);

/** The noise that standard deviations of predictions count, as the variance of what outputs have
 *  beside f(x). */
typedef enum dkm_noise {
    DKM_NOISE_NONE,     /**< deviations of f alone, under noise of variance gamma */
    DKM_NOISE_RIDGE,    /**< gamma */
    DKM_NOISE_GIVEN,    /**< a variance, in the squared unit of the outputs */
    DKM_NOISE_ESTIMATED /**< under which the training outputs are most likely, per column */
} dkm_noise;

typedef struct dkm_std_info {
    int recomputed; /**< the model has no factor: it was computed anew */
    double scale;   /**< prior variance of f is scale k(x, x); the mean over the columns */
    double noise;   /**< variance of the noise, scale gamma; the mean over the columns */
} dkm_std_info;

/** Predict, from now on, dense rows of all means and then all posterior standard deviations, the
 *  model being seen as a Gaussian process whose covariance is scale k and whose noise has the
 *  variance scale gamma. The intercept of a centered model counts as known. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] noise  which noise the deviations count
 *  @param[in]  variance  of DKM_NOISE_GIVEN, > 0; else not read
 *  @param[out] info      may be NULL
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for other models than exact ones of krr in dual form, and
 *          other outputs than numbers; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_model_choose_std(dkm_model *model, dkm_noise noise, double variance,
                                              dkm_std_info *info);

/** How many rows to predict at a time, so that working memory stays bounded whatever their number.
 *  Local; the same on every rank. */
dkm_idx dkm_model_batch_rows(const dkm_model *model);

/** Predict the outputs of some new inputs. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[out] Y  new, owned by the caller; as many rows as @p X; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG or DKM_ERR_UNSUPPORTED when X is not like the training inputs */
DKM_NODISCARD dkm_status dkm_model_predict(dkm_model *model, const dkm_data *X, dkm_data **Y);

/** Turn rows of coordinates back into objects: of kpca, those of its training objects; of kde,
 * those of its outputs. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in]  Z  dense rows, one number a component
 *  @param[out] Y  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when the method has no coordinates; DKM_ERR_ARG for rows of
 *          another width */
DKM_NODISCARD dkm_status dkm_model_decode(dkm_model *model, const dkm_data *Z, dkm_data **Y);
/** What decoding gives: type and columns. Local. */
dkm_type dkm_model_decoded_type(const dkm_model *model);
dkm_idx dkm_model_decoded_cols(const dkm_model *model);

void dkm_model_destroy(dkm_model **model);

DKM_API_END

#endif
