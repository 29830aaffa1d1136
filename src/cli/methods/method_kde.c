#include <string.h>

#include "cli/methods/method.h"
#include "cli/options/common_options.h"
#include "cli/options/components.h"
#include "cli/options/landmark_options.h"
#include "cli/options/ridge_options.h"

static void method_kde_report(run *r, const method_settings *s, const method_info *found)
{
    const dkm_kde_info *info = &found->kde;

    report_int(r, "m", info->m);
    if (info->extra > 0)
        report_int(r, "extra_outputs", info->extra);
    report_text(r, "kernel", dkm_kernel_text(s->kx));
    report_text(r, "output_kernel", dkm_kernel_text(s->ky));
    report_grid(r, info->P, info->Q);
    report_int(r, "block", info->block);
    components_tell_count(r, &info->eigen);
    report_real(r, "explained", info->eigen.explained);
    report_text(r, "eigensolver", info->eigen.solver);
    if (s->kde.learner == DKM_LEARN_SVR)
        report_int(r, "coefficients", info->support);
    else if (s->kde.landmarks)
        landmark_tell(r, &info->nystroem);
    else
        ridge_tell(r, &info->ridge);
}

static int method_kde_warn(run *r, const method_info *found)
{
    return components_warn(r, &found->kde.eigen);
}

/* Either learner has settings of its own. */
static dkm_local check_learner(run *r)
{
    int svr = strcmp(args_text(r->args, "learner"), "svr") == 0;
    int tubes = args_text(r->args, "C") || args_text(r->args, "tube");

    if (svr && !args_text(r->args, "C"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--learner svr needs --C");
    if (!svr && !args_text(r->args, "gamma"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "kde needs --gamma, the ridge");
    if (!svr && tubes)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--C and --tube go with --learner svr");
    return DKM_LOCAL_OK;
}

static dkm_status method_kde_settings(run *r, method_settings *s)
{
    dkm_status status = DKM_OK;

    s->kde = dkm_kde_settings_default();
    s->kde.layout = run_layout(r);
    s->kde.ridge.precision = ridge_precision(r);
    s->kde.penalty = (dkm_penalty)args_whole(r->args, "penalty");
    s->extra = args_text(r->args, "extra-y");
    if (args_text(r->args, "shrink"))
        s->kde.shrink = args_real(r->args, "shrink");
    DKM_AGREE(r->ctx, check_learner(r));
    if (strcmp(args_text(r->args, "learner"), "svr") == 0) {
        s->kde.learner = DKM_LEARN_SVR;
        s->kde.margin.tube = args_text(r->args, "tube") ? args_real(r->args, "tube") : 0.1;
        DKM_TRY(run_positive(r, "C", &s->kde.margin.C));
        if (args_text(r->args, "tolerance"))
            DKM_TRY(run_positive(r, "tolerance", &s->kde.margin.tolerance));
    } else {
        DKM_TRY(run_positive(r, "gamma", &s->kde.ridge.gamma));
    }
    s->kde.landmarks = strcmp(args_text(r->args, "solver"), "pcg") == 0;
    DKM_TRY(landmark_settings(r, &s->kde.nystroem));
    DKM_TRY(components_settings(r, &s->kde.eigen));
out:
    return status;
}

/* Outputs without inputs, of the type of the others. */
static dkm_status read_extra(run *r, const char *where, const dkm_data *Y, dkm_data **extra)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;

    DKM_TRY(dkm_data_read(r->ctx, where, DKM_OUTPUTS, dkm_type_name(dkm_data_type(Y)), extra));
    if (dkm_data_type(Y) == DKM_DENSE && dkm_data_cols(*extra) != dkm_data_cols(Y))
        local = dkm_fail(r->ctx, DKM_ERR_ARG, "%s: rows of %lld columns, and --y has %lld", where,
                         (long long)dkm_data_cols(*extra), (long long)dkm_data_cols(Y));
    DKM_AGREE(r->ctx, local);
out:
    return status;
}

static dkm_status method_kde_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                 dkm_model **model, method_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kde_settings kde = s->kde;
    dkm_data *extra = NULL;

    if (s->extra)
        DKM_TRY(read_extra(r, s->extra, *Y, &extra));
    kde.extra = extra;
    DKM_TRY(dkm_kde_fit(r->ctx, X, Y, s->kx, s->ky, &kde, model, &info->kde));
out:
    dkm_data_destroy(&extra);
    return status;
}

static const option options[] = {
    ROW_X("training inputs, of any type"),
    ROW_Y("training outputs, of any type, as many"),
    ROW_KX,
    {.name = "ky",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "KERNEL",
     .help = "kernel of the outputs: it says which of them are alike"},
    ROW_COMPONENTS,
    ROW_EIGENSOLVER,
    {.name = "extra-y",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "outputs without inputs, of the type of --y: directions are found with them, and they "
             "are candidates of pre-images"},
    {.name = "shrink",
     .kind = OPT_REAL,
     .flags = OPT_SEARCH,
     .metavar = "S",
     .help = "scale predicted coordinates by l / (l + S mean), l the variance along a component "
             "and mean that of all components; 0, which changes nothing, when not given"},
    {.name = "gamma",
     .kind = OPT_REAL,
     .flags = OPT_SEARCH,
     .metavar = "G",
     .help = "ridge > 0 that is added to the diagonal of the kernel matrix; ridge regression needs "
             "it"},
    ROW_PENALTY(
        "what gamma weighs; coefficients makes B = (K'K + gamma I)^-1 K Z of coordinates Z"),
    {.name = "learner",
     .kind = OPT_WORD,
     .choices = "ridge|svr|",
     .default_text = "ridge",
     .metavar = "WHICH",
     .help = "what learns the coordinates: ridge regression, or "
             "support vector regression, one machine a component"},
    {.name = "C",
     .kind = OPT_REAL,
     .flags = OPT_SEARCH,
     .metavar = "C",
     .help = "weight > 0 of errors beyond the tube (svr)"},
    {.name = "tube",
     .kind = OPT_REAL,
     .flags = OPT_SEARCH,
     .metavar = "E",
     .help = "errors that cost nothing (svr), 0.1 when not given; --tolerance is then how far from "
             "optimal LIBSVM may stop, 1e-3"},
    ROW_PRECISION,
    {.name = "solver",
     .kind = OPT_WORD,
     .metavar = "WORD",
     .choices = "cholesky|pcg|",
     .default_text = "cholesky",
     .help = "the exact fit, or conjugate gradients with landmarks of inputs and outputs, for "
             "examples too many for a kernel matrix"},
    ROWS_LANDMARKS,
    ROW_X_TYPE,
    ROW_Y_TYPE,
    {0}};

static int method_kde_ridge_point_of(const method_settings *s, ridge_point *point)
{
    *point = (ridge_point){.gamma = s->kde.ridge.gamma, .eigen = s->kde.eigen};
    return s->kde.learner == DKM_LEARN_RIDGE && s->kde.ridge.precision != DKM_RIDGE_SINGLE &&
           !s->kde.landmarks && !s->extra && s->kde.shrink == 0 &&
           s->kde.penalty == DKM_PENALTY_WEIGHTS;
}

static dkm_local method_kde_check_cv(run *r)
{
    dkm_local local = DKM_LOCAL_OK;
    int svr = strcmp(args_text(r->args, "learner"), "svr") == 0;

    if (svr) {
        DKM_STEP(run_reject_option(r, "gamma", "goes with --learner ridge"));
        DKM_STEP(run_reject_option(r, "precision", "goes with --learner ridge"));
    }
    DKM_STEP(landmark_check_cv(r, svr));
out:
    return local;
}

static const char *const lists[] = {"components", "shrink", "C", "tube", "gamma", NULL};

const method method_kde = {
    .name = "kde",
    .summary = "kernel dependency estimation: from any objects to any objects",
    .about =
        "Finds the leading directions of the outputs in the feature space of their kernel, and "
        "learns the coordinates along them from the inputs by ridge regression. `dkmap predict` "
        "turns predicted coordinates into objects; its help tells the ways, of which `fit` need "
        "know nothing. Inputs and outputs may be of any type that a kernel takes: dense or sparse "
        "rows, labels, label sets, strings, sets, or rows of a gram or distance matrix of your "
        "own.",
    .arguments = "--x words.txt --y sounds.txt --components 64 \\\n"
                 "      --kx 'normalize(ssk(r=3, lambda=0.5))' --ky 'normalize(spectrum(p=2))' \\\n"
                 "      --gamma 1e-3",
    .options = options,
    .settings = method_kde_settings,
    .fit = method_kde_fit,
    .tell = method_kde_report,
    .warn = method_kde_warn,
    .lists = lists,
    .check_cv = method_kde_check_cv,
    .cv = &dkm_cv_kde,
    .ridge_point = method_kde_ridge_point_of,
};
