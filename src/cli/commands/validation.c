#include "cli/commands/validation.h"

#include <stdlib.h>
#include <string.h>

#include <dkmap/folds.h>

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
    dkm_data_destroy(&v->weights);
    dkm_data_destroy(&v->group);
    dkm_data_destroy(&v->fold);
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
    v->problem.wanted = v->grid_search.wanted;
    DKM_TRY(dkm_cv_search_create(v->r->ctx, &v->points, &v->search));
out:
    return status;
}

static dkm_local check_loss(const validation *v, dkm_loss loss)
{
    static const char *const of[] = {
        [DKM_LOSS_OF_LISTS] = "lists of candidates, as predict --top writes them",
        [DKM_LOSS_OF_SCORES] = "scores of classes, as predict --scores writes them",
        [DKM_LOSS_OF_NORMALS] = "what predict --std or --coverage writes",
        [DKM_LOSS_OF_PREDICTION_SETS] = "what predict --std or --coverage writes"};
    dkm_loss_input takes = dkm_loss_takes(loss);

    if (takes == DKM_LOSS_OF_OBJECTS || takes == DKM_LOSS_OF_LABELS)
        return DKM_LOCAL_OK;
    return dkm_fail(v->r->ctx, DKM_ERR_UNSUPPORTED,
                    "--loss %s is for %s: cv predicts one output an example", dkm_loss_name(loss),
                    of[takes]);
}

/* The losses of --loss; by the type of the outputs when none is named. */
static dkm_local list_losses(validation *v)
{
    const args *a = v->r->args;
    dkm_local local = DKM_LOCAL_OK;

    v->losses = args_count(a, "loss");
    if (v->losses > LOSSES_MAX)
        return dkm_fail(v->r->ctx, DKM_ERR_ARG, "--loss names more than %d losses", LOSSES_MAX);
    for (int k = 0; k < v->losses; k++)
        v->loss[k] = (dkm_loss)args_value(a, "loss", k)->integer;
    if (v->losses == 0)
        v->loss[v->losses++] = dkm_data_type(v->Y) == DKM_DENSE ? DKM_LOSS_MSE : DKM_LOSS_ZERO_ONE;
    for (int k = 0; k < v->losses; k++)
        DKM_STEP(check_loss(v, v->loss[k]));
    v->problem.loss = v->loss[0];
    v->problem.more_losses = v->losses - 1;
    v->problem.more = v->loss + 1;
out:
    return local;
}

static int measures(const validation *v, dkm_loss loss)
{
    for (int k = 0; k < v->losses; k++)
        if (v->loss[k] == loss)
            return 1;
    return 0;
}

/* The kernel that measures losses: --loss-kernel, or the output kernel where that is one alone. */
static dkm_status read_loss(validation *v)
{
    dkm_status status = DKM_OK;
    const args *a = v->r->args;
    const char *text = args_text(a, "loss-kernel");

    DKM_AGREE(v->r->ctx, list_losses(v));
    if (!measures(v, DKM_LOSS_KERNEL))
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
    dkm_data *labels = NULL;
    int of_strings = 0;
    dkm_categories *names = NULL;

    for (int k = 0; k < args_count(v->r->args, "loss"); k++)
        of_strings |= args_value(v->r->args, "loss", k)->integer == DKM_LOSS_KERNEL;
    if (!v->Y || dkm_data_type(v->Y) != DKM_STRINGS || of_strings ||
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

/* --rank-groups N was called --groups N: files have endings, so that a bare number is still that. */
static int is_count(const char *groups)
{
    return groups && *groups && groups[strspn(groups, "0123456789")] == '\0';
}

static dkm_status read_rank_groups(validation *v)
{
    const args *a = v->r->args;
    const char *groups = args_text(a, "groups");
    long long count = args_int(a, "rank-groups");
    dkm_status status = DKM_OK;

    if (is_count(groups))
        count = strtoll(groups, NULL, 10);
    DKM_REQUIRE(v->r->ctx, !is_count(groups) || !args_given(a, "rank-groups"), DKM_ERR_ARG,
                "--groups %s is --rank-groups %s, which is given already", groups, groups);
    DKM_REQUIRE(v->r->ctx, count <= RANK_GROUPS_MAX, DKM_ERR_ARG,
                "--groups %s is --rank-groups: at most %d", groups, RANK_GROUPS_MAX);
    v->problem.groups = (int)count;
out:
    return status;
}

/* A file with a row for each example. */
static dkm_status read_companion(validation *v, const char *name, dkm_data **data)
{
    const char *where = args_text(v->r->args, name);
    dkm_status status = DKM_OK;

    if (!where)
        return DKM_OK;
    DKM_TRY(dkm_data_read(v->r->ctx, where, DKM_OUTPUTS, NULL, data));
    DKM_REQUIRE(v->r->ctx, dkm_data_rows(*data) == dkm_data_rows(v->X), DKM_ERR_ARG,
                "%s has %lld rows but %s has %lld", where, (long long)dkm_data_rows(*data),
                args_text(v->r->args, "x"), (long long)dkm_data_rows(v->X));
out:
    return status;
}

/* Folds that are given, and groups that must not be torn apart. */
static dkm_status read_folds(validation *v)
{
    const args *a = v->r->args;
    dkm_status status = DKM_OK;

    v->problem.folds = args_int(a, "folds");
    v->problem.fold = v->fold;
    if (v->group)
        v->problem.group = v->group;
    if (!v->fold)
        return DKM_OK;
    DKM_TRY(run_error_context(v->r, args_text(a, "folds-in"),
                              dkm_folds_count(v->fold, &v->problem.folds)));
    DKM_REQUIRE(v->r->ctx, !args_given(a, "folds") || args_int(a, "folds") == v->problem.folds,
                DKM_ERR_ARG, "--folds %lld, and %s has %lld: leave --folds out",
                (long long)args_int(a, "folds"), args_text(a, "folds-in"),
                (long long)v->problem.folds);
    DKM_REQUIRE(v->r->ctx, !v->group || args_text(a, "inner-folds"), DKM_ERR_ARG,
                "--groups has no effect beside --folds-in: the folds are given");
out:
    return status;
}

static dkm_status read_search(validation *v)
{
    enum { GRID, RANDOM, HALVING };
    const args *a = v->r->args;
    int64_t search = args_int(a, "search");
    int drawn = args_text(a, "trials") != NULL;
    dkm_status status = DKM_OK;

    DKM_REQUIRE(v->r->ctx, search != RANDOM || drawn, DKM_ERR_ARG,
                "--search random needs --trials N, how many settings to draw");
    DKM_REQUIRE(v->r->ctx, search != GRID || !drawn, DKM_ERR_ARG,
                "--trials goes with --search random or halving: a grid tries every setting");
    DKM_REQUIRE(v->r->ctx, search != HALVING || !args_text(a, "inner-folds"), DKM_ERR_ARG,
                "--search halving is not nested: leave --inner-folds out, or take --search random");
    v->halving = search == HALVING;
    DKM_TRY(grid_search_open(&v->grid_search, v->r, drawn ? args_int(a, "trials") : 0));
out:
    return status;
}

static dkm_status check_outputs(const validation *v)
{
    static const char *const files[] = {"table", "folds-out", NULL};
    const args *a = v->r->args;
    dkm_status status = DKM_OK;

    if (args_text(a, "output"))
        DKM_TRY(run_check_model_path(v->r));
    for (int k = 0; files[k]; k++)
        if (args_text(a, files[k]))
            DKM_TRY(dkm_file_check_writable(v->r->ctx, args_text(a, files[k])));
out:
    return status;
}

dkm_status validation_open(validation *v)
{
    const args *a = v->r->args;
    dkm_status status = DKM_OK;

    DKM_TRY(check_outputs(v));
    DKM_TRY(read_search(v));
    DKM_TRY(read_points(v));
    DKM_TRY(method_learn_table(v->r, &v->table));
    DKM_TRY(method_read_examples(v->r, &v->X, &v->Y));
    DKM_TRY(read_companion(v, "folds-in", &v->fold));
    if (!is_count(args_text(a, "groups")))
        DKM_TRY(read_companion(v, "groups", &v->group));
    DKM_TRY(method_read_weights(v->r, dkm_data_rows(v->X), &v->weights));
    DKM_TRY(method_drop_missing(
        v->r, (dkm_data * *[]){&v->X, &v->Y, &v->fold, &v->group, &v->weights, NULL}));
    DKM_TRY(method_fill_outputs(v->r, v->X, &v->Y, &v->weights));
    DKM_TRY(name_classes(v));
    DKM_TRY(dkm_cv_search_problem(v->search, v->X, v->Y, &v->problem));
    DKM_TRY(read_loss(v));
    DKM_TRY(read_folds(v));
    v->problem.train_on_one =
        args_flag(a, "invert-folds") || strcmp(args_text(a, "train"), "one") == 0;
    v->problem.inner = args_text(a, "inner-folds") ? args_int(a, "inner-folds") : 0;
    v->problem.loss_kernel = v->loss_kernel;
    v->problem.weights = v->weights;
    DKM_TRY(read_rank_groups(v));
out:
    return status;
}
