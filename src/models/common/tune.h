/** @file tune.h  Parameters of a kernel and the ridge that have the least leave-one-out error.
 *
 *  Follows the analytic gradient by L-BFGS (NLopt), in the logarithms of the parameters and of the
 *  ridge. Rank 0 chooses where to look next, all ranks compute.
 */
#ifndef DKMAP_MODELS_COMMON_TUNE_H
#define DKMAP_MODELS_COMMON_TUNE_H

#include <dkmap/kernel.h>
#include <dkmap/model.h>

#include "kernels/gram/param_gradient.h"
#include "models/registry/report_impl.h"
#include "models/registry/settings_impl.h"
#include "solvers/tune/loo_gradient.h"

typedef struct dkm_tune_settings {
    dkm_idx fits;   /**< at most so many evaluations of the error and its gradient */
    dkm_idx starts; /**< searches: from the parameters given, and from 1/3, 3, 1/9, ... times those
                         with a hundredth of the ridge */
    int columns;    /**< widths become one per column, after a search with one for all */
    dkm_idx
        subset; /**< the searches look at so many examples, drawn at random, and what they find is
                         searched on from by more and then by all; 0: by all from the beginning */
    dkm_layout layout;
} dkm_tune_settings;

typedef struct dkm_tune_info {
    double before, after; /**< leave-one-out errors; the one before is that of the subset, if any */
    dkm_idx fits, params; /**< evaluations; numbers that were tuned, the ridge among them */
    dkm_idx full;         /**< evaluations by all examples */
    dkm_idx subset;       /**< examples that the search began with; 0: all */
} dkm_tune_info;

/** The numbers of a kernel, which is borrowed, as logarithms. */
typedef struct dkm_tuned_kernel {
    dkm_kernel *kernel;
    dkm_idx count; /**< none where it has no numbers with derivatives */
    dkm_param_place *places;
} dkm_tuned_kernel;

/** Local; dkm_tuned_kernel_close() frees. */
DKM_NODISCARD dkm_local dkm_tuned_kernel_open(dkm_tuned_kernel *tuned, dkm_ctx *ctx,
                                              dkm_kernel *kernel);
void dkm_tuned_kernel_close(dkm_tuned_kernel *tuned);
void dkm_tuned_kernel_get(const dkm_tuned_kernel *tuned, double *x);
DKM_NODISCARD dkm_local dkm_tuned_kernel_set(dkm_tuned_kernel *tuned, const double *x);

/** The trace, on every rank. Collective. */
double dkm_tune_trace(const dkm_dmat *G, dkm_ctx *ctx);

/** Whether some of the objects can stand for themselves. Local. */
int dkm_tune_can_select(const dkm_data *X);

/** Some of the objects, drawn at random: the same for all data of as many rows. Collective.
 *  @param[out] some  new; NULL on failure */
DKM_NODISCARD dkm_status dkm_tune_select(const dkm_data *X, dkm_idx count, dkm_data **some);

/** The settings of DKM_ROWS_TUNE (method_parts.h) for these inputs. Local. */
dkm_tune_settings dkm_tune_read(const dkm_settings *s, const dkm_data *X);

/** Report where a search began and what it took. Local.
 *  @param[in] kernel, gamma  of the start
 *  @param[in] scale          of the errors */
void dkm_tune_report(dkm_report *report, const char *kernel, double gamma, double scale,
                     const dkm_tune_info *tuned);

/** Tune. Collective.
 *
 *  @param[in]     X        training inputs
 *  @param[in]     targets  as many rows
 *  @param[in,out] kernel   resolved; nothing is prepared for it
 *  @param[in,out] gamma    the ridge
 *  @return DKM_OK; DKM_ERR_ARG for a kernel without numbers to tune; DKM_ERR_UNSUPPORTED without
 *          NLopt; DKM_ERR_NUMERIC where the start has no error; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_kernel_tune(const dkm_data *X, const dkm_loo_targets *targets,
                                         const dkm_tune_settings *settings, dkm_kernel *kernel,
                                         double *gamma, dkm_tune_info *info);

#endif
