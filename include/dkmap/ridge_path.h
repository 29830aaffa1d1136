/** @file ridge_path.h  Ridge systems for a list of gammas, with the error that each would
 *  make on examples it has not seen, and no refits.
 *
 *  The leave-one-out error is the mean of (y - f(x))^2 over all examples and outputs, f being
 *  fitted without the example; the generalized cross-validation error (GCV) is the mean square of
 *  the residuals over (1 - trace(S) / m)^2, where S maps the outputs to their fit. Both are closed
 *  forms in one eigendecomposition or one reduction to a band for all gammas, or in one Cholesky
 *  factorization each.
 */
#ifndef DKMAP_RIDGE_PATH_H
#define DKMAP_RIDGE_PATH_H

#include <dkmap/ridge.h>

DKM_API_BEGIN

#define DKM_PATH_MOST 1000 /**< gammas in a list */

/** What gamma weighs: ||w||^2 of f(x) = <w, phi(x)>, so that B = (K + gamma I)^-1 Y; or the squared
 *  coefficients ||B||^2 themselves, so that B = (K'K + gamma I)^-1 K Y. */
typedef enum dkm_penalty { DKM_PENALTY_WEIGHTS, DKM_PENALTY_COEFFICIENTS } dkm_penalty;

typedef enum dkm_path_solver {
    DKM_PATH_AUTO, /**< the cheaper one, measured in the run where it is not plain */
    DKM_PATH_CHOLESKY,
    DKM_PATH_EIGEN,
    DKM_PATH_PCG, /**< conjugate gradients with landmarks: of dkm_krr_fit() alone */
    DKM_PATH_BAND /**< one reduction to a band; of K with a penalty on the weights, else
                       DKM_PATH_EIGEN is taken */
} dkm_path_solver;

typedef enum dkm_path_select { DKM_SELECT_LOO, DKM_SELECT_GCV } dkm_path_select;

/** Right-hand sides are label sets. */
enum { DKM_PATH_LABEL_SETS = 2 };

typedef struct dkm_path_settings {
    dkm_idx count;        /**< of gammas, 1 to DKM_PATH_MOST */
    const double *gammas; /**< each > 0, borrowed */
    dkm_penalty penalty;
    dkm_path_solver solver;
    dkm_path_select select; /**< the error that decides */
    int errors;             /**< wanted for a single gamma too; a list always has them */
    int grows; /**< the caller goes beyond an end of the list where the best lies: no remark on it */
    int classes; /**< right-hand sides are 1 in the column of a class and 0 in the others, less
                      the means: tell how often the left out class is not found, and calibrate
                      probabilities; DKM_PATH_LABEL_SETS: 1 in the columns of some labels */
    const double
        *means; /**< of each column, that were taken off the right-hand sides; NULL: none */
    const double
        *roots;        /**< of this rank's examples the square roots of their weights, by which the
                              matrix (or rows of X) and the right-hand sides are scaled: errors are
                              then weighted means; NULL: none */
    dkm_idx weighing;  /**< examples of weights above 0; of others no errors are counted */
    double total;      /**< sum of the weights, where there are such */
    dkm_storage keep;  /**< of the matrix beside its eigenvectors, for residuals */
    double work_bytes; /**< of buffers per rank, about */
} dkm_path_settings;

typedef struct dkm_path_point {
    double gamma;
    double loo, gcv; /**< NaN when not asked for, or when K + gamma I has no factor */
    double wrong;    /**< leave-one-out error rate of classes; else NaN */
    double level;    /**< of classes, the slope a of softmax(a f) with the least leave-one-out log
                          loss; of label sets, the share of the greatest f of a row down to which
                          labels have the greatest mean F1 of the examples; else NaN */
    double level_score; /**< that log loss, or F1 */
} dkm_path_point;

typedef struct dkm_path_info {
    dkm_idx count, best;    /**< gammas, and the place of the one taken */
    dkm_path_point *points; /**< new array; dkm_path_info_free() frees it */
    const char *solver;     /**< "cholesky", "eigen" or "band" */
    dkm_ridge_info ridge;   /**< of the solution for the best gamma */
} dkm_path_info;

dkm_path_settings dkm_path_settings_default(void);

/** Solve for the best of the gammas with K = k(X, X).
 *
 *  Collective. The bytes a rank needs are reckoned before anything large is allocated.
 *
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[in]  nb    block size; Y is in blocks of as many rows
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[in]  Y     double; as many rows as X, less @p settings->means
 *  @param[out] B     new double matrix like Y, owned by the caller; NULL on failure
 *  @param[out] info  dkm_path_info_free() frees what it holds, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no gamma gives a finite error */
DKM_NODISCARD dkm_status dkm_ridge_path(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                                        const dkm_path_settings *settings, const dkm_dmat *Y,
                                        dkm_dmat **B, dkm_path_info *info);

/** The same for the linear kernel on d columns, by w = (X'X + gamma I)^-1 X'Y: d^2 m work.
 *
 *  Collective. It is X'B for the B of dkm_ridge_path(); the penalty is on the weights.
 *
 *  @param[in]  X  dense or sparse rows
 *  @param[in] nb  block size of @p W and @p Y
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[in] Y  outputs, borrowed
 *  @param[out] W  new double d x outputs matrix in blocks of nb, owned by the caller; NULL on
 *                 failure
 *  @param[out] info  as of dkm_ridge_path() */
DKM_NODISCARD dkm_status dkm_ridge_primal(const dkm_data *X, dkm_idx nb,
                                          const dkm_path_settings *settings, const dkm_dmat *Y,
                                          dkm_dmat **W, dkm_path_info *info);

/** Free the points. Local. */
void dkm_path_info_free(dkm_path_info *info);

DKM_API_END

#endif
