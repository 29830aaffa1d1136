/** @file krr_factor.h  The Cholesky factor K + (gamma + jitter) I = L L' of a model in dual form,
 *  retained for standard deviations and for examples that are added or removed. Where examples have
 *  weights it is that of S K S, S being the roots of the weights.
 *
 *  A model file holds the rows of its lower triangle (`factor`); they are read when they are
 *  needed, panel by panel (solvers/ridge/factor_rows.h). A model without it computes it anew from its
 *  inputs. Some rows may stand for examples that were forgotten (krr_inverse.h).
 */
#ifndef DKMAP_MODELS_KRR_KRR_FACTOR_H
#define DKMAP_MODELS_KRR_KRR_FACTOR_H

#include <dkmap/update.h>

#include "models/krr/krr_outputs.h"

/** Rows of a factor in a file, which is known again. */
typedef struct dkm_krr_stored {
    dkm_matrix_entry rows; /**< its path is NULL: there are none */
    int64_t stamp[3];      /**< of that file: another one of its name is not read */
} dkm_krr_stored;

typedef struct dkm_krr_factor {
    int retained;               /**< the model was fitted to keep it */
    dkm_factor_storage storage; /**< how a file that the model is saved to keeps it */
    int refers; /**< the file of its first rows is not that of the model, and was not looked at yet */
    dkm_dmat *L; /**< its first rows, where they are in memory; what lies above the diagonal is not
                       read */
    dkm_krr_stored stored; /**< or where a file has them */
    dkm_dmat *tail; /**< the rows after those, of examples that were added; NULL: none, or... */
    dkm_krr_stored stored_tail; /**< ...they are still in a file */
    dkm_idx dead;               /**< rows that stand for no example any more */
    dkm_idx *gone;              /**< those, ascending */
    dkm_dmat *Q;    /**< a row for each: an orthonormal basis of L^-1 E, with E the columns of the
                         identity that they name */
    int center;     /**< the intercept is the mean of the outputs */
    double jitter;  /**< that was added to gamma until there was a factor; 0 as a rule */
    dkm_data *Y;    /**< the training outputs, where the factor is retained; else NULL */
    int recomputed; /**< the model file has no factor */
    dkm_data *weights; /**< of the examples, a column; NULL: all weigh 1, or they are not known */
    dkm_example_weights roots; /**< of those, once they were needed */
    dkm_data *history; /**< dense rows of 1 (added) or -1 (removed) and how many; NULL: none */
} dkm_krr_factor;

/** Rows of the factor, those included that stand for no example. Local. */
dkm_idx dkm_krr_factor_order(const dkm_krr_factor *factor);

void dkm_krr_factor_clear(dkm_krr_factor *factor);

/** Remember the weights of the examples, of which a share is held; NULL: all weigh 1. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_set_weights(dkm_krr_factor *factor,
                                                    const dkm_data *weights);

/** Gram matrices of the training inputs are S K S from now on, or K again. Local; the weights must
 *  have been set, or the factor opened. */
void dkm_krr_factor_weigh(const dkm_krr_factor *factor, const dkm_fitted_kernel *fitted, int on);

/** Solve for B, and keep the factor and the outputs.
 *
 *  Collective. Inputs that have weights are scaled already.
 *
 *  @param[in]  ridge  precision: of the factor, double unless mixed or single is asked for
 *  @param[in]  T  the outputs as numbers, less the intercept
 *  @param[in]  Y  the outputs themselves; shared
 *  @return as dkm_ridge_kernel() */
DKM_NODISCARD dkm_status dkm_krr_factor_solve(dkm_krr_factor *factor,
                                              const dkm_fitted_kernel *fitted,
                                              const dkm_ridge_settings *ridge, const dkm_dmat *T,
                                              const dkm_data *Y, dkm_dmat **B,
                                              dkm_ridge_info *info);

/** Of the rows of the factor. Local. */
dkm_precision dkm_krr_factor_precision(const dkm_krr_factor *factor);

/** Choose how a file keeps the factor; see dkm_model_store_factor(). Local. */
DKM_NODISCARD dkm_local dkm_krr_factor_store(dkm_krr_factor *factor, dkm_ctx *ctx,
                                             dkm_factor_storage storage, const char *path);

/** Be ready to solve with the factor: its first rows are in a file that is there or in memory, the
 *  others in memory. It is computed anew where the file is gone. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_open(dkm_krr_factor *factor,
                                             const dkm_fitted_kernel *fitted, double gamma);

/** The part "example_weights", and where it is retained "factor", "factor_jitter", "outputs", "history",
 *  "forgotten_rows" and "forgotten_basis"; "factor_file" where the rows stay in another file.
 *  Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_to_archive(dkm_krr_factor *factor,
                                                   const dkm_fitted_kernel *fitted, double gamma,
                                                   dkm_archive *archive);
/** Take those parts, which a model may lack; the factor stays in its file. Collective. */
DKM_NODISCARD dkm_status dkm_krr_factor_from_archive(dkm_krr_factor *factor,
                                                     const dkm_fitted_kernel *fitted,
                                                     dkm_archive *archive);

#endif
