/** @file trial.h  What a kernel matrix is worth: how well machines trained on some of its objects
 *  tell the classes of the others.
 *
 *  Objects are dealt to folds (folds.h); for each fold a support vector machine a class, that class
 *  against the rest, learns from the others and judges the fold.
 */
#ifndef DKMAP_TRIAL_H
#define DKMAP_TRIAL_H

#include <dkmap/data.h>
#include <dkmap/margin.h>
#include <dkmap/model.h>

typedef struct dkm_trial_settings {
    dkm_margin_settings margin; /**< with the loss hinge or squared */
    dkm_idx folds;
    uint64_t stream; /**< of the deal: another one, other folds */
    dkm_layout layout;
} dkm_trial_settings;

typedef struct dkm_trial_score {
    dkm_idx classes;
    double apart; /**< share of right answers of a machine, mean over all classes */
    double named; /**< share of objects whose own class has the highest value */
} dkm_trial_score;

dkm_trial_settings dkm_trial_settings_default(void);

/** Try a kernel matrix. Collective.
 *
 *  @param[in]  G      m x m kernel values, rows in slabs, symmetric
 *  @param[in]  Y      m labels, each class with at least as many members as there are folds
 *  @param[out] score  the same on every rank
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY
 */
DKM_NODISCARD
dkm_status dkm_trial_gram(const dkm_data *G, const dkm_data *Y, const dkm_trial_settings *settings,
                          dkm_trial_score *score);

/** A mask of observed objects: 1 for all but @p missing of them, drawn at random. Collective.
 *
 *  Of one stream the objects that are missing in a mask are also missing in those that miss more.
 *
 *  @param[in]  missing  from 0 to @p m
 *  @param[out] mask     new: m labels; NULL on failure
 */
DKM_NODISCARD
dkm_status dkm_trial_mask(dkm_ctx *ctx, dkm_idx m, dkm_idx missing, uint64_t stream,
                          dkm_data **mask);

#endif
