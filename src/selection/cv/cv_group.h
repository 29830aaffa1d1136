/** @file cv_group.h  Groups of ranks in cross-validation, and the Gram matrices they hold. */
#ifndef DKMAP_SELECTION_CV_CV_GROUP_H
#define DKMAP_SELECTION_CV_CV_GROUP_H

#include <dkmap/cv.h>

/** Ranks that work together, and what they hold. */
typedef struct dkm_cv_group {
    dkm_ctx *ctx;
    int own_ctx; /**< apart from that of all ranks */
    dkm_grid *grid;
    int index, count;
    const dkm_data *X, *Y;   /**< all examples; X where a method wants them as they are or the group
                                computes Gram matrices of its own, else NULL */
    const dkm_data *weights; /**< of the examples, or NULL */
    dkm_data *own_X, *own_Y, *own_weights; /**< copies that belong to the group */
    dkm_kernel *loss_kernel;
    dkm_idx labels;  /**< in label sets of all folds, for the hamming loss; else 0 */
    int warned;      /**< that there are fewer components than were asked for */
    dkm_idx grams;   /**< distinct kernels */
    dkm_data **gram; /**< of each: all rows in slabs of the group, or NULL */
} dkm_cv_group;

/** How many groups of ranks do the cells soonest, each holding @p grams matrices. Collective. */
DKM_NODISCARD dkm_status dkm_cv_choose_groups(dkm_ctx *ctx, const dkm_cv_problem *problem,
                                              dkm_idx cells, dkm_idx grams, int *groups);

/** Whether so many Gram matrices of order @p m and the work beside them are small on any rank. Local. */
int dkm_cv_is_small(double m, dkm_idx grams);

/** How many of @p grams matrices of order @p m a group can hold at once beside its work, 2 at the
 *  least. Collective. */
DKM_NODISCARD dkm_status dkm_cv_capacity(dkm_ctx *ctx, const dkm_cv_group *group, dkm_idx m,
                                         dkm_idx grams, dkm_idx *capacity);

/** How many more matrices of order @p m a group can hold beside those, @p most at the most.
 *  Collective. */
dkm_idx dkm_cv_split_capacity(dkm_ctx *ctx, const dkm_cv_group *group, dkm_idx m, dkm_idx held,
                              dkm_idx most);

/** Form groups, each with all examples. Collective; dkm_cv_group_close() frees, also after a
 *  failure.
 *  @param[in] grams  how many distinct kernels there are */
DKM_NODISCARD dkm_status dkm_cv_group_open(dkm_cv_group *group, dkm_ctx *ctx,
                                           const dkm_cv_problem *problem, int groups,
                                           dkm_idx grams);
void dkm_cv_group_close(dkm_cv_group *group);

/** One status for all ranks of what each group did on its own. Collective on @p ctx. */
DKM_NODISCARD dkm_status dkm_cv_agree(dkm_ctx *ctx, const dkm_cv_group *group, dkm_status status);

/** A copy of all objects for each group that wants one. Collective on all ranks.
 *  @param[out] copy  new, spread over the group; NULL where not wanted */
DKM_NODISCARD dkm_status dkm_cv_group_copy(const dkm_cv_group *group, int wanted,
                                           const dkm_data *all, dkm_data **copy);

/** The distinct kernels of a problem: index[2 k] and index[2 k + 1] are where the Gram matrices of
 *  inputs and outputs of kernel k are stored, -1 where the method wants none. */
typedef struct dkm_cv_grams {
    dkm_idx count;
    const dkm_kernel **kernel;
    int *outputs; /**< whether it is one of the outputs */
    dkm_idx *index;
    dkm_idx computed;
} dkm_cv_grams;

/** Find the distinct kernels. Local; dkm_cv_grams_close() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_cv_grams_open(dkm_cv_grams *grams, dkm_ctx *ctx,
                                          const dkm_cv_problem *problem);
void dkm_cv_grams_close(dkm_cv_grams *grams);

/** Drop the Gram matrices that a group does not want. Local.
 *  @param[in] wanted  one a distinct kernel, of this rank's group */
void dkm_cv_grams_drop(dkm_cv_group *group, const int *wanted);

/** Let every group have the Gram matrices it wants. One that a single group lacks it computes by
 *  itself, and so does each of several where that is quicker than to send it; others are computed
 * by all ranks together. Collective on all ranks. */
DKM_NODISCARD dkm_status dkm_cv_grams_bring(dkm_cv_grams *grams, const dkm_cv_problem *problem,
                                            dkm_grid *grid, dkm_cv_group *group, const int *wanted);

#endif
