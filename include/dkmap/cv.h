/** @file cv.h  Cross-validation: which settings do best on examples they have not seen.
 *
 *  Settings are points of a grid: every kernel tried with every setting of the method. The examples
 *  are dealt to folds; each fold in turn is predicted by what was learned from the others. Nested,
 *  this is done anew inside the training part of each outer fold, the best setting there predicts
 *  the outer fold, and the outer folds tell what to expect of a setting chosen so.
 *
 *  Gram matrices are computed once a kernel and cut for each fold. Where that is faster ranks form
 *  groups that take folds and kernels of their own. The folds are those of the context's seed and
 *  do not depend on the ranks. A kernel whose values depend on all training objects (see
 *  dkm_kernel_is_data_dependent()) has seen those of all folds, unless the method is dkm_cv_refit
 * without Gram matrices, which computes it anew for each fold.
 */
#ifndef DKMAP_CV_H
#define DKMAP_CV_H

#include <dkmap/eigen.h>
#include <dkmap/model.h>
#include <dkmap/report.h>
#include <dkmap/score.h>
#include <dkmap/settings.h>

DKM_API_BEGIN

/** How a method takes part; what `options` of a problem are is said beside each. */
typedef struct dkm_cv_method dkm_cv_method;

/** Kernel ridge regression, dkm_cv_ridge: setting s has gamma[s]. */
extern const dkm_cv_method dkm_cv_krr;
/** Kernel dependency estimation, dkm_cv_ridge: setting s has eigen[s / gammas] and
 *  gamma[s % gammas]. Objects come from linear pre-images where the output kernel is linear, else
 *  from the candidates of the training part. */
extern const dkm_cv_method dkm_cv_kde;
/** Any method, dkm_cv_fits: a fit and predictions for each setting and fold. */
extern const dkm_cv_method dkm_cv_refit;

typedef struct dkm_cv_ridge {
    dkm_idx gammas;
    const double *gamma; /**< each > 0 */
    int center;          /**< krr: take the mean of the outputs as intercept */
    dkm_idx components;  /**< kde: how many of */
    const dkm_eigen_settings *eigen;
} dkm_cv_ridge;

/** Examples to learn from. */
typedef struct dkm_cv_examples {
    const dkm_data *X, *Y;
    const dkm_data *weights; /**< or NULL */
} dkm_cv_examples;

typedef struct dkm_cv_fits {
    void *user;
    int gram; /**< inputs come as rows of their kernel matrix, of type DKM_GRAM: fit with the kernel
                   `gram` whatever kernel is tried; else they come as they are, and of a matrix
                   of theirs the columns of the training part */
    /** Learn from some examples. Collective on @p ctx, which has a part of
     *  the ranks: everything must be made from it. */
    dkm_status (*fit)(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                      const dkm_cv_examples *examples, dkm_model **model);
} dkm_cv_fits;

typedef struct dkm_cv_problem {
    const dkm_data *X, *Y;   /**< as many each */
    const dkm_data *weights; /**< of the examples, a column of numbers > 0: fits are given them, and
                                  losses are weighted means; NULL: all weigh 1 */
    dkm_idx kernels;         /**< that are tried: kx[k] with ky[k] */
    const dkm_kernel *const *kx;
    const dkm_kernel *const *ky; /**< NULL for methods without an output kernel */
    dkm_idx settings;            /**< that are tried with every kernel */
    const dkm_cv_method *method;
    const void *options;
    const char *wanted; /**< of each point, kernel * settings + setting, whether it is tried; NULL:
                             all are */
    dkm_idx folds;
    const dkm_data *fold; /**< the fold of each example, from 1 on, as dkm_folds_count() takes them;
                               NULL: they are dealt */
    const dkm_data
        *group;           /**< labels, a column of numbers or strings: examples of one group stay in
                                one fold where folds are dealt; or NULL */
    int train_on_one;     /**< learn from each fold in turn, and test on all the others */
    dkm_idx inner;        /**< folds inside the training part of each fold; 0: not nested */
    dkm_loss loss;        /**< what settings are chosen by */
    int more_losses;      /**< that are measured beside it */
    const dkm_loss *more; /**< these */
    const dkm_kernel *loss_kernel; /**< of the loss kernel; else NULL */
    dkm_layout layout;             /**< a process grid given here keeps all ranks together */
    int groups;                    /**< of ranks; 0 chooses */
} dkm_cv_problem;

/** Settings to try, of one method: every kernel with every setting. */
typedef struct dkm_cv_points {
    dkm_idx kernels;
    dkm_settings *const *kernel; /**< of each, what the settings that are kernels are set to */
    dkm_idx settings;
    dkm_settings *const *setting; /**< of each, all other settings; kernels are those of kernel 0 */
} dkm_cv_points;

typedef struct dkm_cv_search dkm_cv_search;

/** Check points, and choose how they are tried: by a closed form where the method has one that
 *  honors every setting that differs from its default, else by fits. Logically collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  points  borrowed, with all that they point to, for as long as the search is used
 *  @param[out] search  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for settings that do not go together, or not with cross-validation */
DKM_NODISCARD dkm_status dkm_cv_search_create(dkm_ctx *ctx, const dkm_cv_points *points,
                                              dkm_cv_search **search);

/** Fill in what dkm_cross_validate() must know of the points, the examples and the method; the
 * folds and the loss are the caller's. Collective.
 *  @param[in] search  borrowed by the problem
 *  @param[in]  X, Y     borrowed
 *  @param[out] problem  points into the search
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for outputs that cannot be dealt to folds */
DKM_NODISCARD dkm_status dkm_cv_search_problem(dkm_cv_search *search, const dkm_data *X,
                                               const dkm_data *Y, dkm_cv_problem *problem);

/** Whether every point is fitted anew for each fold. Local. */
int dkm_cv_search_refits(const dkm_cv_search *search);

/** The kernel of inputs, or of outputs, in canonical form; NULL where there is none. Local. */
const char *dkm_cv_search_kernel_text(const dkm_cv_search *search, dkm_idx kernel, int outputs);

void dkm_cv_search_destroy(dkm_cv_search **search);

typedef struct dkm_cv_score {
    double mean;     /**< loss of a held-out example */
    double stderror; /**< of the mean loss of a fold, over the folds */
    double root;     /**< mean of the roots of the losses */
} dkm_cv_score;

typedef struct dkm_cv_result {
    dkm_idx points;      /**< kernels x settings; kernel k with setting s is k * settings + s */
    dkm_cv_score *table; /**< one a point: over the folds; nested, over all inner folds; NaN for
                              those not wanted */
    dkm_cv_score *more;  /**< the same of each further loss, one after the other */
    dkm_idx *examples;   /**< of each point, how many examples it was tried on; NULL: all */
    dkm_idx best;        /**< the point with the best mean, the first of several */
    dkm_idx folds;
    dkm_idx *fold;            /**< of each example: the outer one */
    dkm_idx *chosen;          /**< nested: the point chosen for each outer fold; else NULL */
    double *outer_mean;       /**< nested: the loss of each outer fold; else NULL */
    dkm_cv_score outer;       /**< nested: of the outer folds; else that of the best point */
    dkm_cv_score *more_outer; /**< the same of each further loss */
    int groups;               /**< of ranks */
    dkm_idx cells;            /**< fits of all settings of a kernel to a training part */
    dkm_idx grams;            /**< kernel matrices that were computed */
} dkm_cv_result;

/** Try everything. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] problem  borrowed; the same settings on every rank
 *  @param[out] result  dkm_cv_result_free() frees what it holds, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG for fewer examples than folds and settings that do not suit;
 *          DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_cross_validate(dkm_ctx *ctx, const dkm_cv_problem *problem,
                                            dkm_cv_result *result);

/** The same by successive halving: all wanted points on few examples, the better half on twice as
 *  many, to the last few on all. `table` has of each point what it lost in the last round that it
 *  took part in, `examples` on how many examples that was. Collective; arguments and failures as of
 *  dkm_cross_validate(). Not for nested folds, nor for graphs. */
DKM_NODISCARD dkm_status dkm_cross_validate_halving(dkm_ctx *ctx, const dkm_cv_problem *problem,
                                                    dkm_cv_result *result);
void dkm_cv_result_free(dkm_cv_result *result);

/** A cross-validation by names, for programs in other languages. */
typedef struct dkm_cv_request {
    dkm_idx folds;
    dkm_idx inner;    /**< folds inside the training part of each fold; 0: not nested */
    int train_on_one; /**< as in dkm_cv_problem */
    int groups;       /**< of ranks; 0 chooses */
    const char *loss; /**< one or several, separated by commas, of which the first chooses; NULL:
                           mse of dense outputs, zero-one of all others */
    const char *loss_kernel; /**< of the loss kernel; else NULL */
    const char *wanted;      /**< these three as in dkm_cv_problem */
    const dkm_data *fold, *group;
    int halving; /**< by dkm_cross_validate_halving() */
} dkm_cv_request;

/** Try points and report the losses: of all points `table.mean` and `table.stderr`, NaN where they
 *  are not wanted; the place of the best, `best`; what to expect of it, `loss.mean` and
 *  `loss.stderr`; nested, of each outer fold `outer.chosen` and `outer.mean`; of further losses
 *  `table.NAME.mean`, `table.NAME.stderr`, `loss.NAME.mean` and `loss.NAME.stderr`; by halving the
 *  examples of each point, `table.examples`. Collective.
 *
 *  @param[in] points  borrowed for the call
 *  @param[in] X  inputs, borrowed
 *  @param[in] Y  outputs, borrowed
 *  @param[in] request  folds, loss and nesting
 *  @param[out] report  new, owned by the caller; NULL on failure
 *  @return as dkm_cv_search_create() and dkm_cross_validate() */
DKM_NODISCARD dkm_status dkm_cv_run(const dkm_cv_points *points, const dkm_data *X,
                                    const dkm_data *Y, const dkm_cv_request *request,
                                    dkm_report **report);

DKM_API_END

#endif
