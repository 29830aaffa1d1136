#include "cli/options/method_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/update.h>

#include "cli/options/xy_reader.h"
#include "cli/profile/calibration.h"

static const file_options inputs = {"x", "x-type", DKM_INPUTS, 0};
static const file_options outputs = {"y", "y-type", DKM_OUTPUTS, 0};

/* All values of an option that may have several, separated by commas; new, for free(). */
static char *join_values(const args *a, const char *name)
{
    size_t bytes = 1;
    const value *v;
    char *joined;

    for (int k = 0; (v = args_value(a, name, k)); k++)
        bytes += strlen(v->text) + 1;
    joined = calloc(bytes, 1);
    for (int k = 0; joined && (v = args_value(a, name, k)); k++) {
        size_t used = strlen(joined);
        snprintf(joined + used, bytes - used, "%s%s", k ? "," : "", v->text);
    }
    return joined;
}

static dkm_status set_option(run *r, dkm_settings *settings, const option *o)
{
    dkm_status status = DKM_OK;
    int count = args_count(r->args, o->name);
    char *text;

    if (!args_given(r->args, o->name) ||
        (r->args->command->sweeps && (o->flags & (OPT_LIST | OPT_SEARCH)) && count > 1))
        return DKM_OK;
    if (o->kind == OPT_FLAG)
        return dkm_settings_set(settings, o->name, "yes");
    text = join_values(r->args, o->name);
    DKM_AGREE(r->ctx, text ? DKM_LOCAL_OK
                           : dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for --%s", o->name));
    DKM_TRY(dkm_settings_set(settings, o->name, text));
out:
    free(text);
    return status;
}

/* What a calibration of this machine says for as many ranks. */
static dkm_status set_rates(run *r, dkm_settings *settings)
{
    calibration c;
    char text[100];

    if (!calibration_find(dkm_ctx_size(r->ctx), &c) || (int)c.ranks != dkm_ctx_size(r->ctx))
        return DKM_OK;
    snprintf(text, sizeof text, "%.17g,%.17g,%.17g", c.gram_column, c.gram_element, c.single_cube);
    return dkm_settings_set(settings, "rates", text);
}

/* Settings that are no options of their own. */
static dkm_status set_hidden(run *r, dkm_settings *settings)
{
    const dkm_method *method = r->args->command->method;
    dkm_status status = DKM_OK;

    if (dkm_method_has_setting(method, "rates"))
        DKM_TRY(set_rates(r, settings));
    if (dkm_method_has_setting(method, "candidate-type") && args_text(r->args, "y-type"))
        DKM_TRY(dkm_settings_set(settings, "candidate-type", args_text(r->args, "y-type")));
out:
    return status;
}

dkm_status method_settings_read(run *r, dkm_settings **settings)
{
    const dkm_method *method = r->args->command->method;
    dkm_status status = DKM_OK;
    dkm_settings *s = NULL;
    const dkm_setting *row;

    *settings = NULL;
    DKM_TRY(dkm_settings_create(r->ctx, dkm_method_name(method), &s));
    dkm_settings_name_options(s, 1);
    for (int k = 0; (row = dkm_method_setting(method, k)); k++)
        if (!(row->flags & OPT_HIDDEN))
            DKM_TRY(set_option(r, s, row));
    for (row = dkm_layout_settings; row->name; row++)
        DKM_TRY(set_option(r, s, row));
    DKM_TRY(set_hidden(r, s));
    *settings = s;
    s = NULL;
out:
    dkm_settings_destroy(&s);
    return status;
}

dkm_status method_learn_table(run *r, dkm_table **table)
{
    dkm_status status = DKM_OK;
    dkm_table_settings settings = {.missing =
                                       (dkm_missing)args_value(r->args, "missing", 0)->integer,
                                   .standardize = args_flag(r->args, "standardize")};

    if (args_accepts(r->args, "kx") && !args_given(r->args, "kx") && !settings.standardize)
        settings.standardize = DKM_STANDARDIZE_DENSE;

    *table = NULL;
    DKM_REQUIRE(r->ctx,
                settings.missing != DKM_MISSING_DROP || !args_accepts(r->args, "stream") ||
                    !args_flag(r->args, "stream"),
                DKM_ERR_UNSUPPORTED,
                "--missing drop needs the inputs in memory: leave --stream out, or fill in by mean "
                "or median");
    dkm_phase_begin(r->ctx, "table");
    status = dkm_table_learn(r->ctx, args_text(r->args, "x"), args_text(r->args, "x-type"),
                             &settings, table);
    dkm_phase_end(r->ctx);
    dkm_table_use(r->ctx, *table);
out:
    return status;
}

dkm_status method_drop_missing(run *r, dkm_data **const *data)
{
    dkm_status status = DKM_OK;
    dkm_idx dropped = 0;

    if (args_value(r->args, "missing", 0)->integer != DKM_MISSING_DROP)
        return DKM_OK;
    DKM_TRY(dkm_table_drop(data, &dropped));
    report_int(r, "dropped", dropped);
out:
    return status;
}

/* A weight is no NaN and not below 0; 0 is for the method to judge. */
static dkm_local check_weights(run *r, const char *where, const dkm_data *weights)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(weights) * dkm_data_cols(weights); i++)
        if (!(dkm_data_values_const(weights)[i] >= 0))
            return dkm_fail(r->ctx, DKM_ERR_ARG,
                            "%s: row %lld has the weight %g: weights are numbers above 0", where,
                            (long long)(dkm_data_local_first(weights) + i) + 1,
                            dkm_data_values_const(weights)[i]);
    return DKM_LOCAL_OK;
}

dkm_status method_read_weights(run *r, dkm_idx rows, dkm_data **weights)
{
    const char *where = args_accepts(r->args, "weights") ? args_text(r->args, "weights") : NULL;
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;

    *weights = NULL;
    if (!where)
        return DKM_OK;
    DKM_TRY(dkm_source_open(r->ctx, where, DKM_OUTPUTS, "dense", &source));
    dkm_source_accept_missing(source);
    DKM_TRY(dkm_source_read(source, 0, dkm_source_rows(source), weights));
    DKM_REQUIRE(r->ctx, dkm_data_type(*weights) == DKM_DENSE, DKM_ERR_ARG,
                "%s: weights are numbers, and it holds %s", where,
                dkm_type_name(dkm_data_type(*weights)));
    DKM_AGREE(r->ctx,
              dkm_data_cols(*weights) == 1 ? check_weights(r, where, *weights) : DKM_LOCAL_OK);
    DKM_REQUIRE(r->ctx, dkm_data_rows(*weights) == rows, DKM_ERR_ARG,
                "%s has %lld weights, and there are %lld examples", where,
                (long long)dkm_data_rows(*weights), (long long)rows);
out:
    dkm_source_close(&source);
    return status;
}

dkm_status method_store_factor(run *r, dkm_model *model)
{
    const char *word = args_text(r->args, "factor");
    dkm_factor_storage storage = strcmp(word, "refer") == 0  ? DKM_FACTOR_REFER
                                 : strcmp(word, "drop") == 0 ? DKM_FACTOR_DROP
                                                             : DKM_FACTOR_COPY;

    return run_error_context(r, r->args->positionals[0],
                             dkm_model_store_factor(model, storage, args_text(r->args, "output")));
}

dkm_status method_fill_outputs(run *r, const dkm_data *X, dkm_data **Y, dkm_data **weights)
{
    const char *name = dkm_method_name(r->args->command->method);
    dkm_status status = DKM_OK;
    dkm_idx missing = 0;

    if (!*Y || dkm_data_type(X) != DKM_GRAPH)
        return DKM_OK;
    DKM_TRY(run_error_context(r, args_text(r->args, "y"),
                              dkm_table_fill_outputs(Y, weights, &missing)));
    DKM_REQUIRE(r->ctx, missing == 0 || (strcmp(name, "krr") == 0 && !r->args->command->sweeps),
                DKM_ERR_UNSUPPORTED,
                "%s: %lld vertices have no output, which fit krr alone takes%s",
                args_text(r->args, "y"), (long long)missing,
                r->args->command->sweeps ? ": its --gamma LIST compares leave-one-out errors" : "");
    if (missing > 0)
        report_int(r, "labelled", dkm_data_rows(*Y) - missing);
out:
    return status;
}

dkm_status method_open_examples(run *r, dkm_source **X, dkm_data **Y)
{
    *X = NULL;
    *Y = NULL;
    if (args_accepts(r->args, "y"))
        return xy_open(r, inputs, outputs, X, Y);
    return dkm_source_open(r->ctx, args_text(r->args, "x"), DKM_INPUTS,
                           args_text(r->args, "x-type"), X);
}

dkm_status method_read_examples(run *r, dkm_data **X, dkm_data **Y)
{
    dkm_status status;

    *X = *Y = NULL;
    if (args_accepts(r->args, "y"))
        return xy_read(r, inputs, outputs, X, Y);
    dkm_phase_begin(r->ctx, "read");
    status =
        dkm_data_read(r->ctx, args_text(r->args, "x"), DKM_INPUTS, args_text(r->args, "x-type"), X);
    dkm_phase_end(r->ctx);
    return status;
}

static void report_result(run *r, const dkm_result *result)
{
    switch (result->kind) {
    case DKM_RESULT_INT:
        report_int(r, result->name, result->integer);
        break;
    case DKM_RESULT_REAL:
        report_real(r, result->name, result->real);
        break;
    case DKM_RESULT_TEXT:
        report_text(r, result->name, result->text);
        break;
    case DKM_RESULT_REALS:
        if (r->record)
            dkm_runlog_reals(r->record, result->name, result->count, result->values);
        break;
    case DKM_RESULT_LINE:
        run_show(r, result->name, result->text);
        break;
    case DKM_RESULT_WARNING:
        dkm_log(r->ctx, DKM_WARN, "%s", result->text);
    }
}

void method_report(run *r, const dkm_report *report)
{
    for (dkm_idx k = 0; k < dkm_report_count(report); k++)
        report_result(r, dkm_report_at(report, k));
}
