#include "cli/commands/validation.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options/method_options.h"

static void free_points(dkm_settings ***points, int64_t count)
{
    for (int64_t k = 0; *points && k < count; k++)
        dkm_settings_destroy(&(*points)[k]);
    free(*points);
    *points = NULL;
}

void validation_close(validation *v)
{
    dkm_cv_result_free(&v->result);
    dkm_kernel_destroy(&v->loss_kernel);
    dkm_cv_search_destroy(&v->search);
    free_points(&v->setting, v->grid_search.settings);
    free_points(&v->kernel, v->grid_search.kernels);
    dkm_data_destroy(&v->Y);
    dkm_data_destroy(&v->X);
    dkm_data_destroy(&v->named);
    grid_search_close(&v->grid_search);
    dkm_table_use(v->r->ctx, NULL);
    dkm_table_destroy(&v->table);
}

static dkm_local validation_reserve(validation *v)
{
    size_t kernels = (size_t)v->grid_search.kernels, settings = (size_t)v->grid_search.settings;

    v->kernel = calloc(kernels, sizeof(dkm_settings *));
    v->setting = calloc(settings, sizeof(dkm_settings *));
    if (v->kernel && v->setting)
        return DKM_LOCAL_OK;
    return dkm_fail(v->r->ctx, DKM_ERR_MEMORY, "no memory for %zu settings", kernels * settings);
}

/* Whatever is wrong with a kernel or a setting is reported before anything is computed. */
static dkm_status read_points(validation *v)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(v->r->ctx, validation_reserve(v));
    for (int64_t k = 0; k < v->grid_search.kernels; k++)
        DKM_TRY(grid_search_at(&v->grid_search, k, 0, &v->kernel[k]));
    for (int64_t s = 0; s < v->grid_search.settings; s++)
        DKM_TRY(grid_search_at(&v->grid_search, 0, s, &v->setting[s]));
    v->points = (dkm_cv_points){.kernels = v->grid_search.kernels,
                                .kernel = v->kernel,
                                .settings = v->grid_search.settings,
                                .setting = v->setting};
    DKM_TRY(dkm_cv_search_create(v->r->ctx, &v->points, &v->search));
out:
    return status;
}

/* The kernel that measures losses: --loss-kernel, or the output kernel where that is one alone. */
static dkm_status read_loss(validation *v)
{
    dkm_status status = DKM_OK;
    const args *a = v->r->args;
    const char *text = args_text(a, "loss-kernel");
    dkm_loss loss = args_text(a, "loss")               ? (dkm_loss)args_whole(a, "loss")
                    : dkm_data_type(v->Y) == DKM_DENSE ? DKM_LOSS_MSE
                                                       : DKM_LOSS_ZERO_ONE;

    DKM_REQUIRE(v->r->ctx, dkm_loss_takes(loss) != DKM_LOSS_OF_LISTS, DKM_ERR_UNSUPPORTED,
                "--loss %s is for lists of candidates, as predict --top writes them: cv predicts "
                "one output an example",
                dkm_loss_name(loss));
    DKM_REQUIRE(v->r->ctx, dkm_loss_takes(loss) != DKM_LOSS_OF_SCORES, DKM_ERR_UNSUPPORTED,
                "--loss %s is for scores of classes, as predict --scores writes them: cv predicts "
                "one output an example",
                dkm_loss_name(loss));
    DKM_REQUIRE(v->r->ctx,
                dkm_loss_takes(loss) != DKM_LOSS_OF_NORMALS &&
                    dkm_loss_takes(loss) != DKM_LOSS_OF_PREDICTION_SETS,
                DKM_ERR_UNSUPPORTED,
                "--loss %s is for what predict --std or --coverage writes: cv predicts one output "
                "an example",
                dkm_loss_name(loss));
    v->problem.loss = loss;
    if (loss != DKM_LOSS_KERNEL)
        return DKM_OK;
    if (!text && args_accepts(a, "ky"))
        text = args_text(a, "ky");
    if (text && strchr(text, '$'))
        text = NULL;
    DKM_REQUIRE(v->r->ctx, text != NULL, DKM_ERR_ARG,
                "--loss kernel measures all settings with one kernel of the outputs: give it by "
                "--loss-kernel");
    DKM_TRY(dkm_kernel_parse(v->r->ctx, text, &v->loss_kernel));
    DKM_TRY(dkm_kernel_resolve(v->loss_kernel, v->Y));
out:
    return status;
}

/* Names of classes become labels, where the method takes strings for such and the loss is none of
 * strings. */
static dkm_status name_classes(validation *v)
{
    dkm_status status = DKM_OK;
    const char *loss = args_text(v->r->args, "loss");
    dkm_data *labels = NULL;
    dkm_categories *names = NULL;

    if (!v->Y || dkm_data_type(v->Y) != DKM_STRINGS || (loss && strcmp(loss, "kernel") == 0) ||
        !dkm_method_names_classes(v->r->args->command->method, v->setting[0]))
        return DKM_OK;
    DKM_TRY(dkm_categories_learn(v->Y, NULL, &names));
    DKM_TRY(dkm_categories_encode(names, v->Y, &labels));
    v->named = v->Y;
    v->Y = labels;
out:
    dkm_categories_destroy(&names);
    return status;
}

dkm_status validation_open(validation *v)
{
    const args *a = v->r->args;
    dkm_status status = DKM_OK;

    if (args_text(a, "output"))
        DKM_TRY(run_check_model_path(v->r));
    if (args_text(a, "table"))
        DKM_TRY(dkm_file_check_writable(v->r->ctx, args_text(a, "table")));
    if (args_text(a, "folds-out"))
        DKM_TRY(dkm_file_check_writable(v->r->ctx, args_text(a, "folds-out")));
    DKM_TRY(grid_search_open(&v->grid_search, v->r));
    DKM_TRY(read_points(v));
    DKM_TRY(method_learn_table(v->r, &v->table));
    DKM_TRY(method_read_examples(v->r, &v->X, &v->Y));
    DKM_TRY(method_drop_missing(v->r, &v->X, &v->Y));
    DKM_TRY(name_classes(v));
    DKM_TRY(dkm_cv_search_problem(v->search, v->X, v->Y, &v->problem));
    DKM_TRY(read_loss(v));
    v->problem.folds = args_whole(a, "folds");
    v->problem.train_on_one =
        args_flag(a, "invert-folds") || strcmp(args_text(a, "train"), "one") == 0;
    v->problem.inner = args_text(a, "inner-folds") ? args_whole(a, "inner-folds") : 0;
    v->problem.loss_kernel = v->loss_kernel;
    v->problem.groups = (int)args_whole(a, "groups");
out:
    return status;
}
