#include "cli/commands/validation.h"

#include <stdlib.h>
#include <string.h>

void validation_close(validation *v)
{
    dkm_cv_result_free(&v->result);
    free(v->eigen);
    free(v->gammas);
    dkm_kernel_destroy(&v->loss_kernel);
    for (int64_t k = 0; k < v->grid_search.kernels; k++) {
        if (v->ky)
            dkm_kernel_destroy(&v->ky[k]);
        if (v->kx)
            dkm_kernel_destroy(&v->kx[k]);
    }
    free(v->ky);
    free(v->kx);
    dkm_data_destroy(&v->Y);
    dkm_data_destroy(&v->X);
    grid_search_close(&v->grid_search);
}

/* Fit one setting to some examples, as `fit` would. */
static dkm_status refit(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting, dkm_data **X,
                        dkm_data **Y, dkm_model **model)
{
    validation *v = user;
    dkm_status status = DKM_OK;
    grid_search_point point = {0};
    method_settings settings = {0};
    method_info info = {0};

    *model = NULL;
    DKM_TRY(grid_search_at(&v->grid_search, ctx, kernel, setting, v->fits.gram ? "gram" : NULL,
                           &point));
    DKM_TRY(method_settings_read(&point.run, &settings));
    DKM_TRY(v->method->fit(&point.run, &settings, X, Y, model, &info));
    if (v->method->warn && !v->warned)
        v->warned = v->method->warn(&point.run, &info);
out:
    method_info_free(v->method, &info);
    method_settings_free(&settings);
    grid_search_point_free(&point);
    return status;
}

/* Note what setting @p k is, where it can be tried by closed forms; 0 where it cannot. */
static int note_ridge(validation *v, int64_t k, const method_settings *s)
{
    ridge_point point = {0};

    if (!v->method->ridge_point || !v->method->ridge_point(s, &point))
        return 0;
    v->gammas[k % v->ridge.gammas] = point.gamma;
    v->eigen[k / v->ridge.gammas] = point.eigen;
    v->ridge.center = point.center;
    return 1;
}

static dkm_local validation_reserve(validation *v)
{
    size_t kernels = (size_t)v->grid_search.kernels, settings = (size_t)v->grid_search.settings;

    v->kx = calloc(kernels, sizeof(dkm_kernel *));
    v->ky = calloc(kernels, sizeof(dkm_kernel *));
    v->gammas = calloc(settings, sizeof *v->gammas);
    v->eigen = calloc(settings, sizeof *v->eigen);
    if (v->kx && v->ky && v->gammas && v->eigen)
        return DKM_LOCAL_OK;
    return dkm_fail(v->r->ctx, DKM_ERR_MEMORY, "no memory for %zu settings", kernels * settings);
}

/* Read the settings of a point, and keep its kernels where @p keep says so. */
static dkm_status read_point(validation *v, int64_t kernel, int64_t setting, int keep, int *ridge)
{
    dkm_status status = DKM_OK;
    grid_search_point point = {0};
    method_settings settings = {0};

    DKM_TRY(grid_search_at(&v->grid_search, v->r->ctx, kernel, setting, NULL, &point));
    DKM_TRY(method_settings_read(&point.run, &settings));
    *ridge = note_ridge(v, setting, &settings);
    if (keep) {
        v->kx[kernel] = settings.kx;
        v->ky[kernel] = settings.ky;
        settings.kx = settings.ky = NULL;
    }
out:
    method_settings_free(&settings);
    grid_search_point_free(&point);
    return status;
}

/* Whatever is wrong with a kernel or a setting is told before anything is computed. */
static dkm_status read_points(validation *v)
{
    dkm_status status = DKM_OK;
    int ridge = 1, all_ridge = 1;

    v->ridge.gammas = args_accepts(v->r->args, "gamma") && args_text(v->r->args, "gamma")
                          ? args_count(v->r->args, "gamma")
                          : 1;
    v->ridge.components = v->grid_search.settings / v->ridge.gammas;
    DKM_AGREE(v->r->ctx, validation_reserve(v));
    for (int64_t k = 0; k < v->grid_search.kernels; k++)
        DKM_TRY(read_point(v, k, 0, 1, &ridge));
    for (int64_t s = 0; s < v->grid_search.settings; s++) {
        DKM_TRY(read_point(v, 0, s, 0, &ridge));
        all_ridge = all_ridge && ridge;
    }
    v->ridge.gamma = v->gammas;
    v->ridge.eigen = v->eigen;
    v->fits = (dkm_cv_fits){.user = v, .gram = v->method->takes_gram, .fit = refit};
    v->problem.method = all_ridge ? v->method->cv : &dkm_cv_refit;
    v->problem.options = all_ridge ? (const void *)&v->ridge : &v->fits;
out:
    return status;
}

/* Objects that are known by a matrix of all of them. */
static int is_matrix(dkm_type type)
{
    return type == DKM_GRAM || type == DKM_DISTANCE || type == DKM_GRAPH;
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

    DKM_REQUIRE(v->r->ctx, loss != DKM_LOSS_RANK, DKM_ERR_UNSUPPORTED,
                "--loss rank is for lists of candidates, as predict --top writes them: cv predicts "
                "one output an example");
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
out:
    return status;
}

static int any_looks_around(const validation *v, dkm_kernel *const *kernels)
{
    for (int64_t k = 0; k < v->grid_search.kernels; k++)
        if (kernels[k] && dkm_kernel_is_data_dependent(kernels[k]))
            return 1;
    return 0;
}

/* A kernel that looks at all training objects must not see those held out: fits work it out anew
 * in each fold. But no part of a graph stands for itself: all of it is known beforehand, as is
 * usual with its kernels. */
static void keep_apart(validation *v)
{
    int inputs = any_looks_around(v, v->kx), outputs = any_looks_around(v, v->ky);

    if (v->kx[0] && is_matrix(dkm_data_type(v->X)))
        v->fits.gram = 1;
    if (inputs && dkm_data_type(v->X) == DKM_GRAPH) {
        dkm_log(v->r->ctx, DKM_WARN,
                "the kernel of a graph has seen the vertices of all folds, those held out as well, "
                "though not their outputs");
        inputs = 0;
    }
    if (!inputs && !outputs)
        return;
    if (inputs)
        v->fits.gram = 0;
    v->problem.method = &dkm_cv_refit;
    v->problem.options = &v->fits;
    dkm_log(v->r->ctx, DKM_INFO,
            "a kernel looks at all training objects: it is computed anew for each fold");
}

static dkm_local validation_check_outputs(const validation *v)
{
    dkm_type type = dkm_data_type(v->Y);

    if (!is_matrix(type))
        return DKM_LOCAL_OK;
    return dkm_fail(
        v->r->ctx, DKM_ERR_UNSUPPORTED,
        "outputs that are a %s cannot be dealt to folds: make coordinates of them first "
        "(dkmap gram, fit kpca --kx gram, encode) and take --ky linear",
        dkm_type_name(type));
}

dkm_status validation_open(validation *v)
{
    const args *a = v->r->args;
    dkm_status status = DKM_OK;

    if (args_text(a, "folds-out"))
        DKM_TRY(dkm_file_check_writable(v->r->ctx, args_text(a, "folds-out")));
    if (v->method->check_cv)
        DKM_AGREE(v->r->ctx, v->method->check_cv(v->r));
    DKM_TRY(grid_search_open(&v->grid_search, v->r, v->method->lists));
    DKM_TRY(read_points(v));
    DKM_TRY(method_read_examples(v->r, &v->X, &v->Y));
    DKM_AGREE(v->r->ctx, validation_check_outputs(v));
    keep_apart(v);
    DKM_TRY(read_loss(v));
    v->problem.X = v->X;
    v->problem.Y = v->Y;
    v->problem.kernels = v->grid_search.kernels;
    v->problem.kx = (const dkm_kernel *const *)v->kx;
    v->problem.ky = v->ky[0] ? (const dkm_kernel *const *)v->ky : NULL;
    v->problem.settings = v->grid_search.settings;
    v->problem.folds = args_whole(a, "folds");
    v->problem.train_on_one = strcmp(args_text(a, "train"), "one") == 0;
    v->problem.inner = args_text(a, "inner-folds") ? args_whole(a, "inner-folds") : 0;
    v->problem.loss_kernel = v->loss_kernel;
    v->problem.layout = run_layout(v->r);
    v->problem.groups = (int)args_whole(a, "groups");
out:
    return status;
}
