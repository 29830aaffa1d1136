#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/methods/method.h"
#include "cli/options/common_options.h"
#include "cli/options/holdout.h"

static dkm_local check_stream(run *r)
{
    const method *m = r->args->command->method;

    if (!m->fit_stream)
        return dkm_fail(r->ctx, DKM_ERR_UNSUPPORTED, "%s keeps its inputs: leave --stream out",
                        m->name);
    return DKM_LOCAL_OK;
}

/* Fit to examples that are kept, or to inputs that are read as often as need be. */
static dkm_status cmd_fit_learn(run *r, const method_settings *settings, holdout *held,
                                dkm_model **model, method_info *info)
{
    const method *m = r->args->command->method;
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;
    dkm_data *X = NULL, *Y = NULL;

    if (args_flag(r->args, "stream")) {
        DKM_AGREE(r->ctx, check_stream(r));
        DKM_TRY(method_open_examples(r, &source, &Y));
        DKM_TRY(holdout_read(r, held));
        DKM_TRY(m->fit_stream(r, settings, source, &Y, model, info));
    } else {
        DKM_TRY(method_read_examples(r, &X, &Y));
        DKM_TRY(holdout_read(r, held));
        DKM_TRY(holdout_split(r, held, &X, &Y));
        DKM_TRY(m->fit(r, settings, &X, &Y, model, info));
    }
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_source_close(&source);
    return status;
}

static dkm_status cmd_fit(run *r)
{
    const char *path = args_text(r->args, "output");
    const method *m = r->args->command->method;
    dkm_status status = DKM_OK;
    method_settings settings;
    method_info info = {0};
    holdout held = {0};
    dkm_model *model = NULL;

    DKM_TRY(method_settings_read(r, &settings));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(holdout_open(r, &held));
    DKM_TRY(cmd_fit_learn(r, &settings, &held, &model, &info));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    m->tell(r, &settings, &info);
    if (dkm_model_svm_base(model) != DKM_SVM_BASE_AUTO)
        report_int(r, "svm_base", dkm_model_svm_base(model));
    DKM_TRY(holdout_report(r, &held, model));
    report_seconds(r);
    report_text(r, "model", path);
out:
    holdout_free(&held);
    method_info_free(m, &info);
    dkm_model_destroy(&model);
    method_settings_free(&settings);
    return status;
}

static const option options[] = {
    ROW_OUTPUT("model file to write, .h5"),
    {.name = "stream",
     .kind = OPT_FLAG,
     .help =
         "read the inputs anew in every step instead of keeping them in memory: with landmarks"},
    ROWS_HOLDOUT,
    {0}};

#define FIT(word)                                                                                  \
    &(const command)                                                                               \
    {                                                                                              \
        .name = "fit " #word, .method = &method_##word, .example = "-o model.h5", .run = cmd_fit,  \
        .tables = {                                                                                \
            options,                                                                               \
            compute_options,                                                                       \
            report_options                                                                         \
        }                                                                                          \
    }

static const command *const methods[] = {FIT(krr), FIT(kpca),     FIT(kde), FIT(knn),
                                         FIT(svm), FIT(hopfield), FIT(jkm), 0};

const command command_fit = {
    .name = "fit",
    .summary = "learn a model from examples and write it to a file",
    .example = "mpirun -np 4 dkmap fit krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
               "      --gamma 1e-3 -o model.h5",
    .methods = methods,
};
