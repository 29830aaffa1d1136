/** @file krr_update.h  Examples added to and removed from a model of krr that keeps its factor. */
#ifndef DKMAP_MODELS_KRR_KRR_UPDATE_H
#define DKMAP_MODELS_KRR_KRR_UPDATE_H

#include "models/krr/krr_dual.h"
#include "models/registry/report_impl.h"

/** Learn from more examples. Collective; on failure the state is as it was.
 *  @param[in]     X, Y    as many rows each, like those that the model was trained on
 *  @param[in]     weights of the new examples, a column of numbers > 0; NULL: they weigh 1
 *  @param[in,out] report  takes `appended`, `m`, `residual`, ...; may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED without a factor; DKM_ERR_NUMERIC;
 *          DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_krr_append(dkm_krr_dual *state, const dkm_data *X, const dkm_data *Y,
                                        const dkm_data *weights, dkm_report *report);

/** Be as if some of the examples had never been there. Collective; as dkm_krr_append().
 *  @param[in] rows  count different numbers of examples, the same on every rank */
DKM_NODISCARD dkm_status dkm_krr_forget(dkm_krr_dual *state, dkm_idx count, const dkm_idx *rows,
                                        dkm_report *report);

#endif
