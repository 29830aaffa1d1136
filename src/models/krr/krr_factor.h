/** @file krr_factor.h  The Cholesky factor K + (gamma + jitter) I = L L' of a model in dual form,
 *  retained for standard deviations and for examples that are added or removed. Where examples have
 *  weights it is that of S K S, S being the roots of the weights.
 *
 *  A model file holds the rows of its lower triangle (`factor`); they are read when they are first
 *  needed. A model without it computes it anew from its inputs.
 */
#ifndef DKMAP_MODELS_KRR_KRR_FACTOR_H
#define DKMAP_MODELS_KRR_KRR_FACTOR_H

#include "models/krr/krr_outputs.h"

typedef struct dkm_krr_factor {
    int retained;   /**< the model was fitted to keep it */
    dkm_dmat *L;    /**< lower triangle; what lies above is not read. NULL until it is needed */
    int center;     /**< the intercept is the mean of the outputs */
    double jitter;  /**< that was added to gamma until there was a factor; 0 as a rule */
    dkm_data *Y;    /**< the training outputs, where the factor is retained; else NULL */
    int recomputed; /**< the model file has no factor */
    dkm_matrix_entry stored; /**< where the file has it; its path is NULL: nowhere */
    int64_t stamp[3];        /**< of that file: another one of its name is not read */
    dkm_data *weights; /**< of the examples, a column; NULL: all weigh 1, or they are not known */
    dkm_example_weights roots; /**< of those, once they were needed */
    dkm_data *history; /**< dense rows of 1 (added) or -1 (removed) and how many; NULL: none */
} dkm_krr_factor;

void dkm_krr_factor_clear(dkm_krr_factor *factor);

/** Remember the weights of the examples, of which a share is held; NULL: all weigh 1. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_set_weights(dkm_krr_factor *factor,
                                                    const dkm_data *weights);

/** Gram matrices of the training inputs are S K S from now on, or K again. Local; the weights must
 *  have been set, or the factor opened. */
void dkm_krr_factor_weigh(const dkm_krr_factor *factor, const dkm_fitted_kernel *fitted, int on);

/** Solve for B by a factor in double precision, and keep that and the outputs.
 *
 *  Collective. Inputs that have weights are scaled already.
 *
 *  @param[in]  T  the outputs as numbers, less the intercept
 *  @param[in]  Y  the outputs themselves; shared
 *  @return as dkm_ridge_solve() */
DKM_NODISCARD dkm_status dkm_krr_factor_solve(dkm_krr_factor *factor,
                                              const dkm_fitted_kernel *fitted, double gamma,
                                              const dkm_dmat *T, const dkm_data *Y, dkm_dmat **B,
                                              dkm_ridge_info *info);

/** Have the factor in memory: read from the file, or computed anew. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_open(dkm_krr_factor *factor,
                                             const dkm_fitted_kernel *fitted, double gamma);

/** The part "example_weights", and "factor", "factor_jitter", "outputs" and "history" where it is
 *  retained. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_to_archive(dkm_krr_factor *factor,
                                                   const dkm_fitted_kernel *fitted, double gamma,
                                                   dkm_archive *archive);
/** Take those parts, which a model may lack; the factor stays in its file. Local. */
DKM_NODISCARD dkm_local dkm_krr_factor_from_archive(dkm_krr_factor *factor, dkm_idx m,
                                                    dkm_archive *archive);

#endif
