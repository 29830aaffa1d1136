/** @file krr_dual.h  The state of ridge regression in dual form: f(x) = k(x, centers) B + b. */
#ifndef DKMAP_MODELS_KRR_KRR_DUAL_H
#define DKMAP_MODELS_KRR_KRR_DUAL_H

#include "models/krr/krr_factor.h"
#include "models/krr/krr_std.h"
#include "models/registry/model_impl.h"

typedef struct dkm_krr_dual {
    dkm_fitted_kernel fitted; /**< the centers: training inputs, all or some of them */
    dkm_krr_outputs outputs;
    dkm_dmat *B;                /**< a row of coefficients for each center */
    int penalizes_coefficients; /**< B is not (K + gamma I)^-1 T */
    int weighted;               /**< examples had weights: nor is it so */
    dkm_krr_factor factor;
    dkm_krr_std std;
} dkm_krr_dual;

/** Free a state that no model has taken. Local; takes NULL and nulls. */
void dkm_krr_dual_destroy(dkm_krr_dual **state);

/** Make it a model of krr, or of another method in dual form; takes the state over, also on
 * failure. Collective. */
DKM_NODISCARD dkm_status dkm_krr_dual_wrap(dkm_krr_dual *state, const dkm_model_class *method,
                                           dkm_model **model);

/** k(x, X) B + b of every row of @p X, as numbers whatever predictions are. Collective.
 *  @param[out] F  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_krr_dual_scores(dkm_krr_dual *state, const dkm_data *X, dkm_data **F);

#endif
