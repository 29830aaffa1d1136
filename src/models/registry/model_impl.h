/** @file model_impl.h  A fitted model, and what the models of a method can do. */
#ifndef DKMAP_MODELS_REGISTRY_MODEL_IMPL_H
#define DKMAP_MODELS_REGISTRY_MODEL_IMPL_H

#include <dkmap/model.h>
#include <dkmap/report.h>
#include <dkmap/update.h>

#include "data/categories.h"
#include "io/archive/archive.h"
#include "io/table/table.h"

/** What models of one kind can do; methods (method_impl.h) name theirs. */
typedef struct dkm_model_class {
    const char *name;
    dkm_status (*predict)(void *state, const dkm_data *X, dkm_data **Y);
    /** Choose what is predicted, and say of what type and width that is; NULL for methods that
     *  predict outputs alone. Local. */
    dkm_local (*choose)(void *state, dkm_prediction prediction, double threshold, dkm_type *type,
                        dkm_idx *cols);
    /** Predict means and standard deviations from now on, and say how many columns those are; NULL
     *  for methods that have none. Collective. */
    dkm_status (*choose_std)(void *state, dkm_noise noise, double variance, dkm_std_info *info,
                             dkm_idx *cols);
    /** Learn from more examples, and forget some; the state is as before on failure. Say how wide
     *  predictions are now. NULL for methods that must fit anew. Collective. */
    dkm_status (*append)(void *state, const dkm_data *X, const dkm_data *Y, const dkm_data *weights,
                         dkm_report *report, dkm_idx *cols);
    dkm_status (*forget)(void *state, dkm_idx count, const dkm_idx *rows, dkm_report *report,
                         dkm_idx *cols);
    /** Choose how files keep a factor; NULL for methods that have none. Local. */
    dkm_local (*store_factor)(void *state, dkm_factor_storage storage, const char *path);
    /** How far outputs are from what is predicted for their inputs: dense rows, a number for each
     *  radius of the prediction sets. NULL for methods without prediction sets. Collective. */
    dkm_status (*residuals)(void *state, const dkm_data *X, const dkm_data *Y, dkm_data **R);
    /** Get ready for prediction sets, and say of what type and width they are. Collective. */
    dkm_status (*open_sets)(void *state, dkm_type *type, dkm_idx *cols);
    /** All outputs whose residuals are within the radii. Collective. */
    dkm_status (*prediction_sets)(void *state, const dkm_data *X, const double *radius,
                                  dkm_data **S);
    /** Rows to predict at a time. Local. */
    dkm_idx (*batch_rows)(const void *state);
    /** Choose how coordinates become objects, and say what those are; takes over what the settings
     *  hold. NULL for methods without coordinates. Collective. */
    dkm_status (*configure)(void *state, dkm_preimage_settings *settings, dkm_type *type,
                            dkm_idx *cols);
    /** Which candidates count for each of the inputs that are predicted next; NULL: all. NULL for
     *  methods without such lists. Collective. */
    dkm_status (*set_lists)(void *state, const dkm_data *lists);
    /** Objects from coordinates, as configured; NULL for methods without them. Collective. */
    dkm_status (*decode)(void *state, const dkm_data *Z, dkm_data **Y);
    /** What the model is configured with to do so; NULL for methods without coordinates. Local. */
    const struct dkm_preimage *(*preimage)(const void *state);
    int lists_scores;         /**< lists of candidates have scores, the best with the greatest; else
                           squared distances */
    int predicts_coordinates; /**< predict gives coordinates, and decode the objects; else predict
                                   decodes by itself */
    /** Name every part of the model. Collective. */
    dkm_status (*to_archive)(void *state, dkm_archive *archive);
    /** Make the state again from its parts, taking their data. Collective. */
    dkm_status (*from_archive)(dkm_ctx *ctx, dkm_archive *archive, const dkm_layout *layout,
                               void **state);
    void (*destroy)(void *state);
} dkm_model_class;

struct dkm_model {
    dkm_ctx *ctx;
    const dkm_model_class *class;
    void *state;
    dkm_type output_type;
    dkm_idx output_cols;
    dkm_type decoded_type;
    dkm_idx decoded_cols;
    int scores;          /**< a number per candidate is predicted, made from lists of all of them */
    dkm_data *lists;     /**< the candidates that count for each input to predict next, or NULL */
    int unconfigured;    /**< after dkm_model_configure() failed: nothing can be predicted */
    dkm_data *residuals; /**< of examples that were held out, for prediction sets; or NULL */
    double *radius;      /**< of prediction sets, once calibrated */
    dkm_type set_type;   /**< of those */
    dkm_idx set_cols;
    dkm_table *table;            /**< that inputs go through when they are read; else NULL */
    dkm_categories *class_names; /**< of labels that were strings; else NULL */
    int svm_base; /**< of inputs from svmlight files; DKM_SVM_BASE_AUTO: none were, or not known */
};

/** Wrap a method's state, with the pre-images that suit it; takes it over, also on failure.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_model_wrap(dkm_ctx *ctx, const dkm_model_class *class, void *state,
                                        dkm_type output_type, dkm_idx output_cols,
                                        dkm_model **model);

/** All parts of a model, and a model from them. Collective. */
DKM_NODISCARD dkm_status dkm_model_to_archive(dkm_model *model, dkm_archive *archive);
DKM_NODISCARD dkm_status dkm_model_from_archive(dkm_ctx *ctx, const char *method,
                                                dkm_archive *archive, const dkm_layout *layout,
                                                dkm_model **model);

extern const dkm_model_class dkm_class_krr, dkm_class_krr_primal, dkm_class_kpca, dkm_class_kde,
    dkm_class_knn, dkm_class_hopfield, dkm_class_svm, dkm_class_extend, dkm_class_lle,
    dkm_class_jkm, dkm_class_jkm_chain;

#endif
