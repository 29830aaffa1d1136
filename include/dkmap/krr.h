/** @file krr.h  Kernel ridge regression: f(x) = k(x, X) B + b, B = (K + gamma I)^-1 (Y - 1 b'); for
 *  the linear kernel on few columns the same as f(x) = x'W + b, W = (X'X + gamma I)^-1 X'(Y - 1
 * b').
 */
#ifndef DKMAP_KRR_H
#define DKMAP_KRR_H

#include <dkmap/model.h>
#include <dkmap/nystroem.h>
#include <dkmap/ridge_path.h>

DKM_API_BEGIN

enum { DKM_KRR_REASON = 240 };

/** How fast a machine is, in seconds of all ranks working together; 0: to be measured. */
typedef struct dkm_krr_rates {
    double column, element; /**< of a kernel value, for each column of the inputs and apart */
    double flop;            /**< of an operation of a Cholesky factor in single precision */
} dkm_krr_rates;

typedef struct dkm_krr_settings {
    dkm_ridge_settings ridge; /**< gamma where there is no list, and how its system is solved */
    dkm_idx count;            /**< of gammas to choose from; 0: there is no list */
    const double *gammas;     /**< borrowed */
    int grows; /**< the caller goes beyond an end of the list where the best lies: no remark on it */
    int loo;   /**< tell the errors of a single gamma too */
    dkm_path_select select; /**< the error that decides between gammas */
    dkm_path_solver solver;
    dkm_penalty penalty;
    int primal; /**< solve for the weights of a linear kernel where they are fewer than examples */
    int keep_factor; /**< solve by a factor in double precision and keep it in the model, with the
                          outputs: the exact fit in dual form */
    int center;      /**< take the mean of the outputs as intercept b, else b = 0 */
    const dkm_data *weights; /**< of the examples, a column of numbers > 0, borrowed; NULL: all are
                                  1. Minimizes sum_i w_i ||y_i - f(x_i)||^2 + gamma ||f||^2; the
                                  mean is weighted too. Not for nystroem.all_centers and
                                  DKM_PENALTY_COEFFICIENTS */
    dkm_layout layout;
    dkm_idx reduce; /**< so many of the inputs, chosen as nystroem.choice says, stand for all: the
                         exact fit under their Nystroem kernel; 0: all of them */
    dkm_nystroem_settings nystroem; /**< of the solver DKM_PATH_PCG */
    double seconds; /**< of DKM_PATH_AUTO: the time asked, 0: none. Where the exact fit of one gamma
                         does not fit that or the memory, it takes DKM_PATH_PCG: with all inputs
                         as centers, or with the most landmarks that fit, unless their number is
                         given */
    dkm_krr_rates rates; /**< by which it reckons */
} dkm_krr_settings;

typedef struct dkm_krr_info {
    dkm_idx m, outputs;
    int P, Q;
    dkm_idx block;
    const char *form;            /**< "dual", "primal" or "reduced" */
    dkm_idx landmarks;           /**< of a reduced form, else 0 */
    dkm_idx dimensions;          /**< of a reduced form: the rank of its kernel */
    double gamma;                /**< the one taken */
    dkm_path_info path;          /**< its points are NULL where errors were not wanted */
    char reason[DKM_KRR_REASON]; /**< of the choice of a solver; empty where there was none */
    dkm_nystroem_info nystroem;  /**< where path.solver is "pcg" */
} dkm_krr_info;

dkm_krr_settings dkm_krr_settings_default(void);

/** Fit. Collective.
 *
 *  Labels as outputs are turned into one column a class (1 for the class, 0 for the others);
 *  predictions are then labels again, the class of the largest column.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X, Y    as many rows each; dense outputs or labels
 *  @param[in]  kernel  copied into the model
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model   new, owned by the caller; NULL on failure. Its method is "krr" in dual form
 *                      and "krr-primal" in primal form
 *  @param[out] info    may be NULL; else dkm_krr_info_free() frees what it holds, also after a
 *                      failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no jitter
 *          made the matrix positive definite */
DKM_NODISCARD dkm_status dkm_krr_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                     const dkm_kernel *kernel, const dkm_krr_settings *settings,
                                     dkm_model **model, dkm_krr_info *info);

/** Fit by the solver DKM_PATH_PCG to inputs that are not held in memory: the file is read anew for
 *  every pass. Collective; as dkm_krr_fit() else. */
DKM_NODISCARD dkm_status dkm_krr_fit_stream(dkm_ctx *ctx, dkm_source *X, const dkm_data *Y,
                                            const dkm_kernel *kernel,
                                            const dkm_krr_settings *settings, dkm_model **model,
                                            dkm_krr_info *info);

/** Free what the info holds. Local. */
void dkm_krr_info_free(dkm_krr_info *info);

DKM_API_END

#endif
