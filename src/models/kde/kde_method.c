/* Kernel dependency estimation as a method. */
#include <dkmap/kde.h>

#include "core/alloc.h"
#include "models/common/embedding.h"
#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"
#include "models/kde/kde_tune.h"

#define TUNE_GAMMA 0.1 /* where tuning begins */

enum { RIDGE, SVR }; /* choices of the regressor */
enum { PCG = 1 };    /* among those of the solver */

static int uses_svr(const dkm_settings *s)
{
    return dkm_settings_choice(s, "regressor") == SVR;
}

static void kde_report(dkm_report *report, const dkm_kernel *kx, const dkm_kernel *ky,
                       const dkm_kde_settings *settings, const dkm_kde_info *info)
{
    dkm_report_add_int(report, "m", info->m);
    if (info->extra > 0)
        dkm_report_add_int(report, "extra_outputs", info->extra);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    dkm_report_add_text(report, "output_kernel", dkm_kernel_text(ky));
    dkm_report_add_grid(report, info->P, info->Q);
    dkm_report_add_int(report, "block", info->block);
    dkm_report_components(report, &info->eigen);
    dkm_report_add_real(report, "explained", info->eigen.explained);
    dkm_report_add_text(report, "eigensolver", info->eigen.solver);
    if (info->eigen.rounds > 0)
        dkm_report_add_int(report, "rounds", info->eigen.rounds);
    if (settings->learner == DKM_LEARN_SVR)
        dkm_report_add_int(report, "coefficients", info->support);
    else if (settings->landmarks)
        dkm_report_nystroem(report, &info->nystroem);
    else
        dkm_report_ridge(report, &info->ridge);
}

static dkm_local kde_read(dkm_ctx *ctx, const dkm_settings *s, dkm_kde_settings *kde)
{
    static const dkm_penalty penalties[] = {DKM_PENALTY_WEIGHTS, DKM_PENALTY_COEFFICIENTS};

    *kde = dkm_kde_settings_default();
    kde->layout = dkm_settings_layout(s);
    kde->ridge.precision = dkm_read_precision(s);
    kde->penalty = penalties[dkm_settings_choice(s, "regularizer")];
    if (dkm_settings_given(s, "shrink"))
        kde->shrink = dkm_settings_real(s, "shrink");
    if (uses_svr(s)) {
        kde->learner = DKM_LEARN_SVR;
        kde->margin.tube =
            dkm_settings_given(s, "svr-epsilon") ? dkm_settings_real(s, "svr-epsilon") : 0.1;
        kde->margin.C = dkm_settings_real(s, "C");
        if (dkm_settings_given(s, "tolerance"))
            kde->margin.tolerance = dkm_settings_real(s, "tolerance");
    } else {
        kde->ridge.gamma =
            dkm_settings_given(s, "gamma") ? dkm_settings_real(s, "gamma") : TUNE_GAMMA;
    }
    kde->landmarks = dkm_settings_choice(s, "solver") == PCG;
    dkm_read_nystroem(s, &kde->nystroem);
    return dkm_read_eigen(ctx, s, &kde->eigen);
}

/* Either regressor has settings of its own. */
static dkm_local kde_check(dkm_ctx *ctx, const dkm_settings *s)
{
    dkm_kde_settings settings;

    if (uses_svr(s) && !dkm_settings_given(s, "C"))
        return dkm_fail(ctx, DKM_ERR_ARG, "%sregressor svr needs %sC", s->prefix, s->prefix);
    if (!uses_svr(s) && !dkm_settings_given(s, "gamma") && !dkm_settings_flag(s, "tune"))
        return dkm_fail(ctx, DKM_ERR_ARG, "kde needs %sgamma, the ridge", s->prefix);
    return kde_read(ctx, s, &settings);
}

/* Unpaired outputs are like the others. */
static dkm_local check_unpaired(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *Y,
                                const dkm_data *unpaired)
{
    const char *file = dkm_settings_text(s, "unpaired-y");

    if (!unpaired || dkm_data_type(Y) != DKM_DENSE || dkm_data_cols(unpaired) == dkm_data_cols(Y))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG, "%s: rows of %lld columns, and %sy has %lld",
                    file ? file : "unpaired-y", (long long)dkm_data_cols(unpaired), s->prefix,
                    (long long)dkm_data_cols(Y));
}

static dkm_status kde_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    const char *type = dkm_type_name(dkm_data_type(Y));
    dkm_kde_settings settings;
    dkm_kde_info info = {0};
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_data *unpaired = NULL, *weights = NULL;

    DKM_AGREE(ctx, kde_read(ctx, s, &settings));
    DKM_TRY(dkm_input_kernel(ctx, s, X, report, &kx));
    DKM_TRY(dkm_settings_kernel(ctx, s, "ky", Y, &ky));
    DKM_TRY(dkm_settings_data(ctx, s, "unpaired-y", type, &settings.extra, &unpaired));
    DKM_AGREE(ctx, check_unpaired(ctx, s, Y, settings.extra));
    DKM_TRY(dkm_read_weights(ctx, s, Y, dkm_data_rows(X), &weights));
    settings.weights = weights;
    if (dkm_settings_flag(s, "tune"))
        DKM_TRY(dkm_kde_tune(s, X, Y, &settings, kx, ky, report));
    DKM_TRY(dkm_kde_fit(ctx, X, Y, kx, ky, &settings, model, &info));
    kde_report(report, kx, ky, &settings, &info);
out:
    dkm_data_destroy(&weights);
    dkm_data_destroy(&unpaired);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

static int kde_names_classes(const dkm_settings *s)
{
    return dkm_kernel_text_is_of_labels(dkm_settings_text(s, "ky")) &&
           !dkm_settings_given(s, "unpaired-y");
}

/* Components of the outputs of the landmarks, and coordinates of all outputs by conjugate gradients.
 */
static void kde_estimate_landmarks(const dkm_settings *s, dkm_cost_terms *terms, double data,
                                   dkm_cost *cost)
{
    dkm_cost_terms outputs = *terms;
    dkm_nystroem_settings nystroem;

    dkm_read_nystroem(s, &nystroem);
    terms->landmarks = dkm_nystroem_count(&nystroem, terms->work.m);
    terms->choice = nystroem.choice;
    terms->values_recomputed = nystroem.keep == DKM_RECOMPUTE;
    terms->single = dkm_cost_single_values(nystroem.precision, terms->work.m);
    terms->outputs = terms->components > 0 ? terms->components : terms->landmarks;
    outputs.landmarks = terms->landmarks;
    outputs.values_recomputed = terms->values_recomputed;
    outputs.components = terms->outputs;
    outputs.work.x_bytes = terms->work.y_bytes;
    outputs.work.x_cols = terms->work.y_cols;
    outputs.work.iterations = 0;
    dkm_cost_add_landmark_components(cost, &outputs, data);
    dkm_cost_add_pcg(cost, terms, data + dkm_cost_coordinates(terms));
}

static void kde_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                         const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double data = dkm_cost_data(&terms);
    dkm_eigen_settings eigen = dkm_eigen_settings_default();

    if (dkm_read_eigen(s->ctx, s, &eigen).code != DKM_OK) /* kde_check() has refused it */
        return;
    terms.components = dkm_estimate_components(&eigen, cost);
    if (dkm_settings_choice(s, "solver") == PCG) {
        kde_estimate_landmarks(s, &terms, data, cost);
        dkm_cost_sum_up(cost, &terms);
        return;
    }
    data += dkm_embedding_estimate(s, work->m, cost);
    terms.outputs = terms.components > 0 ? terms.components : work->m;
    terms.mixed = dkm_estimate_mixed(dkm_read_precision(s), work->m);
    dkm_cost_add_gram(cost, &terms, "gram (outputs)", data, work->y_bytes, (double)work->y_cols);
    dkm_cost_add_eigen(cost, &terms, data);
    data += dkm_cost_coordinates(&terms) +
            dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols);
    dkm_cost_add_gram(cost, &terms, "gram (inputs)", data, work->x_bytes, (double)work->x_cols);
    dkm_cost_add_ridge(cost, &terms, data);
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX,
    {.name = "ky",
     .kind = DKM_SETTING_KERNEL,
     .flags = DKM_SETTING_REQUIRED,
     .metavar = "KERNEL",
     .help = "kernel of the outputs: it says which of them are alike"},
    DKM_ROW_COMPONENTS,
    DKM_ROW_EIGENSOLVER,
    DKM_ROW_WEIGHTS,
    DKM_ROW_CLASS_WEIGHTS,
    {.name = "unpaired-y",
     .kind = DKM_SETTING_DATA,
     .metavar = "FILE",
     .old_names = "extra-y|",
     .help = "outputs without inputs, of the type of --y: directions are found with them, and they "
             "are candidates of pre-images"},
    {.name = "shrink",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_SEARCH,
     .metavar = "S",
     .help = "scale predicted coordinates by l / (l + S mean), l the variance along a component "
             "and mean that of all components; 0, which changes nothing, when not given"},
    {.name = "regressor",
     .kind = DKM_SETTING_CHOICE,
     .choices = "ridge|svr|",
     .default_text = "ridge",
     .metavar = "WHICH",
     .old_names = "learner|",
     .help = "what learns the coordinates: ridge regression, or "
             "support vector regression, one machine per component"},
    {.name = "C",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_SEARCH | DKM_SETTING_POSITIVE,
     .metavar = "C",
     .only_with = "regressor=svr|",
     .help = "weight > 0 of errors beyond the tube (svr)"},
    {.name = "svr-epsilon",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_SEARCH,
     .metavar = "E",
     .old_names = "tube|",
     .only_with = "regressor=svr|",
     .help = "errors that cost nothing (svr), 0.1 when not given; --tolerance is then how far from "
             "optimal LIBSVM may stop, 1e-3"},
    {.name = "gamma",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_SEARCH | DKM_SETTING_POSITIVE,
     .metavar = "G",
     .aliases = "ridge|alpha|",
     .only_with = "regressor=ridge|",
     .help = "ridge > 0 that is added to the diagonal of the kernel matrix; ridge regression needs "
             "it; --tune begins at 0.1 when not given"},
    DKM_ROW_REGULARIZER(
        "what gamma weighs: the norm of the map, or that of its coefficients, which "
        "makes B = (K'K + gamma I)^-1 K Z of coordinates Z"),
    DKM_ROW_PRECISION("regressor=ridge|"),
    DKM_ROWS_TUNE,
    {.name = "tune-for",
     .kind = DKM_SETTING_CHOICE,
     .choices = "auto|points|outputs|",
     .default_text = "auto",
     .metavar = "WHAT",
     .only_with = "tune|",
     .not_in_cv = "is for fit --tune",
     .help = "points: the least distance of predicted points to images of outputs that were left "
             "out. outputs: then, with half of the looks, the least loss of the nearest outputs. "
             "auto: outputs, except for dense rows and matrices with a ky without numbers"},
    {.name = "tune-loss",
     .kind = DKM_SETTING_KERNEL,
     .metavar = "KERNEL",
     .only_with = "tune|",
     .not_in_cv = "is for fit --tune",
     .help = "the loss of outputs: their squared distance in the feature space of this kernel, "
             "which stays as it is; that of ky as given when not given"},
    {.name = "tune-rows",
     .kind = DKM_SETTING_INT,
     .min = 10,
     .metavar = "N",
     .default_text = "2000",
     .only_with = "tune|",
     .not_in_cv = "is for fit --tune",
     .help = "tune by so many of the examples, drawn at random; all are fitted then"},
    {.name = "solver",
     .kind = DKM_SETTING_CHOICE,
     .metavar = "WORD",
     .choices = "cholesky|pcg|",
     .default_text = "cholesky",
     .help = "the exact fit, or conjugate gradients with landmarks of inputs and outputs, for "
             "examples too many for a kernel matrix"},
    DKM_ROWS_PCG("solver=pcg|", "solver=pcg|", "solver=pcg|regressor=svr|"),
    {0}};

const dkm_method dkm_method_kde = {
    .name = "kde",
    .summary = "kernel dependency estimation: from any objects to any objects",
    .about =
        "Finds the leading directions of the outputs in the feature space of their kernel, and "
        "learns the coordinates along them from the inputs by ridge regression. `dkmap predict` "
        "turns predicted coordinates into objects; its help lists the ways, of which `fit` need "
        "know nothing. Inputs and outputs may be of any type that a kernel takes: dense or sparse "
        "rows, labels, label sets, strings, sets, or rows of a gram or distance matrix of your "
        "own.",
    .references = "Weston, Chapelle, Elisseeff, Schoelkopf, Vapnik (2003), Kernel dependency "
                  "estimation, NIPS 15",
    .example = "--x words.txt --y sounds.txt --components 64 \\\n"
               "      --kx 'normalize(ssk(r=3, lambda=0.5))' --ky 'normalize(spectrum(p=2))' \\\n"
               "      --gamma 1e-3",
    .inputs = "training inputs, of any type",
    .outputs = "training outputs, of any type, as many",
    .settings = settings,
    .check = kde_check,
    .fit = kde_fit,
    .names_classes = kde_names_classes,
    .estimate = kde_estimate,
    .classes = {&dkm_class_kde},
};
