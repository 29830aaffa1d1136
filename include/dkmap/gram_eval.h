/** @file gram_eval.h  What a kernel matrix is worth: how well machines trained on some of its
 * objects tell the classes of the others.
 *
 *  Objects are dealt to folds (folds.h); for each fold a support vector machine a class, that class
 *  against the rest, learns from the others and judges the fold.
 */
#ifndef DKMAP_GRAM_EVAL_H
#define DKMAP_GRAM_EVAL_H

#include <dkmap/data.h>
#include <dkmap/model.h>
#include <dkmap/svm_dual.h>

DKM_API_BEGIN

typedef struct dkm_gram_eval_settings {
    dkm_svm_dual_settings margin; /**< with the loss hinge or squared */
    dkm_idx folds;
    uint64_t stream; /**< of the deal: another one, other folds */
    dkm_layout layout;
} dkm_gram_eval_settings;

typedef struct dkm_gram_eval_score {
    dkm_idx classes;
    double apart; /**< share of right answers of a machine, mean over all classes */
    double named; /**< share of objects whose own class has the highest value */
} dkm_gram_eval_score;

dkm_gram_eval_settings dkm_gram_eval_settings_default(void);

/** Try a kernel matrix. Collective.
 *
 *  @param[in]  G      m x m kernel values, rows in slabs, symmetric
 *  @param[in]  Y      m labels, each class with at least as many members as there are folds
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] score  the same on every rank
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_gram_eval(const dkm_data *G, const dkm_data *Y,
                                       const dkm_gram_eval_settings *settings,
                                       dkm_gram_eval_score *score);

/** A mask of observed objects: 1 for all but @p missing of them, drawn at random. Collective.
 *
 *  Of one stream the objects that are missing in a mask are also missing in those that miss more.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] m  objects of all ranks
 *  @param[in]  missing  from 0 to @p m
 *  @param[in] stream  of the random numbers
 *  @param[out] mask     new: m labels; NULL on failure */
DKM_NODISCARD dkm_status dkm_gram_eval_mask(dkm_ctx *ctx, dkm_idx m, dkm_idx missing,
                                            uint64_t stream, dkm_data **mask);

DKM_API_END

#endif
