#include <string.h>

#include "models/registry/method_impl.h"

const dkm_method *dkm_method_at(int k)
{
    const dkm_method *method;

    for (int all = 0; (method = dkm_registry_at(all)); all++)
        if (method->fit && k-- == 0)
            return method;
    return NULL;
}

const dkm_method *dkm_method_find(const char *name)
{
    const dkm_method *method;

    for (int k = 0; (method = dkm_method_at(k)); k++)
        if (strcmp(method->name, name) == 0)
            return method;
    return NULL;
}

const char *dkm_method_name(const dkm_method *method)
{
    return method->name;
}

const char *dkm_method_summary(const dkm_method *method)
{
    return method->summary;
}

const char *dkm_method_about(const dkm_method *method)
{
    return method->about;
}

const char *dkm_method_references(const dkm_method *method)
{
    return method->references;
}

const char *dkm_method_example(const dkm_method *method)
{
    return method->example;
}

const char *dkm_method_inputs(const dkm_method *method)
{
    return method->inputs;
}

const char *dkm_method_outputs(const dkm_method *method)
{
    return method->outputs;
}

const dkm_setting *dkm_method_setting(const dkm_method *method, int k)
{
    for (const dkm_setting *row = method->settings; row->name; row++)
        if (k-- == 0)
            return row;
    return NULL;
}

int dkm_method_has_setting(const dkm_method *method, const char *name)
{
    for (const dkm_setting *row = method->settings; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return 1;
    return 0;
}

int dkm_method_streams(const dkm_method *method)
{
    return method->fit_stream != NULL;
}

int dkm_method_names_classes(const dkm_method *method, const dkm_settings *settings)
{
    return method->names_classes && method->names_classes(settings);
}

int dkm_method_has_estimate(const dkm_method *method)
{
    return method->estimate != NULL;
}

dkm_status dkm_estimate(dkm_ctx *ctx, const dkm_settings *settings, const dkm_workload *work,
                        const dkm_rates *rates, dkm_cost *cost)
{
    dkm_status status = DKM_OK;
    const dkm_method *method = settings->method;
    dkm_kernel *kx = NULL;

    *cost = (dkm_cost){0};
    DKM_REQUIRE(ctx, method->estimate != NULL, DKM_ERR_UNSUPPORTED,
                "what a fit of %s takes is not known", method->name);
    DKM_AGREE(ctx, dkm_settings_check_values(ctx, settings));
    DKM_TRY(dkm_settings_kernel(ctx, settings, "kx", NULL, &kx));
    method->estimate(settings, kx, work, rates, cost);
out:
    dkm_kernel_destroy(&kx);
    return status;
}

dkm_status dkm_method_fit(dkm_ctx *ctx, const dkm_method *method, const dkm_settings *settings,
                          const dkm_data *X, const dkm_data *Y, dkm_model **model,
                          dkm_report *report)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx, dkm_settings_check_values(ctx, settings));
    DKM_TRY(method->fit(ctx, settings, X, Y, model, report));
    if (report)
        DKM_AGREE(ctx, dkm_report_check(report));
out:
    if (status != DKM_OK)
        dkm_model_destroy(model);
    return status;
}

/* What a fit is made from, in memory or read anew for every pass. */
typedef struct examples {
    const dkm_data *X;
    dkm_source *source;
    const dkm_data *Y;
} examples;

static dkm_local check_examples(dkm_ctx *ctx, const dkm_method *method, const examples *e,
                                const dkm_settings *settings)
{
    dkm_idx m = e->X ? dkm_data_rows(e->X) : dkm_source_rows(e->source);

    if (settings->method != method)
        return dkm_fail(ctx, DKM_ERR_ARG, "a fit of %s with settings of %s", method->name,
                        settings->method->name);
    if (e->source && !method->fit_stream)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "%s keeps its inputs in memory", method->name);
    if (!method->outputs != !e->Y)
        return dkm_fail(ctx, DKM_ERR_ARG, "%s learns %s outputs", method->name,
                        method->outputs ? "from" : "without");
    if (e->Y && dkm_data_rows(e->Y) != m)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)m, (long long)dkm_data_rows(e->Y));
    return DKM_LOCAL_OK;
}

static void log_warnings(dkm_ctx *ctx, const dkm_report *report)
{
    for (dkm_idx k = 0; k < dkm_report_count(report); k++)
        if (dkm_report_at(report, k)->kind == DKM_RESULT_WARNING)
            dkm_log(ctx, DKM_WARN, "%s", dkm_report_at(report, k)->text);
}

static dkm_status fit_examples(dkm_ctx *ctx, const dkm_method *method, const examples *e,
                               const dkm_settings *settings, dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    const dkm_data *Y = e->Y;
    dkm_data *encoded = NULL;
    dkm_categories *names = NULL;

    DKM_AGREE(ctx, check_examples(ctx, method, e, settings));
    if (Y && Y->mine.type == DKM_STRINGS && dkm_method_names_classes(method, settings)) {
        DKM_TRY(dkm_categories_learn(e->Y, NULL, &names));
        DKM_TRY(dkm_categories_encode(names, e->Y, &encoded));
        Y = encoded;
    }
    if (e->source) {
        DKM_AGREE(ctx, dkm_settings_check_values(ctx, settings));
        DKM_TRY(method->fit_stream(ctx, settings, e->source, Y, model, report));
        DKM_AGREE(ctx, dkm_report_check(report));
    } else {
        DKM_TRY(dkm_method_fit(ctx, method, settings, e->X, Y, model, report));
    }
    (*model)->class_names = names;
    names = NULL;
out:
    dkm_categories_destroy(&names);
    dkm_data_destroy(&encoded);
    return status;
}

static dkm_status fit_named(dkm_ctx *ctx, const char *name, const examples *e,
                            const dkm_settings *settings, dkm_model **model, dkm_report **report)
{
    dkm_status status = DKM_OK;
    dkm_settings *standard = NULL;
    dkm_report *filled = NULL;

    *model = NULL;
    if (report)
        *report = NULL;
    DKM_TRY(dkm_settings_create(ctx, name, &standard));
    DKM_AGREE(ctx, dkm_report_create(ctx, &filled));
    DKM_TRY(fit_examples(ctx, standard->method, e, settings ? settings : standard, model, filled));
    if (!report)
        log_warnings(ctx, filled);
    if (report) {
        *report = filled;
        filled = NULL;
    }
out:
    if (status != DKM_OK)
        dkm_model_destroy(model);
    dkm_report_destroy(&filled);
    dkm_settings_destroy(&standard);
    return status;
}

dkm_status dkm_fit(dkm_ctx *ctx, const char *method, const dkm_data *X, const dkm_data *Y,
                   const dkm_settings *settings, dkm_model **model, dkm_report **report)
{
    return fit_named(ctx, method, &(examples){.X = X, .Y = Y}, settings, model, report);
}

dkm_status dkm_fit_stream(dkm_ctx *ctx, const char *method, dkm_source *X, const dkm_data *Y,
                          const dkm_settings *settings, dkm_model **model, dkm_report **report)
{
    return fit_named(ctx, method, &(examples){.source = X, .Y = Y}, settings, model, report);
}
