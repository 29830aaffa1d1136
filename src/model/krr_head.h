/** @file krr_head.h  What both forms of ridge regression share: outputs, intercept and gamma. */
#ifndef DKMAP_KRR_HEAD_H
#define DKMAP_KRR_HEAD_H

#include <dkmap/krr.h>

#include "model/base.h"
#include "model/targets.h"

typedef struct dkm_krr_head {
    dkm_targets targets;
    double *b; /**< one number a column of the targets */
    double gamma;
} dkm_krr_head;

/** Learn what the columns stand for, and give this rank's slab of the outputs as numbers less the
 *  intercept, row-major. Collective; dkm_krr_head_clear() frees what the head holds, also after a
 *  failure.
 *  @param[out] rows  new array, DKM_FREE() frees it */
DKM_NODISCARD
dkm_status dkm_krr_head_rows(dkm_krr_head *head, const dkm_data *Y, int center, double **rows);

/** Learn what the columns stand for, and make T: the outputs as numbers less the intercept, in
 *  blocks of the base. Collective; dkm_krr_head_clear() frees, also after a failure. */
DKM_NODISCARD
dkm_status dkm_krr_head_learn(dkm_krr_head *head, const dkm_base *base, const dkm_data *Y,
                              int center, dkm_dmat **T);
void dkm_krr_head_clear(dkm_krr_head *head);

/** Settings of the solver for these outputs; they point into @p settings and @p head. Local. */
dkm_path_settings dkm_krr_head_path(const dkm_krr_head *head, const dkm_krr_settings *settings);

/** Tell all about a fit of @p m examples. Local; the points of the path move to @p info where
 *  they hold errors. */
void dkm_krr_head_tell(const dkm_krr_head *head, const dkm_base *base, dkm_idx m,
                       dkm_path_info *path, dkm_krr_info *info);

/** What predictions are: their columns. Local. */
dkm_idx dkm_krr_head_cols(const dkm_krr_head *head);

/** Outputs from F, which holds f(x) less the intercept. Collective. */
DKM_NODISCARD
dkm_status dkm_krr_head_decode(const dkm_krr_head *head, dkm_dmat *F, dkm_data **Y);

/** The parts "gamma", "intercept" and those of the targets. Local. */
DKM_NODISCARD
dkm_local dkm_krr_head_to_bundle(const dkm_krr_head *head, dkm_bundle *bundle);
DKM_NODISCARD
dkm_local dkm_krr_head_from_bundle(dkm_krr_head *head, const dkm_bundle *bundle);

/** Fit in either form. Collective; as dkm_krr_fit(), which has checked the arguments. */
DKM_NODISCARD
dkm_status dkm_krr_dual_fit(dkm_ctx *ctx, dkm_data **X, const dkm_data *Y, const dkm_kernel *kernel,
                            const dkm_krr_settings *settings, dkm_model **model,
                            dkm_krr_info *info);
DKM_NODISCARD
dkm_status dkm_krr_primal_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                              const dkm_krr_settings *settings, dkm_model **model,
                              dkm_krr_info *info);

/** The same under the Nystroem kernel of settings->reduce landmarks, solved in the primal. */
DKM_NODISCARD
dkm_status dkm_krr_reduced_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                               const dkm_kernel *kernel, const dkm_krr_settings *settings,
                               dkm_model **model, dkm_krr_info *info);

/** The same with landmarks, on inputs that are kept (@p X, taken over) or read anew. */
DKM_NODISCARD
dkm_status dkm_krr_landmark_fit(dkm_ctx *ctx, dkm_data **X, dkm_source *source, const dkm_data *Y,
                                const dkm_kernel *kernel, const dkm_krr_settings *settings,
                                dkm_model **model, dkm_krr_info *info);

/** Whether more is asked for than one solution of one system by Cholesky. Local. */
int dkm_krr_needs_path(const dkm_krr_settings *settings);

#endif
