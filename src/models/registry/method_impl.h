/** @file method_impl.h  A learning method as one description: one struct, and one line of the list
 * in registry.c.
 *
 *  From its table of settings come the options of the command, their help and checks, and the
 *  settings that programs set by name.
 */
#ifndef DKMAP_MODELS_REGISTRY_METHOD_IMPL_H
#define DKMAP_MODELS_REGISTRY_METHOD_IMPL_H

#include <dkmap/estimate.h>
#include <dkmap/method.h>

#include "models/registry/model_impl.h"
#include "models/registry/report_impl.h"
#include "models/registry/settings_impl.h"

enum { DKM_METHOD_CLASSES = 2 };

struct dkm_method {
    const char *name;
    const char *summary;    /**< one line */
    const char *about;      /**< a paragraph, or NULL */
    const char *references; /**< papers, one a line, or NULL */
    const char *example;    /**< options of a command that fits it */
    const char *inputs;     /**< what X must be */
    const char *outputs;    /**< what Y must be; NULL for methods without outputs */
    const dkm_setting *settings;

    /** Check settings against each other; what one row can say is checked before. Local; NULL:
     *  there is nothing to check. */
    dkm_local (*check)(dkm_ctx *ctx, const dkm_settings *settings);

    /** Learn from examples and report how it went. Collective.
     *  @param[in]  settings  checked
     *  @param[out] model     new, owned by the caller; NULL on failure */
    dkm_status (*fit)(dkm_ctx *ctx, const dkm_settings *settings, const dkm_data *X,
                      const dkm_data *Y, dkm_model **model, dkm_report *report);

    /** The same for inputs that are read as often as need be; NULL where the method must keep them.
     *  Collective. */
    dkm_status (*fit_stream)(dkm_ctx *ctx, const dkm_settings *settings, dkm_source *X,
                             const dkm_data *Y, dkm_model **model, dkm_report *report);

    /** Whether outputs that are strings are names of classes: they are then fitted as labels, and
     *  predicted as names again. Local; NULL: never. */
    int (*names_classes)(const dkm_settings *settings);

    /** Examples that must stay together when they are dealt to folds: a group for each, as
     *  dkm_cv_problem has them, or NULL where any may be parted. Collective; NULL: always.
     *  @param[out] groups  new, owned by the caller */
    dkm_status (*groups)(const dkm_settings *settings, const dkm_data *X, dkm_data **groups);

    /** What a fit takes; NULL where that is not known. Local. */
    void (*estimate)(const dkm_settings *settings, const dkm_kernel *kx, const dkm_workload *work,
                     const dkm_rates *rates, dkm_cost *cost);

    /** Whether a fit can be given the rows of a Gram matrix of its inputs instead of them:
     * cross-validation then computes every kernel once. */
    int takes_gram;

    /** How its models predict, are saved and loaded: one class for each name in model files. */
    const dkm_model_class *classes[DKM_METHOD_CLASSES];
};

/** The k-th method, also of those that have a command of their own to fit them; NULL past the last.
 *  Local. */
const dkm_method *dkm_registry_at(int k);

/** The class of models that files call @p name; NULL if there is none. Local. */
const dkm_model_class *dkm_registry_class(const char *name);

/** Fit as dkm_fit() does, with settings and examples of the method. Collective.
 *  @param[in] report  may be NULL */
DKM_NODISCARD dkm_status dkm_method_fit(dkm_ctx *ctx, const dkm_method *method,
                                        const dkm_settings *settings, const dkm_data *X,
                                        const dkm_data *Y, dkm_model **model, dkm_report *report);

#endif
