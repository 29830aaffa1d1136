#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/cv.h>

#include "commands.h"
#include "method.h"
#include "rows.h"
#include "sweep.h"

/* A problem for the library, and what it points to. */
typedef struct validation {
    run *r;
    const method *method;
    sweep sweep;
    dkm_data *X, *Y;
    dkm_kernel **kx, **ky, *loss_kernel;
    double *gammas;
    dkm_eigen_settings *eigen;
    dkm_cv_ridge ridge;
    dkm_cv_fits fits;
    dkm_cv_problem problem;
    dkm_cv_result result;
} validation;

static void close_validation(validation *v)
{
    dkm_cv_result_free(&v->result);
    free(v->eigen);
    free(v->gammas);
    dkm_kernel_destroy(&v->loss_kernel);
    for (int64_t k = 0; k < v->sweep.kernels; k++) {
        if (v->ky)
            dkm_kernel_destroy(&v->ky[k]);
        if (v->kx)
            dkm_kernel_destroy(&v->kx[k]);
    }
    free(v->ky);
    free(v->kx);
    dkm_data_destroy(&v->Y);
    dkm_data_destroy(&v->X);
    sweep_close(&v->sweep);
}

/* Fit one setting to some examples, as `fit` would. */
static dkm_status refit(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting, dkm_data **X,
                        dkm_data **Y, dkm_model **model)
{
    validation *v = user;
    dkm_status status = DKM_OK;
    sweep_point point = {0};
    method_settings settings = {0};
    method_info info = {0};

    *model = NULL;
    DKM_TRY(sweep_at(&v->sweep, ctx, kernel, setting, v->fits.gram ? "gram" : NULL, &point));
    DKM_TRY(method_settings_read(&point.run, &settings));
    DKM_TRY(v->method->fit(&point.run, &settings, X, Y, model, &info));
out:
    method_info_free(v->method, &info);
    method_settings_free(&settings);
    sweep_point_free(&point);
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

static dkm_local take_room(validation *v)
{
    size_t kernels = (size_t)v->sweep.kernels, settings = (size_t)v->sweep.settings;

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
    sweep_point point = {0};
    method_settings settings = {0};

    DKM_TRY(sweep_at(&v->sweep, v->r->ctx, kernel, setting, NULL, &point));
    DKM_TRY(method_settings_read(&point.run, &settings));
    *ridge = note_ridge(v, setting, &settings);
    if (keep) {
        v->kx[kernel] = settings.kx;
        v->ky[kernel] = settings.ky;
        settings.kx = settings.ky = NULL;
    }
out:
    method_settings_free(&settings);
    sweep_point_free(&point);
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
    v->ridge.components = v->sweep.settings / v->ridge.gammas;
    DKM_AGREE(v->r->ctx, take_room(v));
    for (int64_t k = 0; k < v->sweep.kernels; k++)
        DKM_TRY(read_point(v, k, 0, 1, &ridge));
    for (int64_t s = 0; s < v->sweep.settings; s++) {
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

static dkm_loss usual_loss(dkm_type type)
{
    return type == DKM_DENSE                                               ? DKM_LOSS_MSE
           : type == DKM_GRAM || type == DKM_DISTANCE || type == DKM_GRAPH ? DKM_LOSS_KERNEL
                                                                           : DKM_LOSS_ZERO_ONE;
}

/* The kernel that measures losses: --loss-kernel, or the output kernel where that is one alone. */
static dkm_status read_loss(validation *v)
{
    const args *a = v->r->args;
    const char *text = args_text(a, "loss-kernel");
    dkm_loss loss =
        args_text(a, "loss") ? (dkm_loss)args_whole(a, "loss") : usual_loss(dkm_data_type(v->Y));

    v->problem.loss = loss;
    if (loss != DKM_LOSS_KERNEL)
        return DKM_OK;
    if (!text && args_accepts(a, "ky"))
        text = args_text(a, "ky");
    if (text && strchr(text, '$'))
        text = NULL;
    if (text)
        return dkm_kernel_parse(v->r->ctx, text, &v->loss_kernel);
    return dkm_agree(v->r->ctx,
                     dkm_fail(v->r->ctx, DKM_ERR_ARG,
                              "--loss kernel measures all settings with one kernel of the outputs: "
                              "give it by --loss-kernel"));
}

static int looks_around(const validation *v)
{
    for (int64_t k = 0; k < v->sweep.kernels; k++)
        if ((v->kx[k] && dkm_kernel_looks_around(v->kx[k])) ||
            (v->ky[k] && dkm_kernel_looks_around(v->ky[k])))
            return 1;
    return 0;
}

/* A kernel that looks at all training objects must not see those held out: fits work it out anew
 * in each fold. Of a matrix of distances, or a graph, no part stands alone. */
static void keep_apart(validation *v)
{
    dkm_type x = dkm_data_type(v->X), y = dkm_data_type(v->Y);

    if (!looks_around(v))
        return;
    if (x == DKM_DISTANCE || x == DKM_GRAPH || y == DKM_DISTANCE || y == DKM_GRAPH) {
        dkm_say(v->r->ctx, DKM_WARN,
                "kernels on distances and graphs look at all objects, those held out as well: "
                "losses may be a little too good");
        return;
    }
    v->fits.gram = 0;
    v->problem.method = &dkm_cv_refit;
    v->problem.options = &v->fits;
    dkm_say(v->r->ctx, DKM_INFO,
            "a kernel looks at all training objects: it is computed anew for each fold");
}

static dkm_status open_validation(validation *v)
{
    const args *a = v->r->args;
    dkm_status status = DKM_OK;

    if (args_text(a, "folds-out"))
        DKM_TRY(dkm_path_check(v->r->ctx, args_text(a, "folds-out")));
    DKM_TRY(sweep_open(&v->sweep, v->r, v->method->lists));
    DKM_TRY(read_points(v));
    DKM_TRY(method_read_examples(v->r, &v->X, &v->Y));
    keep_apart(v);
    DKM_TRY(read_loss(v));
    v->problem.X = v->X;
    v->problem.Y = v->Y;
    v->problem.kernels = v->sweep.kernels;
    v->problem.kx = (const dkm_kernel *const *)v->kx;
    v->problem.ky = v->ky[0] ? (const dkm_kernel *const *)v->ky : NULL;
    v->problem.settings = v->sweep.settings;
    v->problem.folds = args_whole(a, "folds");
    v->problem.train_on_one = strcmp(args_text(a, "train"), "one") == 0;
    v->problem.inner = args_text(a, "inner-folds") ? args_whole(a, "inner-folds") : 0;
    v->problem.loss_kernel = v->loss_kernel;
    v->problem.layout = run_layout(v->r);
    v->problem.groups = (int)args_whole(a, "groups");
out:
    return status;
}

static void label_of(const validation *v, dkm_idx point, char *label)
{
    sweep_label(&v->sweep, point / v->sweep.settings, point % v->sweep.settings, label);
}

/* A row of the table, and the same for the record. */
static void tell_point(const validation *v, dkm_idx p)
{
    const dkm_cv_score *s = &v->result.table[p];
    char label[SWEEP_LABEL], text[SWEEP_LABEL + 60];
    run *r = v->r;

    label_of(v, p, label);
    if (v->problem.loss == DKM_LOSS_KERNEL)
        snprintf(text, sizeof text, "%-32s %-12.6g %-12.6g %.6g", label, s->mean, s->stderror,
                 s->root);
    else
        snprintf(text, sizeof text, "%-32s %-12.6g %.6g", label, s->mean, s->stderror);
    run_print(r, text);
    if (!r->record)
        return;
    snprintf(text, sizeof text, "trials.%lld.setting", (long long)p);
    dkm_record_text(r->record, text, label);
    snprintf(text, sizeof text, "trials.%lld.mean", (long long)p);
    dkm_record_real(r->record, text, s->mean);
    snprintf(text, sizeof text, "trials.%lld.stderr", (long long)p);
    dkm_record_real(r->record, text, s->stderror);
}

static void tell_outer_folds(const validation *v)
{
    char label[SWEEP_LABEL], text[SWEEP_LABEL + 60];

    for (dkm_idx a = 0; v->result.chosen && a < v->result.folds; a++) {
        label_of(v, v->result.chosen[a], label);
        snprintf(text, sizeof text, "%lld %-12.6g %s", (long long)a + 1, v->result.outer_mean[a],
                 label);
        run_show(v->r, "outer_fold", text);
    }
    if (v->r->record && v->result.outer_mean)
        dkm_record_reals(v->r->record, "outer_folds", v->result.folds, v->result.outer_mean);
}

static void tell_loss(const validation *v)
{
    const dkm_cv_score *s = &v->result.outer;
    const char *name = dkm_loss_name(v->problem.loss);
    char text[64];
    run *r = v->r;

    run_tell_real(r, name, s->mean);
    snprintf(text, sizeof text, "%s_stderr", name);
    run_tell_real(r, text, s->stderror);
    if (v->problem.loss == DKM_LOSS_KERNEL)
        run_tell_real(r, "root", s->root);
    if (!r->record)
        return;
    dkm_record_text(r->record, "loss.name", name);
    dkm_record_real(r->record, "loss.mean", s->mean);
    dkm_record_real(r->record, "loss.stderr", s->stderror);
    dkm_record_int(r->record, "groups", v->result.groups);
    dkm_record_int(r->record, "cells", v->result.cells);
    dkm_record_int(r->record, "grams", v->result.grams);
}

static void tell(const validation *v)
{
    dkm_idx kernel = v->result.best / v->sweep.settings;
    char label[SWEEP_LABEL];
    run *r = v->r;

    run_tell_text(r, "method", v->method->name);
    run_tell_int(r, "m", dkm_data_rows(v->X));
    run_tell_int(r, "folds", v->problem.folds);
    if (v->problem.inner)
        run_tell_int(r, "inner_folds", v->problem.inner);
    run_print(r, v->problem.loss == DKM_LOSS_KERNEL
                     ? "setting                          loss         stderr       root"
                     : "setting                          loss         stderr");
    for (dkm_idx p = 0; p < v->result.points; p++)
        tell_point(v, p);
    label_of(v, v->result.best, label);
    run_tell_text(r, "best", label);
    if (v->kx[kernel])
        run_tell_text(r, "kernel", dkm_kernel_text(v->kx[kernel]));
    if (v->ky[kernel])
        run_tell_text(r, "output_kernel", dkm_kernel_text(v->ky[kernel]));
    tell_outer_folds(v);
    tell_loss(v);
    run_tell_seconds(r);
}

/* The outer fold of each example, from 1 on. */
static dkm_status write_folds(const validation *v)
{
    const char *path = args_text(v->r->args, "folds-out");
    dkm_status status = DKM_OK;
    dkm_data *folds = NULL;

    if (!path)
        return DKM_OK;
    DKM_TRY(dkm_data_create_labels(v->r->ctx, dkm_data_rows(v->X), &folds));
    for (dkm_idx i = 0; i < dkm_data_local_rows(folds); i++)
        dkm_data_values(folds)[i] = (double)v->result.fold[dkm_data_local_first(folds) + i] + 1;
    DKM_TRY(dkm_data_write(folds, path));
out:
    dkm_data_destroy(&folds);
    return status;
}

static dkm_status cv(run *r)
{
    validation v = {.r = r, .method = r->args->command->method};
    dkm_status status = DKM_OK;

    DKM_TRY(open_validation(&v));
    DKM_TRY(dkm_cross_validate(r->ctx, &v.problem, &v.result));
    DKM_TRY(write_folds(&v));
    tell(&v);
out:
    close_validation(&v);
    return status;
}

#define WORD_OF_LOSS(code, name) name "|"

static const option options[] = {
    {.name = "folds",
     .kind = OPT_WHOLE,
     .least = 2,
     .hint = "N",
     .preset = "5",
     .help = "folds; each is predicted by what was learnt from the others"},
    {.name = "train",
     .kind = OPT_WORD,
     .words = "rest|one|",
     .preset = "rest",
     .hint = "WHAT",
     .help = "learn from all folds but one and test on that, or learn from one and test on the "
             "rest"},
    {.name = "inner-folds",
     .kind = OPT_WHOLE,
     .least = 2,
     .hint = "N",
     .help = "choose the setting anew inside the training part of each fold, by so many folds of "
             "that: the loss of the outer folds is then what to expect of the choice"},
    ROW_TRY,
    {.name = "loss",
     .kind = OPT_WORD,
     .hint = "LOSS",
     .words = DKM_LOSS_LIST(WORD_OF_LOSS),
     .help = "loss of an example; mse for dense outputs and zero-one for others when not given"},
    {.name = "loss-kernel",
     .kind = OPT_TEXT,
     .hint = "KERNEL",
     .help = "kernel of the outputs, of the loss kernel; --ky when not given"},
    {.name = "folds-out",
     .kind = OPT_TEXT,
     .hint = "FILE",
     .help = "write the fold of each example, from 1 on: .npy .csv .txt"},
    {.name = "groups",
     .kind = OPT_WHOLE,
     .hint = "N",
     .most = 1000000,
     .preset = "0",
     .help = "groups of ranks that take folds and kernels of their own; 0 chooses"},
    {0}};

static const char about[] =
    "Tries every combination of the values of --try, which stand for $NAME in kernels, with every "
    "one of the lists that --gamma, --components, --k, --C and --epsilon take here, and tells the "
    "mean loss of each on examples that were held out, with its standard error over the folds. "
    "Folds are random, the same for one --seed on any ranks, and keep the shares of classes. "
    "Kernel matrices are computed once and cut for each fold.";

#define CV(word)                                                                                   \
    &(const command)                                                                               \
    {                                                                                              \
        .name = "cv " #word, .method = &method_##word, .about = about, .sweeps = 1,                \
        .example = "--folds 5", .run = cv, .tables = {                                             \
            options,                                                                               \
            compute_options,                                                                       \
            report_options                                                                         \
        }                                                                                          \
    }

static const command *const methods[] = {CV(krr), CV(kde),      CV(knn), CV(svm),
                                         CV(jkm), CV(hopfield), 0};

const command command_cv = {
    .name = "cv",
    .summary = "choose settings of a method by cross-validation, and estimate its loss",
    .about = about,
    .example =
        "mpirun -np 4 dkmap cv krr --x x.npy --y y.npy --kx 'rbf(sigma=$s)' --try s=1,2,4 \\\n"
        "      --gamma 1e-3,1e-2,1e-1 --folds 5 --inner-folds 5",
    .methods = methods,
};
