/** @file method.h  The learning methods: their names, their settings, and fitting
 *  them.
 *
 *      DKM_TRY(dkm_fit(ctx, "krr", X, Y, settings, &model, &report));
 *
 *  Methods and their settings are listed by functions, for programs that offer all of them.
 */
#ifndef DKMAP_METHOD_H
#define DKMAP_METHOD_H

#include <dkmap/model.h>
#include <dkmap/report.h>
#include <dkmap/settings.h>

DKM_API_BEGIN

typedef struct dkm_method dkm_method;

/** The k-th method that can be fitted; NULL past the last. Local. */
const dkm_method *dkm_method_at(int k);

/** The method called @p name; NULL if there is none. Local. */
const dkm_method *dkm_method_find(const char *name);

const char *dkm_method_name(const dkm_method *method);
const char *dkm_method_summary(const dkm_method *method);
/** A paragraph, or NULL. */
const char *dkm_method_about(const dkm_method *method);
/** Papers, one a line, or NULL. */
const char *dkm_method_references(const dkm_method *method);
/** Options of a command, as an example. */
const char *dkm_method_example(const dkm_method *method);
/** What the inputs must be. */
const char *dkm_method_inputs(const dkm_method *method);
/** What the outputs must be; NULL for methods that learn without outputs. */
const char *dkm_method_outputs(const dkm_method *method);

/** The k-th row of its table of settings; NULL past the last. Local. */
const dkm_setting *dkm_method_setting(const dkm_method *method, int k);
/** Whether the table has a row of that name. Local. */
int dkm_method_has_setting(const dkm_method *method, const char *name);

/** Whether it learns from inputs that are not stored in memory: dkm_fit_stream(). Local. */
int dkm_method_streams(const dkm_method *method);

/** Whether what it takes can be estimated: dkm_estimate(). Local. */
int dkm_method_has_estimate(const dkm_method *method);

/** Whether outputs that are strings are taken for names of classes: such a fit keeps the names, and
 *  its model predicts them. Local. */
int dkm_method_names_classes(const dkm_method *method, const dkm_settings *settings);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] method  its name, as of dkm_settings_create()
 *  @param[in]  X, Y      as many objects each, borrowed; Y is NULL for methods without outputs
 *  @param[in]  settings  of the same method; NULL: all are as by default
 *  @param[out] model     new, owned by the caller; NULL on failure
 *  @param[out] report    may be NULL; else new, owned by the caller, NULL on failure. Warnings are
 *                        in the report, and logged where there is none
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC; ... */
DKM_NODISCARD dkm_status dkm_fit(dkm_ctx *ctx, const char *method, const dkm_data *X,
                                 const dkm_data *Y, const dkm_settings *settings, dkm_model **model,
                                 dkm_report **report);

/** Fit to inputs that are read anew for every pass. Collective; as dkm_fit() else. */
DKM_NODISCARD dkm_status dkm_fit_stream(dkm_ctx *ctx, const char *method, dkm_source *X,
                                        const dkm_data *Y, const dkm_settings *settings,
                                        dkm_model **model, dkm_report **report);

DKM_API_END

#endif
