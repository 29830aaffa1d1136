#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/options/common_options.h"
#include "cli/options/holdout.h"
#include "cli/options/method_options.h"
#include "cli/options/target_report.h"

static dkm_local check_stream(run *r)
{
    const dkm_method *m = r->args->command->method;

    if (!dkm_method_streams(m))
        return dkm_fail(r->ctx, DKM_ERR_UNSUPPORTED, "%s keeps its inputs: leave --stream out",
                        dkm_method_name(m));
    return DKM_LOCAL_OK;
}

/* Where there are no outputs, whatever does not suit a fit is the fault of the file of inputs. */
static dkm_status name_file(run *r, dkm_status status)
{
    return args_accepts(r->args, "y") ? status
                                      : run_error_context(r, args_text(r->args, "x"), status);
}

/* Fit to examples in memory, or to inputs that are read as often as need be. */
static dkm_status cmd_fit_learn(run *r, dkm_settings *settings, holdout *held,
                                char target[TARGET_TEXT], dkm_model **model, dkm_report **report)
{
    const char *name = dkm_method_name(r->args->command->method);
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;
    dkm_data *X = NULL, *Y = NULL, *weights = NULL;

    if (args_flag(r->args, "stream")) {
        DKM_AGREE(r->ctx, check_stream(r));
        DKM_TRY(method_open_examples(r, &source, &Y));
        DKM_TRY(target_describe(r, Y, settings, target));
        DKM_TRY(holdout_read(r, held));
        DKM_TRY(dkm_fit_stream(r->ctx, name, source, Y, settings, model, report));
    } else {
        DKM_TRY(method_read_examples(r, &X, &Y));
        DKM_TRY(holdout_read(r, held));
        DKM_TRY(method_read_weights(r, dkm_data_rows(X), &weights));
        DKM_TRY(method_fill_outputs(r, X, &Y, &weights));
        DKM_TRY(method_drop_missing(r, (dkm_data * *[]){&X, &Y, &weights, NULL}));
        DKM_TRY(holdout_split(r, held, &X, &Y, &weights));
        if (weights)
            DKM_TRY(dkm_settings_set_data(settings, "weights", weights));
        if (Y)
            DKM_TRY(target_describe(r, Y, settings, target));
        DKM_TRY(name_file(r, dkm_fit(r->ctx, name, X, Y, settings, model, report)));
    }
out:
    dkm_data_destroy(&weights);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_source_close(&source);
    return status;
}

static dkm_status cmd_fit(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_settings *settings = NULL;
    dkm_report *report = NULL;
    holdout held = {0};
    dkm_model *model = NULL;
    dkm_table *table = NULL;
    char target[TARGET_TEXT] = "";

    DKM_TRY(method_settings_read(r, &settings));
    DKM_TRY(dkm_settings_check(r->ctx, settings));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(holdout_open(r, &held));
    DKM_TRY(method_learn_table(r, &table));
    DKM_TRY(cmd_fit_learn(r, settings, &held, target, &model, &report));
    if (table)
        report_text(r, "inputs", dkm_table_describe(table));
    dkm_model_take_table(model, &table);
    DKM_TRY(holdout_keep(&held, model));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    if (*target)
        report_text(r, "target", target);
    method_report(r, report);
    if (dkm_model_svm_base(model) != DKM_SVM_BASE_AUTO)
        report_int(r, "svm_base", dkm_model_svm_base(model));
    DKM_TRY(holdout_report(r, &held, model));
    report_seconds(r);
    report_text(r, "model", path);
out:
    holdout_free(&held);
    dkm_report_destroy(&report);
    dkm_model_destroy(&model);
    dkm_settings_destroy(&settings);
    dkm_table_use(r->ctx, NULL);
    dkm_table_destroy(&table);
    return status;
}

static const option options[] = {
    ROW_OUTPUT("model file to write, .h5"),
    ROWS_TABLE,
    ROW_LABELS,
    {.name = "stream",
     .kind = OPT_FLAG,
     .help =
         "read the inputs anew in every step instead of keeping them in memory: with landmarks"},
    ROWS_HOLDOUT,
    {0}};

static const command fit_method = {
    .example = "-o model.h5",
    .run = cmd_fit,
    .tables = {options, dkm_layout_settings, compute_options, report_options},
};

static int serves_all(const dkm_method *method)
{
    return method != NULL;
}

const command command_fit = {
    .name = "fit",
    .summary = "learn a model from examples and write it to a file",
    .example = "mpirun -np 4 dkmap fit krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
               "      --gamma 1e-3 -o model.h5",
    .each = &fit_method,
    .serves = serves_all,
};
