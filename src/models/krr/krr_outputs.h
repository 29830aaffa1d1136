/** @file krr_outputs.h  What both forms of ridge regression share: outputs, intercept and gamma. */
#ifndef DKMAP_MODELS_KRR_KRR_OUTPUTS_H
#define DKMAP_MODELS_KRR_KRR_OUTPUTS_H

#include <dkmap/krr.h>

#include "models/common/example_weights.h"
#include "models/common/fitted_kernel.h"
#include "models/common/target_encoder.h"

typedef struct dkm_krr_outputs {
    dkm_target_encoder encoder;
    double *b; /**< one number per column of the targets */
    double gamma;
    dkm_example_weights weights; /**< while a model is fitted */
} dkm_krr_outputs;

/** Learn what the columns stand for, and give this rank's slab of the outputs as numbers less the
 *  intercept, times the roots of the weights, row-major. Collective; dkm_krr_outputs_clear() frees
 *  what the head holds, also after a failure.
 *  @param[in]  weights  of the examples, or NULL
 *  @param[out] rows     new array, DKM_FREE() frees it */
DKM_NODISCARD dkm_status dkm_krr_outputs_rows(dkm_krr_outputs *outputs, const dkm_data *Y,
                                              int center, const dkm_data *weights, double **rows);

/** Learn what the columns stand for, and make T: the outputs as numbers less the intercept, times
 *  the roots of the weights, in blocks of the fitted kernel. Collective; dkm_krr_outputs_clear()
 *  frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_krr_outputs_learn(dkm_krr_outputs *outputs,
                                               const dkm_fitted_kernel *fitted, const dkm_data *Y,
                                               const dkm_krr_settings *settings, dkm_dmat **T);
void dkm_krr_outputs_clear(dkm_krr_outputs *outputs);

/** Settings of the solver for these outputs; they point into @p settings and @p outputs. Local. */
dkm_path_settings dkm_krr_outputs_path(const dkm_krr_outputs *outputs,
                                       const dkm_krr_settings *settings);

/** Keep the gamma that was chosen, and what leave-one-out predictions chose for it. Local. */
void dkm_krr_outputs_take(dkm_krr_outputs *outputs, const dkm_krr_settings *settings,
                          const dkm_path_info *path);

/** Report all about a fit of @p m examples. Local; the points of the path move to @p info where
 *  they hold errors. */
void dkm_krr_outputs_report(const dkm_krr_outputs *outputs, const dkm_fitted_kernel *fitted,
                            dkm_idx m, dkm_path_info *path, dkm_krr_info *info);

/** What predictions are: their columns. Local. */
dkm_idx dkm_krr_outputs_cols(const dkm_krr_outputs *outputs);

/** Outputs from F, which holds f(x) less the intercept. Collective. */
DKM_NODISCARD dkm_status dkm_krr_outputs_decode(const dkm_krr_outputs *outputs, const dkm_dmat *F,
                                                dkm_data **Y);
/** The same from rows, which are overwritten and may be taken over. Collective. */
DKM_NODISCARD dkm_status dkm_krr_outputs_decode_rows(const dkm_krr_outputs *outputs, dkm_data **F,
                                                     dkm_data **Y);

/** The parts "gamma", "intercept" and those of the targets. Local. */
DKM_NODISCARD dkm_local dkm_krr_outputs_to_archive(const dkm_krr_outputs *outputs,
                                                   dkm_archive *archive);
DKM_NODISCARD dkm_local dkm_krr_outputs_from_archive(dkm_krr_outputs *outputs,
                                                     const dkm_archive *archive);

/** Fit in either form. Collective; as dkm_krr_fit(), which has checked the arguments. */
DKM_NODISCARD dkm_status dkm_krr_dual_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                          const dkm_kernel *kernel,
                                          const dkm_krr_settings *settings, dkm_model **model,
                                          dkm_krr_info *info);
DKM_NODISCARD dkm_status dkm_krr_primal_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                            const dkm_krr_settings *settings, dkm_model **model,
                                            dkm_krr_info *info);

/** The same under the Nystroem kernel of settings->reduce landmarks, solved in the primal. */
DKM_NODISCARD dkm_status dkm_krr_subset_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                            const dkm_kernel *kernel,
                                            const dkm_krr_settings *settings, dkm_model **model,
                                            dkm_krr_info *info);

/** The same with landmarks, on inputs in memory (@p X) or read anew for every pass (@p source). */
DKM_NODISCARD dkm_status dkm_krr_nystroem_fit(dkm_ctx *ctx, const dkm_data *X, dkm_source *source,
                                              const dkm_data *Y, const dkm_kernel *kernel,
                                              const dkm_krr_settings *settings, dkm_model **model,
                                              dkm_krr_info *info);

/** Whether more is asked for than one solution of one system by Cholesky. Local. */
int dkm_krr_needs_path(const dkm_krr_settings *settings);

#endif
